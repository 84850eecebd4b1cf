// A table that can be sorted, searched and copied. Only the rows in view are in the document, so that thousands of them
// cost nothing.

import { judgeOf, type Judgement } from './better';
import { columnIndex, hasFlag, isText, numberOf, reader, type Cell, type Column, type Row, type Table } from './data';
import { TOTAL } from './cross';
import { toCsv } from './csv';
import { showRow } from './details';
import { button, copy, element, setHover, shorten, visible } from './dom';
import { exact, styleOf, type Style } from './format';
import { meaningOf } from './meaning';
import { differences, nameView, type Difference } from './names';
import { sideways } from './sideways';
import { colorOf } from './theme';

const ROW_PIXELS = 30; // as in page.css
const SPARE_ROWS = 8; // drawn above and below what is seen
const PRINTED_ROWS = 60;
const NAME_LENGTH = 2000; // characters of a name that are looked at; all are in its details
const TEXT_LENGTH = 180; // of another text in a cell
const TITLE_LENGTH = 40;
const COLOURED = new Set(['category', 'cause', 'class', 'part', 'phase']);
// What became of a row of a comparison or of a limit, as a sign that colour alone does not carry.
const SIGNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: { up: '\u25b2', down: '\u25bc', 'only A': '\u2212', 'only B': '+', noise: '\u2248', same: '=', unknown: '?' },
  verdict: { ok: '\u2713', broken: '\u2717', noise: '\u2248' },
};
const collator = new Intl.Collator('en', { numeric: true });

/** Where a row leads besides its details: to a part of the timeline, or to a view about it. */
export interface RowLink {
  readonly label: string;
  go(): void;
}

export type RowLinks = (key: string, table: Table, row: Row) => RowLink | null;

/** A part of the time of an input. */
export interface Part {
  readonly input: string;
  readonly start: number;
  readonly end: number;
}

type Order = 'none' | 'ascending' | 'descending';

interface Shown extends Column {
  readonly index: number; // in the table
  readonly style: Style;
  readonly isText: boolean;
  readonly most: number; // value of a full bar; 0: no bar
}

function shownColumns(table: Table): Shown[] {
  return table.columns.flatMap((column, index) => {
    if (isIdle(table, column, index)) return [];
    let most = hasFlag(column, 'whole') ? 1 : 0;
    if (!most && hasFlag(column, 'bar'))
      for (const row of table.rows) most = Math.max(most, Math.abs(numberOf(row[index])));
    return [{ ...column, index, style: styleOf(table, index), isText: isText(table, index), most }];
  });
}

const IDENTIFYING = new Set(['input', 'rank']); // columns that only identify the input of a row

/** Adds no information: no value at all, or a column that only distinguishes rows with the same value in all of them. */
function isIdle(table: Table, column: Column, index: number): boolean {
  const isSparse = hasFlag(column, 'sparse');
  const isValue = (cell: Cell | undefined): boolean => cell != null && !(isSparse && cell === 0);
  const first = table.rows.find((row) => isValue(row[index]))?.[index];
  if (first === undefined) return true;
  const distinguishes = hasFlag(column, 'varies') || (column.unit === '' && IDENTIFYING.has(column.key));
  return distinguishes && !table.rows.some((row) => isValue(row[index]) && row[index] !== first);
}

export class TableView {
  readonly root: HTMLElement;
  private readonly columns: Shown[];
  private readonly body = element('tbody');
  private readonly head = element('thead');
  private readonly port = element('div', { class: 'port', role: 'group', tabindex: 0 });
  private readonly counter = element('span', { class: 'counter', role: 'status' });
  private readonly search = element('input', { type: 'search', placeholder: 'Search', spellcheck: 'false' });
  private readonly haystacks: string[] = [];
  private rows: readonly number[] = [];
  private sorted: Shown | null = null;
  private order: Order = 'none';
  private wide = false;
  private active = -1;
  private marked = new Set<number>();
  private drawnFrom = -1;
  private drawnTo = -1;
  private isPrinted = false;
  private readonly path: number; // where names nest: in other orders a row needs its full path
  private readonly nested: number;
  private readonly judged: ((row: Row) => Judgement) | null;
  private readonly hasLinks: boolean;
  private part: Part | null = null;
  private readonly places = new Map<number, ReadonlyMap<string, Difference>>();

