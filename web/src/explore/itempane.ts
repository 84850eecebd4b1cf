// What is known of the pinned item: its numbers, what was around its launch, and where to go from it.

import { button, element, setHover, shorten, visible } from '../dom';
import { percent, withUnit } from '../format';
import { counterText } from '../timeline/curve';
import { moment } from '../timeline/describe';
import type { Item, ItemLine, Link } from './source';

const KINDS: Readonly<Record<string, string>> = {
  launch: 'Launched by',
  kernel: 'Launches',
  sync: 'Waited for by',
  waits_for: 'Waits for',
  collective: 'Same collective',
  gap: 'Idle before it',
  previous: 'Op before',
  next: 'Op after',
  meanwhile: 'CPU meanwhile',
  cpu: 'On the CPU',
  gpu: 'On the GPU',
};

const STACKS: Readonly<Record<string, string>> = {
  python: 'Python',
  operators: 'operator',
  host_ranges: 'range',
  ranges: 'range',
  calls: 'call',
};
const NAME_LENGTH = 60;

function valueOf({ key, value, unit }: ItemLine): string {
  if (value === null) return '\u2013';
  if (typeof value === 'string') return visible(value);
  if (/(^|_)(start|end)_ns$/.test(key)) return moment(value);
  if (unit === '') return String(value); // an id
  if (unit === '%') return percent(value / 100);
  return unit === 'bytes/s' ? `${withUnit(value, 'bytes')}/s` : counterText(value, unit);
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

function exactly(value: number, unit: string): string {
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
  const label = element('span', { class: 'explorer-target' }, shorten(visible(name), NAME_LENGTH));
  const about = element('small', { title: `at ${moment(start)}` }, withUnit(end - start, 'ns'));
  const head = element('span', { class: 'explorer-kind' }, prefix);
  if (lane === null) return element('div', { class: 'explorer-link' }, head, label, about);
  const made = button('', { class: 'explorer-link' }, () => go({ ...target, kind: prefix, lane }));
  setHover(made, visible(name));
  made.append(head, label, about);
  return made;
}

function wordFor(kind: string, isGap: boolean): string {
  if (isGap && kind === 'launch') return 'Ended by';
  return KINDS[kind] ?? kind.replace(/_/g, ' ');
}

/** `go` follows a link. */
export function itemView(item: Item, words: readonly string[], isGap: boolean, go: (to: Link) => void): HTMLElement {
  const [title = item.name, ...where] = words;
  const stack = item.stack.map((frame) =>
    element('li', {}, goTo(frame, STACKS[frame.kind] ?? frame.kind.replace(/_/g, ' '), go)),
  );
  const links = item.links.map((link) => element('li', {}, goTo(link, wordFor(link.kind, isGap), go)));
  return element(
    'div',
    { class: 'explorer-item' },
    element('h3', { title: visible(item.name) }, element('bdi', {}, title)),
    element('p', { class: 'explorer-where' }, where.join(' \u00b7 ')),
    element(
      'div',
      { class: 'explorer-columns' },
      linesView(item.lines.filter(({ value }) => value !== null && value !== item.name)),
      links.length > 0 &&
        element('div', {}, element('h4', {}, 'Related'), element('ul', { class: 'explorer-links' }, ...links)),
      stack.length > 0 &&
        element(
          'div',
          {},
          element('h4', {}, isGap ? 'The next launch was inside' : 'Inside'),
          element('ol', { class: 'explorer-links' }, ...stack),
        ),
    ),
    item.others ? element('p', { class: 'hint' }, `${item.others} more at the same place`) : null,
  );
}
