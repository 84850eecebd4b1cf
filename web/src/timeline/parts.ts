// Below the drawing: the legend, and the rows as a table for screen readers.

import { button, element, visible } from '../dom';
import { decimal, withUnit } from '../format';
import { colorOf } from '../theme';
import type { Catalog } from './catalog';
import { describeMark } from './describe';
import type { Layout } from './lanes';
import { between, type Kind, type Row } from './rows';
import { lengthOf, type Span } from './span';
import { markOf, type TimelineView } from './view';

const MOST = 10; // categories by name; the others are few and short

function swatch(key: string, isIdle = false): HTMLElement {
  const made = element('span', { class: isIdle ? 'swatch is-idle' : 'swatch' });
  made.style.setProperty(isIdle ? '--color' : 'background', colorOf(key));
  return made;
}

/** Categories of ops or causes of gaps, those with most time first. */
function ranked(catalog: Catalog, rows: readonly Row[], kind: Kind): string[] {
  const names = kind === 'ops' ? catalog.categories : catalog.names;
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
export class Legend {
  readonly root = element('div', { class: 'timeline-legend' });
  private shown = '';
  private pressed: string | null = null;

  constructor(private readonly choose: (category: string | null) => void) {}

  show(catalog: Catalog, rows: readonly Row[]): void {
    const categories = ranked(catalog, rows, 'ops');
    const causes = ranked(catalog, rows, 'gaps');
    const key = [...categories, '', ...causes].join('\n');
    if (key === this.shown) return;
    this.shown = key;
    const rest = categories.length - MOST;
    this.root.replaceChildren(
      ...categories.slice(0, MOST).map((category) => this.toggle(category)),
      rest > 0 ? `and ${rest} more` : '',
      ...causes.map((cause) =>
        element('span', { class: 'timeline-cause' }, swatch(cause, true), `idle: ${visible(cause)}`),
      ),
    );
  }

  private toggle(category: string): HTMLElement {
    const isOn = (): boolean => this.pressed === category;
    const made = button('', { class: 'quiet', title: `Highlight ${category}`, 'aria-pressed': String(isOn()) }, () => {
      this.pressed = isOn() ? null : category;
      for (const each of this.root.querySelectorAll('button')) each.setAttribute('aria-pressed', 'false');
      made.setAttribute('aria-pressed', String(isOn()));
      this.choose(this.pressed);
    });
    made.append(swatch(category), visible(category));
    return made;
  }
}

function tableOf(heads: readonly string[], lines: readonly HTMLElement[]): HTMLElement {
  const head = heads.map((title) => element('th', { scope: 'col' }, title));
  return element(
    'div',
    { class: 'timeline-rows', role: 'region', tabindex: 0, 'aria-label': heads.join(', ') },
    element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...lines)),
  );
}

/** Every row of the drawing, folded or not. */
export function rowsTable(layout: Layout, length: number): HTMLElement {
  const lines = layout.lanes
    .filter(({ packed }) => packed.kind !== 'counters')
    .map(({ packed, detail }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, visible(detail)),
        element('td', { class: 'number', title: String(packed.count) }, decimal(packed.count, 0)),
        element('td', { class: 'number', title: `${packed.busy_ns} ns` }, withUnit(packed.busy_ns, 'ns')),
        element('td', { class: 'number' }, withUnit(packed.busy_ns / Math.max(length, 1), 'share')),
      ),
    );
  return tableOf(['Row', 'Count', 'Time', 'Share'], lines);
}

const LONGEST = 50;

/** The longest items of what is seen, as a table. */
export function itemsTable(view: TimelineView, span: Span): HTMLElement {
  const found: { length: number; words: readonly string[] }[] = [];
  for (const lane of view.seen()) {
    const row = lane.packed.kind === 'counters' ? null : view.rowOf(lane);
    if (!row) continue;
    const [first, last] = between(row, span.start, span.end);
    const own = [];
    for (let i = first; i < last; i++) if (row.end[i]! >= span.start) own.push(i);
    own.sort((a, b) => row.end[b]! - row.start[b]! - (row.end[a]! - row.start[a]!));
    for (const i of own.slice(0, LONGEST)) {
      const mark = markOf(lane, row, i);
      found.push({ length: lengthOf(mark), words: describeMark(view.tiles.catalog, lane, mark, 0, new Map()) });
    }
  }
  found.sort((a, b) => b.length - a.length);
  const lines = found
    .slice(0, LONGEST)
    .map(({ words: [name = '', time = '', where = ''] }) =>
      element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, time), element('td', {}, where)),
    );
  return tableOf(['Item', 'Time', 'Row'], lines);
}