  constructor(
    private readonly key: string,
    private readonly table: Table,
    private readonly links: RowLinks | null = null,
  ) {
    this.judged = judgeOf(table);
    this.hasLinks = table.rows.some((row) => links?.(key, table, row));
    this.columns = shownColumns(table);
    this.path = columnIndex(table, 'depth') < 0 ? -1 : columnIndex(table, 'path');
    this.nested = this.path < 0 ? -1 : table.columns.findIndex((column) => hasFlag(column, 'name'));
    this.port.setAttribute('aria-label', `Rows of ${table.title}`);
    const content = element('table', { 'aria-rowcount': table.rows.length + 1 }, this.head, this.body);
    this.port.append(content);
    const frame = sideways(this.port, content);
    frame.classList.toggle(
      'is-wide',
      this.columns.some((column) => hasFlag(column, 'name')),
    );
    frame.style.setProperty('--longest', `calc(${this.longestName()}ch + 20px)`); // and the padding of a cell
    this.root = element('div', { class: 'table-view' }, this.tools(), frame);
    this.listen();
    this.drawHead();
    this.filter();
  }

  /** Shows the table, with the rows marked whose names occur in one of the texts. */
  point(texts: readonly string[]): void {
    const names = this.columns.filter((column) => column.isText && column.key !== 'input');
    const isNamed = (row: Row): boolean =>
      names.some(({ index }) => {
        const cell = row[index];
        return typeof cell === 'string' && cell.length > 2 && texts.some((text) => text.includes(cell));
      });
    this.marked = new Set(this.table.rows.flatMap((row, index) => (isNamed(row) ? [index] : [])));
    this.search.value = '';
    this.root.closest('details')?.setAttribute('open', '');
    this.filter();
    this.root.closest('section')?.scrollIntoView();
    this.focus(
      Math.max(
        0,
        this.rows.findIndex((index) => this.marked.has(index)),
      ),
    );
  }

  /** Shows only rows that touch a part of the time, if rows of this table have one; null shows all again. */
  limit(part: Part | null): void {
    if (columnIndex(this.table, 'start_ns') < 0 || columnIndex(this.table, 'end_ns') < 0) return;
    this.part = part;
    this.filter();
  }

  private isInside(row: Row): boolean {
    const { part, table } = this;
    if (!part) return true;
    const input = reader(table, 'input')(row);
    return (
      (input === null || input === part.input) &&
      numberOf(reader(table, 'start_ns')(row)) < part.end &&
      numberOf(reader(table, 'end_ns')(row)) > part.start
    );
  }

  // ---- tools ----

  private tools(): HTMLElement {
    const { table } = this;
    this.search.setAttribute('aria-label', `Search ${table.title}`);
    const more = this.columns.filter((column) => hasFlag(column, 'detail')).length;
    const label = `+${more} column${more === 1 ? '' : 's'}`;
    const all = button(label, { 'aria-pressed': 'false', class: 'quiet' }, () => {
      this.wide = !this.wide;
      all.setAttribute('aria-pressed', String(this.wide));
      all.textContent = this.wide ? 'Fewer columns' : label;
      this.drawHead();
      this.draw(true);
    });
    const csv = button('Copy CSV', { class: 'quiet' }, () => {
      const rows = this.rows.map((index) => table.rows[index]!);
      void copy(toCsv(table, rows), `${rows.length} rows copied`);
    });
    const needed = table.rows.length > 8;
    return element('div', { class: 'tools' }, needed && this.search, this.counter, more > 0 && all, csv);
  }

  private count(): void {
    const shown = this.rows.length.toLocaleString('en-US');
    const here = this.table.rows.length;
    const total = this.table.total_rows ?? here;
    const all = here.toLocaleString('en-US');
    const words = this.rows.length === here ? `${all} row${here === 1 ? '' : 's'}` : `${shown} of ${all} rows`;
    this.counter.textContent = total > here ? `${words}; the trace has ${total.toLocaleString('en-US')}` : words;
  }

  // ---- which rows, in which order ----

  private haystack(index: number): string {
    return (this.haystacks[index] ??= this.table.rows[index]!.filter((cell) => cell !== null)
      .join('\n')
      .toLowerCase());
  }

  private filter(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows: number[] = [];
    for (let i = 0; i < this.table.rows.length; i++) {
      if (!words.every((word) => this.haystack(i).includes(word)) || !this.isInside(this.table.rows[i]!)) continue;
      rows.push(i);
    }
    this.rows = this.order === 'none' ? rows : this.sort(rows);
    this.active = -1;
    this.port.scrollTop = 0;
    this.count();
    this.draw(true);
  }

