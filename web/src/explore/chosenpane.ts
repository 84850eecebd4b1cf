// What is told of a chosen part of the time: its length, where it went on each GPU, its kernels and its gaps.

import { button, copy, element, setHover, visible } from '../dom';
import { decimal, percent, withUnit } from '../format';
import { nameView } from '../names';
import { colorOf } from '../theme';
import { moment } from '../timeline/describe';
import { lengthOf, type Span } from '../timeline/span';
import type { Account, GapShare, KernelShare, Share, Told } from './account';

const MOST = 12; // rows of a list

/** Idle time is hatched: colour alone must not carry it. */
function paint(box: HTMLElement, { name }: Share): void {
  const isIdle = name.startsWith('idle');
  box.classList.toggle('is-idle', isIdle);
  box.style.setProperty(isIdle ? '--color' : 'background', colorOf(name.replace(/^idle: /, '')));
}

function barOf({ device, parts }: Account, length: number): HTMLElement {
  const label = device === null ? 'GPU' : `GPU ${device}`;
  const bar = element('div', { class: 'explorer-bar', role: 'img' });
  bar.setAttribute('aria-label', parts.map(({ name, ns }) => `${name} ${percent(ns / length)}`).join(', '));
  const keys = parts.map((part) => {
    const piece = element('span', { title: `${part.name}: ${withUnit(part.ns, 'ns')}` });
    piece.style.flexGrow = String(part.ns / length);
    piece.dataset.ns = String(part.ns);
    paint(piece, part);
    bar.append(piece);
    const swatch = element('span', { class: 'swatch' });
    paint(swatch, part);
    return element(
      'li',
      {},
      swatch,
      element('span', {}, visible(part.name)),
      element('b', {}, percent(part.ns / length)),
      element('small', {}, withUnit(part.ns, 'ns')),
    );
  });
  return element(
    'div',
    { class: 'explorer-account' },
    element('h4', {}, label),
    bar,
    element('ul', { class: 'explorer-key' }, ...keys),
  );
}

function listOf(title: string, total: number, rows: readonly HTMLElement[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const more = total > rows.length ? ` (${rows.length} of ${decimal(total, 0)})` : '';
  return element('div', {}, element('h4', {}, title + more), element('ul', { class: 'explorer-list' }, ...rows));
}

function kernelRow({ name, isKernel, ns, count }: KernelShare, open: ((name: string) => void) | null): HTMLElement {
  const label = element('span', { class: 'explorer-target' }, nameView(visible(name)));
  const numbers = [element('small', {}, `${decimal(count, 0)}\u00d7`), element('b', {}, withUnit(ns, 'ns'))];
  if (!isKernel || !open) {
    setHover(label, visible(name));
    return element('li', {}, label, ...numbers);
  }
  const made = button('', { class: 'explorer-link' }, () => open(name));
  setHover(made, visible(name));
  made.append(label, ...numbers);
  return element('li', {}, made);
}

function gapRow(gap: GapShare, go: (gap: GapShare) => void): HTMLElement {
  const made = button('', { class: 'explorer-link' }, () => go(gap));
  made.append(
    element('span', { class: 'explorer-target' }, visible(gap.name)),
    element('small', {}, `at ${moment(gap.start)}`),
    element('b', {}, withUnit(gap.ns, 'ns')),
  );
  return element('li', {}, made);
}

export interface ChosenActions {
  go(gap: GapShare): void;
  open: ((kernel: string) => void) | null; // null where there is no view about kernels
  zoom(): void;
  clear(): void;
}

/** `told` is null where it is not known; `command` then shows it. */
export function chosenView(
  span: Span,
  told: Told | null | 'waiting',
  command: string | null,
  actions: ChosenActions,
): HTMLElement {
  const length = lengthOf(span);
  const body = element('div', { class: 'explorer-columns' });
  if (told === 'waiting') body.append(element('p', { class: 'hint' }, 'Measuring\u2026'));
  else if (told) {
    const kernels = listOf(
      'Kernels and copies',
      told.kernelCount,
      told.kernels.slice(0, MOST).map((kernel) => kernelRow(kernel, actions.open)),
    );
    const gaps = listOf(
      'Longest gaps',
      told.gapCount,
      told.gaps.slice(0, MOST).map((gap) => gapRow(gap, (to) => actions.go(to))),
    );
    const accounts = element('div', {}, ...told.accounts.map((account) => barOf(account, length)));
    for (const part of [accounts, kernels, gaps]) if (part) body.append(part);
  } else if (command) {
    body.append(
      element('p', {}, 'Items are joined here, so this page cannot add them up. To see the account of this part:'),
      element('code', { class: 'explorer-command' }, command),
      button('Copy', { class: 'quiet' }, () => void copy(command, 'Command copied')),
    );
  }
  return element(
    'div',
    { class: 'explorer-chosen' },
    element(
      'div',
      { class: 'explorer-title' },
      element('h3', {}, `Selected: ${withUnit(length, 'ns')}`),
      element('span', { class: 'hint' }, `${moment(span.start)} to ${moment(span.end)}`),
      button('Zoom to it', { class: 'quiet' }, () => actions.zoom()),
      button('Clear', { class: 'quiet', title: 'Clear the selection (Escape)' }, () => actions.clear()),
    ),
    body,
  );
}
