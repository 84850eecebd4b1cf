// A drawing of cells on the page: what is under the pointer or the keyboard is described; blocks open at a click.

import { drawWhenSeen } from '../chart';
import { button, element, save, visible } from '../dom';
import { percent, withUnit } from '../format';
import { ink } from '../theme';
import { blockSize, blocksOf, type Block, type Blocks, type Cells, type Measure, type Shown } from './blocks';
import { AXIS, eachBlock, gutterOf, paint, placeOf, scaleOf, spanOf, type Scale, type Scene } from './paint';

const TALLEST = 512; // pixels
const LEAST_ROW = 4;
const MOST_ROW = 24;
const LEAST_COLUMN = 4;
const LEAST_BAR = 6; // a bar has parts
const ZOOM = 0.7;

const isTouched = matchMedia('(pointer: coarse)').matches;

class CellsView {
  readonly root: HTMLElement;
  private readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  private readonly port: HTMLElement;
  private readonly tip = element('div', { class: 'timeline-tip', hidden: true });
  private readonly spoken = element('p', { class: 'offscreen', 'aria-live': 'polite' });
  private readonly legend = element('div', { class: 'cells-legend' });
  private readonly back = button('Show all', { class: 'quiet', hidden: true }, () => this.show(this.whole));
  private readonly note = element('p', { class: 'chart-note' });
  private readonly whole: Shown;
  private shown: Shown;
  private measure: Measure;
  private scene: Scene | null = null;
  private scale: Scale | null = null;
  private marked: number | null = null;
  private tapped: number | null = null;

  constructor(private readonly cells: Cells) {
    this.whole = this.shown = { rows: [0, cells.rowNames.length], columns: [0, cells.columnNames.length] };
    this.measure = cells.measures[0]!;
    this.port = element('div', { class: 'cells', tabindex: 0, role: 'application' }, this.canvas, this.tip);
    this.port.setAttribute('aria-label', `${cells.title}. ${cells.summary}`);
    this.port.setAttribute('aria-roledescription', 'chart');
    this.port.setAttribute('aria-keyshortcuts', 'ArrowUp ArrowDown ArrowLeft ArrowRight Enter Escape');
    const png = button('PNG', { class: 'quiet', 'aria-label': `Save the chart ${cells.title} as PNG` }, () => {
      this.draw();
      save(`${cells.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.png`, this.canvas.toDataURL('image/png'));
    });
    const hint = element('span', { class: 'hint' }, 'Ctrl + wheel to zoom, double-click to reset');
    this.root = element(
      'figure',
      { class: 'chart' },
      this.choices(),
      this.legend,
      this.port,
      this.spoken,
      this.note,
      element(
        'figcaption',
        {},
        element('span', {}, cells.title),
        hint,
        element('span', { class: 'chart-tools' }, this.back, png),
      ),
    );
    this.listen();
    const rowCount = cells.rowNames.length;
    this.canvas.style.height = `${this.heightOf(Math.ceil(rowCount / blockSize(rowCount, TALLEST / LEAST_ROW)))}px`;
    drawWhenSeen(this.port, () => this.draw());
  }

  /** One button for each measure, where there are several. */
  private choices(): HTMLElement | null {
    const { measures, bars, title } = this.cells;
    if (bars || measures.length < 2) return null;
    const buttons = measures.map((measure) =>
      button(measure.name, { class: 'quiet', 'aria-pressed': String(measure === this.measure) }, () => {
        this.measure = measure;
        buttons.forEach((each, place) => each.setAttribute('aria-pressed', String(measures[place] === measure)));
        this.draw();
      }),
    );
    return element('div', { class: 'cells-choices', role: 'group', 'aria-label': `Measure of ${title}` }, ...buttons);
  }

  // ---- drawing ----

  private blocks(width: number): Blocks {
    const mostColumns = (width * 0.9) / (this.cells.bars ? LEAST_BAR : LEAST_COLUMN);
    return blocksOf(this.cells, this.measure, this.shown, TALLEST / LEAST_ROW, mostColumns);
  }