  private sort(rows: number[]): number[] {
    const { index, isText: asText } = this.sorted!;
    const sign = this.order === 'descending' ? -1 : 1;
    const cell = (row: number): Cell => this.table.rows[row]![index] ?? null;
    return rows.sort((a, b) => {
      const x = cell(a);
      const y = cell(b);
      if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
      const difference = asText ? collator.compare(String(x), String(y)) : numberOf(x) - numberOf(y);
      return sign * difference || a - b;
    });
  }

  /** Numbers largest first, then smallest first, then as they came; text the other way round. */
  private sortBy(column: Shown): void {
    const first: Order = column.isText ? 'ascending' : 'descending';
    const second: Order = first === 'ascending' ? 'descending' : 'ascending';
    this.order = this.sorted !== column || this.order === 'none' ? first : this.order === first ? second : 'none';
    this.sorted = column;
    this.drawHead();
    this.filter();
    this.head.querySelector<HTMLElement>(`[data-column="${CSS.escape(column.key)}"]`)?.focus();
  }

  private isReordered(): boolean {
    return this.order !== 'none' || this.rows.length < this.table.rows.length;
  }

  // ---- drawing ----

  private visibleColumns(): Shown[] {
    return this.columns.filter((column) => this.wide || !hasFlag(column, 'detail'));
  }

  private drawHead(): void {
    const cells = this.visibleColumns().map((column) => {
      const label = button(
        shorten(visible(column.title), TITLE_LENGTH) + (column.style.suffix && ` (${column.style.suffix})`),
        { 'data-column': column.key },
        () => this.sortBy(column),
      );
      const meaning = meaningOf(this.key, column.key);
      setHover(label, [column.key, column.of && `share of ${column.of}`, meaning].filter(Boolean).join('\n'));
      const order = column === this.sorted && this.order !== 'none' ? this.order : undefined;
      return element('th', { scope: 'col', class: this.classOf(column), 'aria-sort': order }, label);
    });
    if (this.hasLinks) cells.push(element('th', { scope: 'col', class: 'row-more' }, 'Details'));
    this.head.replaceChildren(element('tr', { 'aria-rowindex': 1 }, ...cells));
  }

  /** In characters. */
  private longestName(): number {
    let longest = 0;
    for (const { index, flags } of this.columns)
      if (flags?.includes('name'))
        for (const row of this.table.rows) longest = Math.max(longest, String(row[index] ?? '').length);
    return Math.min(longest, NAME_LENGTH);
  }

  private classOf(column: Shown): string {
    if (hasFlag(column, 'name')) return 'name';
    return column.isText ? 'text' : column.most ? 'number bar' : 'number';
  }

  private draw(force = false): void {
    const count = this.rows.length;
    const height = this.port.clientHeight || 480;
    const from = this.isPrinted ? 0 : Math.max(0, Math.floor(this.port.scrollTop / ROW_PIXELS) - SPARE_ROWS);
    const seen = Math.ceil(height / ROW_PIXELS) + 2 * SPARE_ROWS;
    const to = Math.min(count, this.isPrinted ? PRINTED_ROWS : from + seen);
    if (!force && from === this.drawnFrom && to === this.drawnTo) return;
    this.drawnFrom = from;
    this.drawnTo = to;
    const columns = this.visibleColumns();
    const rows: HTMLElement[] = [];
    if (from > 0) rows.push(this.spacer(from));
    for (let place = from; place < to; place++) rows.push(this.drawRow(place, columns));
    if (to < count) rows.push(this.isPrinted ? this.note(`${count - to} more rows`) : this.spacer(count - to));
    if (count === 0) rows.push(this.note('No matching rows.'));
    this.body.replaceChildren(...rows);
  }

  private note(text: string): HTMLElement {
    return element('tr', {}, element('td', { colspan: this.visibleColumns().length + Number(this.hasLinks) }, text));
  }

  private spacer(rows: number): HTMLElement {
    const cell = element('td', { colspan: this.visibleColumns().length + Number(this.hasLinks) });
    cell.style.height = `${rows * ROW_PIXELS}px`;
    return element('tr', { class: 'spacer', 'aria-hidden': 'true' }, cell);
  }

  private drawRow(place: number, columns: readonly Shown[]): HTMLElement {
    const row = this.table.rows[this.rows[place]!]!;
    const line = element('tr', {
      'aria-rowindex': place + 2,
      'data-place': place,
      class: this.marked.has(this.rows[place]!) ? 'is-marked' : undefined,
      tabindex: place === Math.max(this.active, 0) ? 0 : -1,
    });
    for (const column of columns) line.append(this.drawCell(row, column));
    if (this.hasLinks) line.append(this.drawMore(row));
    return line;
  }

