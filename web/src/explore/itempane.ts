// What is known of the pinned item: its numbers, what was around its launch, and where to go from it.

import type { Unit } from '../data';
import { button, element, visible } from '../dom';
import { withUnit } from '../format';
import { nameView } from '../names';
import { moment } from '../timeline/describe';
import type { Item, ItemLine, Link } from './source';

const KINDS: Readonly<Record<string, string>> = {
  launch: 'Launched by',
  kernel: 'Launches',
  sync: 'Waited for by',
  waits_for: 'Waits for',
  collective: 'Same collective',
  before: 'Op before',
  after: 'Op after',
  cpu: 'CPU meanwhile',
};

const STACKS: Readonly<Record<string, string>> = {
  python: 'Python',
  operator: 'operator',
  range: 'range',
  call: 'call',
};

function valueOf({ key, value, unit }: ItemLine): string {
  if (value === null) return '\u2013';
  if (typeof value === 'string') return visible(value);
  return /(^|_)(start|end)_ns$/.test(key) ? moment(value) : withUnit(value, unit);
}

function linesView(lines: readonly ItemLine[]): HTMLElement {
  const parts = lines.flatMap((line) => [
    element('dt', {}, visible(line.title)),
    element(
      'dd',
      { title: typeof line.value === 'number' ? exactly(line.value, line.unit) : undefined },
      valueOf(line),
    ),
  ]);
  return element('dl', { class: 'explorer-lines' }, ...parts);
}

function exactly(value: number, unit: Unit): string {
  return unit === 'ns' || unit === 'bytes' ? `${value} ${unit}` : String(value);
}

interface Step {
  readonly name: string;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly lane: number | null;
}

function goTo(target: Step, prefix: string, go: (to: Link) => void): HTMLElement {
  const { lane, name, start_ns: start, end_ns: end } = target;
  const label = element('span', { class: 'explorer-target' }, nameView(visible(name)));
  const about = element('small', {}, `${withUnit(end - start, 'ns')} at ${moment(start)}`);
  const head = element('span', { class: 'explorer-kind' }, prefix);
  if (lane === null) return element('div', { class: 'explorer-link' }, head, label, about);
  const made = button('', { class: 'explorer-link', title: visible(name) }, () =>
    go({ ...target, kind: prefix, lane }),
  );
  made.append(head, label, about);
  return made;
}

/** `go` follows a link. */
export function itemView(item: Item, words: readonly string[], go: (to: Link) => void): HTMLElement {
  const [title = item.name, ...where] = words;
  const stack = item.stack.map((frame) =>
    element('li', {}, goTo(frame, STACKS[frame.kind] ?? frame.kind.replace(/_/g, ' '), go)),
  );
  const links = item.links.map((link) =>
    element('li', {}, goTo(link, KINDS[link.kind] ?? link.kind.replace(/_/g, ' '), go)),
  );
  return element(
    'div',
    { class: 'explorer-item' },
    element('h3', { title: visible(item.name) }, element('bdi', {}, title)),
    element('p', { class: 'explorer-where' }, where.join(' \u00b7 ')),
    element(
      'div',
      { class: 'explorer-columns' },
      linesView(item.lines),
      links.length > 0 &&
        element('div', {}, element('h4', {}, 'Related'), element('ul', { class: 'explorer-links' }, ...links)),
      stack.length > 0 &&
        element('div', {}, element('h4', {}, 'Launched inside'), element('ol', { class: 'explorer-links' }, ...stack)),
    ),
    item.others ? element('p', { class: 'hint' }, `${item.others} more at the same place`) : null,
  );
}