  private rowHeight(rowCount: number): number {
    return Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(TALLEST / rowCount)));
  }

  private heightOf(rowCount: number): number {
    return rowCount * this.rowHeight(rowCount) + AXIS;
  }

  private draw(): void {
    const width = this.port.clientWidth;
    const context = this.canvas.getContext('2d');
    if (width === 0 || !context) return;
    const blocks = this.blocks(width);
    const height = this.heightOf(blocks.rowCount);
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.scene = {
      context,
      cells: this.cells,
      measure: this.measure,
      shown: this.shown,
      blocks,
      ink: ink(),
      width,
      gutter: gutterOf(this.cells, this.shown, blocks.rowsEach, width),
      rowHeight: this.rowHeight(blocks.rowCount),
      span: timeOf(blocks),
    };
    if (this.marked !== null && !blocks.at.has(this.marked)) this.mark(null);
    this.scale = scaleOf(this.cells, this.measure, this.scene.ink);
    this.repaint();
    this.drawLegend(this.scale);
    this.drawNote(blocks);
  }

  private drawNote({ rowsEach }: Blocks): void {
    const { note, rowWord } = this.cells;
    const rows = `${rowsEach} ${rowWord.split(' ').pop()!}s`;
    const joined = this.cells.bars
      ? `Each row is ${rows}: the one with the most ${this.measure.name} is drawn.`
      : `Each row is ${rows}: the largest value is drawn.`;
    this.note.textContent = [rowsEach > 1 && joined, note].filter(Boolean).join(' ');
  }

  private repaint(): void {
    if (this.scene && this.scale) paint(this.scene, this.scale, this.marked);
  }

  private drawLegend({ most, middle, colorOf }: Scale): void {
    const { bars } = this.cells;
    if (bars) {
      const items = bars.parts.map(({ name, color }) => {
        const swatch = element('span', { class: 'swatch' });
        swatch.style.background = color;
        return element('span', {}, swatch, name);
      });
      this.legend.replaceChildren(...items);
      return;
    }
    const { unit, isSigned } = this.measure;
    const values = [...(isSigned ? [-most, -middle] : []), 0, middle, most];
    const scale = element('span', { class: 'cells-scale', 'aria-hidden': 'true' });
    scale.style.background = `linear-gradient(to right, ${values.map(colorOf).join(', ')})`;
    const [first, half, last] = [values[0]!, middle, most].map((value) => withUnit(value, unit));
    this.legend.replaceChildren(element('span', {}, first!), scale, element('span', {}, `${last}, half-way ${half}`));
  }

  // ---- what is described ----

  private words(block: Block): string[] {
    const { cells } = this;
    const { rowsEach, columnsEach } = this.scene!.blocks;
    const columns = cells.bars
      ? spanOf(cells.columnNames, block.from, block.to)
      : cells.columnNames[cells.column[block.cell]!];
    const name = `${cells.rowWord} ${cells.rowNames[block.row]} \u00b7 ${cells.columnWord} ${columns}`;
    const many: string[] = [];
    if (rowsEach > 1) {
      const from = block.row - ((block.row - this.shown.rows[0]) % rowsEach);
      const rows = spanOf(cells.rowNames, from, Math.min(from + rowsEach, this.shown.rows[1]));
      many.push(`${cells.rowWord}s ${rows}`);
    }
    if (columnsEach > 1 && !cells.bars)
      many.push(`${cells.columnWord}s ${spanOf(cells.columnNames, block.from, block.to)}`);
    const whole =
      many.length > 0 ? [`most ${this.measure.name.toLowerCase()} of ${many.join(', ')}; click to open`] : [];
    return [name, ...this.values(block), ...whole];
  }

  private values(block: Block): string[] {
    const { bars, measures, describe } = this.cells;
    if (!bars)
      return [
        ...measures.map(({ name, unit, values }) => `${name}: ${withUnit(values[block.cell]!, unit)}`),
        ...(describe?.(block.cell) ?? []),
      ];
    const sum = block.parts.reduce((total, value) => total + value, 0);
    const parts = bars.parts.map(({ name }, part) => {
      const value = block.parts[part]!;
      return `${name}: ${withUnit(value, 'ns')} (${percent(sum ? value / sum : 0)})`;
    });
    return [`${withUnit(sum, 'ns')}, from ${withUnit(block.start, 'ns')}`, ...parts];
  }

  private mark(place: number | null, x = 0, y = 0): void {
    this.marked = place;
    const block = place === null ? undefined : this.scene?.blocks.at.get(place);
    this.tip.hidden = !block;
    if (!block) return;
    this.tip.replaceChildren(...this.words(block).map((line) => element('p', {}, visible(line))));
    const room = this.port.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, room))}px`;
    this.tip.style.top = `${y + 14}px`;
  }

  private placeAt(x: number, y: number): number | null {
    const { scene } = this;
    if (!scene) return null;
    const wanted = Math.floor(y / scene.rowHeight);
    let found: number | null = null;
    eachBlock(scene, (block, row, column) => {
      if (row !== wanted) return;
      const place = placeOf(scene, block, row, column);
      if (x >= place.x - 1 && x <= place.x + place.width + 1) found = row * scene.blocks.columnCount + column;
    });
    return found;
  }

  // ---- what is shown ----

  private show(shown: Shown): void {
    this.shown = shown;
    this.back.hidden = shown === this.whole;
    this.tapped = null;
    this.mark(null);
    this.draw();
  }

  /** The rows and columns of a block; of a bar the rows alone, for they are compared over time. */
  private open(place: number): void {
    const { rowsEach, columnsEach, columnCount } = this.scene!.blocks;
    if (rowsEach === 1 && columnsEach === 1) return;
    const part = ([first, end]: readonly [number, number], at: number, each: number): readonly [number, number] =>
      each === 1 ? [first, end] : [first + at * each, Math.min(first + (at + 1) * each, end)];
    this.show({
      rows: part(this.shown.rows, Math.floor(place / columnCount), rowsEach),
      columns: part(this.shown.columns, place % columnCount, columnsEach),
    });
  }

  private zoom(factor: number, share: number): void {
    const [first, end] = this.shown.columns;
    const [least, most] = this.whole.columns;
    const length = Math.min(Math.max(Math.round((end - first) * factor), 1), most - least);
    const from = Math.min(Math.max(Math.round(first + (end - first - length) * share), least), most - length);
    this.show({ rows: this.shown.rows, columns: [from, from + length] });
  }

  // ---- pointer and keys ----

  private listen(): void {
    const { port } = this;
    port.addEventListener('pointermove', (event) => this.point(event));
    port.addEventListener('pointerleave', () => this.leave());
    port.addEventListener('blur', () => this.leave());
    port.addEventListener('click', (event) => {
      this.point(event);
      const isMeant = !isTouched || this.marked === this.tapped; // the first tap describes, the second opens
      this.tapped = this.marked;
      if (this.marked !== null && isMeant) this.open(this.marked);
    });
    port.addEventListener('dblclick', () => this.show(this.whole));
    port.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey || !this.scene) return; // the wheel alone moves the page
        event.preventDefault();
        const { gutter, width } = this.scene;
        const share = (event.offsetX - gutter) / Math.max(width - gutter, 1);
        this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, Math.min(Math.max(share, 0), 1));
      },
      { passive: false },
    );
    port.addEventListener('keydown', (event) => this.press(event));
  }

  private point(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const place = this.placeAt(x, y);
    if (place === null && this.marked === null) return;
    this.mark(place, x, y);
    this.repaint();
  }

  private leave(): void {
    if (this.marked === null) return;
    this.mark(null);
    this.repaint();
  }

  /** Arrows go to the next block there is in that direction. */
  private press(event: KeyboardEvent): void {
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    if (move) this.step(move[0], move[1]);
    else if (event.key === 'Enter' && this.marked !== null) this.open(this.marked);
    else if (event.key === 'Escape' && this.shown !== this.whole) this.show(this.whole);
    else if (event.key === 'Escape') this.leave();
    else return;
    event.preventDefault();
  }

  private step(rows: number, columns: number): void {
    const { scene } = this;
    if (!scene) return;
    const { rowCount, columnCount, at } = scene.blocks;
    const from = this.marked;
    const first = from === null ? [...at.keys()].reduce((least, key) => Math.min(least, key), Infinity) : from;
    let row = Math.floor(first / columnCount) + (from === null ? 0 : rows);
    let column = (first % columnCount) + (from === null ? 0 : columns);
    const isInside = (): boolean => row >= 0 && row < rowCount && column >= 0 && column < columnCount;
    while (isInside() && !at.has(row * columnCount + column)) {
      row += rows;
      column += columns;
    }
    const place = row * columnCount + column;
    const block = isInside() ? at.get(place) : undefined;
    if (!block) return;
    const { x, y, width, height } = placeOf(scene, block, row, column);
    this.mark(place, x + Math.min(width / 2, 40), y + height);
    this.spoken.textContent = this.words(block).map(visible).join(', ');
    this.repaint();
  }
}

function timeOf(blocks: Blocks): { start: number; end: number } {
  let start = Infinity;
  let end = -Infinity;
  for (const block of blocks.at.values()) {
    start = Math.min(start, block.start);
    end = Math.max(end, block.end);
  }
  return start < end ? { start, end } : { start: 0, end: 1 };
}

export function cellsView(cells: Cells): HTMLElement {
  return new CellsView(cells).root;
}