  /** A click on the row goes where it leads; this one shows all its values. */
  private drawMore(row: Row): HTMLElement {
    const label = 'All values of this row (i)';
    const more = button('\u22ef', { class: 'quiet', title: label, 'aria-label': label, tabindex: -1 }, (event) => {
      event.stopPropagation();
      this.showAll(row);
    });
    return element('td', { class: 'row-more' }, more);
  }

  private drawCell(row: Row, column: Shown): HTMLElement {
    const cell = (column.index === this.nested && this.isReordered() ? row[this.path] : row[column.index]) ?? null;
    const text = column.style.format(cell);
    const made = element('td', { class: this.classOf(column) });
    if (COLOURED.has(column.key) && typeof cell === 'string' && cell !== TOTAL) {
      const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = colorOf(cell);
      made.append(swatch);
    }
    const sign = typeof cell === 'string' ? SIGNS[column.key]?.[cell] : undefined;
    if (sign) {
      made.classList.add('outcome', this.outcome(column.key, String(cell), row));
      made.append(element('span', { class: 'sign', 'aria-hidden': 'true' }, sign));
    }
    if (hasFlag(column, 'name')) made.append(nameView(shorten(text, NAME_LENGTH), this.differs(column, text)));
    else made.append(column.isText ? element('bdi', {}, shorten(text, TEXT_LENGTH)) : text);
    setHover(made, column.unit === '' ? visible(String(cell ?? '')) : exact(cell, column));
    if (column.most > 0) made.style.setProperty('--share', String(Math.abs(numberOf(cell)) / column.most));
    return made;
  }

  /** From where on a name is not the same as others of its column. */
  private differs(column: Shown, text: string): Difference | undefined {
    let places = this.places.get(column.index);
    if (!places) {
      places = differences(
        this.table.rows.map((row) => shorten(column.style.format(row[column.index] ?? null), NAME_LENGTH)),
      );
      this.places.set(column.index, places);
    }
    return places.get(shorten(text, NAME_LENGTH));
  }

  /** Up is not always worse. */
  private outcome(key: string, cell: string, row: Row): string {
    const isChange = key === 'status' && (cell === 'up' || cell === 'down');
    return `is-${isChange && this.judged ? this.judged(row) : cell.replace(' ', '-')}`;
  }

  // ---- keys and pointer ----

  private listen(): void {
    this.search.addEventListener('input', () => this.filter());
    this.port.addEventListener('scroll', () => this.draw(), { passive: true });
    this.body.addEventListener('click', (event) => {
      const line = (event.target as Element).closest<HTMLElement>('tr[data-place]');
      if (line && getSelection()?.isCollapsed !== false) this.open(Number(line.dataset.place));
    });
    this.body.addEventListener('keydown', (event) => this.press(event));
    addEventListener('beforeprint', () => this.setPrinted(true));
    addEventListener('afterprint', () => this.setPrinted(false));
  }

  private setPrinted(on: boolean): void {
    this.isPrinted = on;
    this.draw(true);
  }

  private press(event: KeyboardEvent): void {
    const line = (event.target as Element).closest<HTMLElement>('tr[data-place]');
    if (!line) return;
    const place = Number(line.dataset.place);
    const page = Math.max(1, Math.floor(this.port.clientHeight / ROW_PIXELS) - 2);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: this.rows.length - 1,
    };
    const target = moves[event.key];
    if (target !== undefined) this.focus(target);
    else if (event.key === 'Enter') this.open(place);
    else if (event.key === 'i') this.showAll(this.table.rows[this.rows[place]!]!);
    else return;
    event.preventDefault();
  }

  private focus(place: number): void {
    this.active = Math.min(Math.max(place, 0), this.rows.length - 1);
    const top = this.active * ROW_PIXELS;
    const room = this.port.clientHeight - 3 * ROW_PIXELS;
    if (top < this.port.scrollTop) this.port.scrollTop = top;
    else if (top > this.port.scrollTop + room) this.port.scrollTop = top - room;
    this.draw(true);
    this.body.querySelector<HTMLElement>(`[data-place="${this.active}"]`)?.focus({ preventScroll: true });
  }

  private open(place: number): void {
    this.active = place;
    const row = this.table.rows[this.rows[place]!]!;
    const link = this.links?.(this.key, this.table, row);
    if (link) link.go();
    else this.showAll(row);
  }

  private showAll(row: Row): void {
    showRow(this.key, this.table, row, this.links?.(this.key, this.table, row) ?? null);
  }
}
