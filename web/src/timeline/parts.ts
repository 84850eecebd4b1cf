// Below the drawing: the legend, and the rows as a table for screen readers.

import { button, element } from '../dom';
import { decimal, withUnit } from '../format';
import { colorOf } from '../theme';
import { IDLE } from './draw';
import type { Layout } from './lanes';
import type { Kind, Row, Timeline } from './rows';

const MOST = 14; // categories by name; the others are few and short

function swatch(key: string, opacity = 1): HTMLElement {
  const made = element('span', { class: 'swatch' });
  made.style.background = colorOf(key);
  made.style.opacity = String(opacity);
  return made;
}

/** Categories of ops or causes of gaps, those with most time first. */
function ranked(timeline: Timeline, rows: readonly Row[], kind: Kind): string[] {
  const names = kind === 'ops' ? timeline.categories : timeline.names;
  const sums = new Map<string, number>();
  for (const row of rows) {
    for (let i = 0; row.kind === kind && i < row.items; i++) {
      const key = names[row.name[i]!] ?? '';
      sums.set(key, (sums.get(key) ?? 0) + row.busy[i]!);
    }
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([key]) => key);
}

/** A pressed category is highlighted in the drawing until it is pressed again. */
export function legendView(
  timeline: Timeline,
  rows: readonly Row[],
  choose: (category: string | null) => void,
): HTMLElement {
  const categories = ranked(timeline, rows, 'ops');
  const toggles = categories.slice(0, MOST).map((key) => {
    const toggle = button('', { class: 'quiet', 'aria-pressed': 'false', title: `Highlight ${key}` }, () => {
      const isOn = toggle.getAttribute('aria-pressed') !== 'true';
      for (const other of toggles) other.setAttribute('aria-pressed', String(other === toggle && isOn));
      choose(isOn ? key : null);
    });
    toggle.append(swatch(key), key);
    return toggle;
  });
  const rest = categories.length - toggles.length;
  const causes = ranked(timeline, rows, 'gaps');
  return element(
    'div',
    { class: 'timeline-legend' },
    ...toggles,
    rest > 0 && `and ${rest} more`,
    ...causes.map((key) => element('span', { class: 'timeline-cause' }, swatch(key, IDLE), `idle: ${key}`)),
  );
}

const KEYS =
  'Keys: w and s or + and \u2212 zoom, a and d or the arrows pan, f fits all; up and down change the row, comma ' +
  'and full stop go to the previous and next item. Pointer: Ctrl + wheel zooms, after a click on the timeline the wheel ' +
  'alone; Shift + wheel or a drag pans; a click pins an item, Escape or a click elsewhere unpins it; a ' +
  'double click zooms to an item. The height of a bar of several ops is the share of its time that they cover.';

export function rowsView(layout: Layout, length: number): HTMLElement {
  const lines = layout.lanes.map(({ row: { packed }, detail }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, detail),
      element('td', { class: 'number', title: String(packed.count) }, decimal(packed.count, 0)),
      element('td', { class: 'number', title: `${packed.busy_ns} ns` }, withUnit(packed.busy_ns, 'ns')),
      element('td', { class: 'number' }, withUnit(packed.busy_ns / Math.max(length, 1), 'share')),
    ),
  );
  const head = ['Row', 'Count', 'Time', 'Share'].map((title) => element('th', { scope: 'col' }, title));
  return element(
    'details',
    {},
    element('summary', {}, 'Rows as a table; keys and pointer'),
    element('p', {}, KEYS),
    element(
      'div',
      { class: 'timeline-rows' },
      element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...lines)),
    ),
  );
}
