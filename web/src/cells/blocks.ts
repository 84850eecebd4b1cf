// Cells by row and column, joined to blocks where there are more than a drawing has room for.

import type { Unit } from '../data';
import type { Part } from '../charts/bars';

export interface Measure {
  readonly name: string;
  readonly unit: Unit;
  readonly values: ArrayLike<number>; // by cell
  readonly isSigned?: boolean;
  readonly isWide?: boolean; // values differ by orders of magnitude, and shades by their logarithm
}

/** Cells as bars on a time axis, each made of parts. */
export interface Bars {
  readonly start: ArrayLike<number>;
  readonly length: ArrayLike<number>;
  readonly parts: readonly (Part & { readonly values: ArrayLike<number> })[];
}

export interface Cells {
  readonly title: string;
  readonly summary: string; // for those who do not see it
  readonly note?: string;
  readonly rowWord: string; // what a row is
  readonly rowNames: readonly string[];
  readonly columnWord: string;
  readonly columnNames: readonly string[];
  readonly row: ArrayLike<number>; // of each cell
  readonly column: ArrayLike<number>;
  readonly measures: readonly Measure[]; // any of which can be chosen to be shown
  readonly bars?: Bars;
  describe?(cell: number): readonly string[]; // what else there is to say
}

/** Rows and columns that are shown: from the first to before the second. */
export interface Shown {
  readonly rows: readonly [number, number];
  readonly columns: readonly [number, number];
}

export interface Block {
  readonly row: number; // that it shows: of several the one with the most
  cell: number; // with the most
  from: number; // columns
  to: number;
  value: number; // of bars the sum of the cells, else the largest
  start: number;
  end: number;
  readonly parts: number[];
}

export interface Blocks {
  readonly rowsEach: number;
  readonly columnsEach: number;
  readonly rowCount: number;
  readonly columnCount: number;
  readonly at: ReadonlyMap<number, Block>; // by place: row * columnCount + column
}

/** A power of two, so that blocks are whole groups of ranks: the least with which so many fit. */
export function blockSize(count: number, most: number): number {
  let size = 1;
  while (Math.ceil(count / size) > Math.max(most, 1)) size *= 2;
  return size;
}

function join(block: Block, cell: number, column: number, value: number, bars: Bars | undefined): void {
  block.from = Math.min(block.from, column);
  block.to = Math.max(block.to, column + 1);
  if (!bars) {
    if (Math.abs(value) <= Math.abs(block.value)) return;
    block.value = value;
    block.cell = cell;
    return;
  }
  block.value += value;
  block.start = Math.min(block.start, bars.start[cell]!);
  block.end = Math.max(block.end, bars.start[cell]! + bars.length[cell]!);
  bars.parts.forEach(({ values }, part) => (block.parts[part]! += values[cell]!));
}

/** Cells of one row and neighbouring columns are one; of neighbouring rows the one with the largest value is kept. */
export function blocksOf(cells: Cells, measure: Measure, shown: Shown, mostRows: number, mostColumns: number): Blocks {
  const { bars } = cells;
  const [firstRow, endRow] = shown.rows;
  const [firstColumn, endColumn] = shown.columns;
  const rowsEach = blockSize(endRow - firstRow, mostRows);
  const columnsEach = blockSize(endColumn - firstColumn, mostColumns);
  const columnCount = Math.ceil((endColumn - firstColumn) / columnsEach);
  const ofRows = new Map<number, Block>();
  for (let cell = 0; cell < cells.row.length; cell++) {
    const row = cells.row[cell]!;
    const column = cells.column[cell]!;
    if (row < firstRow || row >= endRow || column < firstColumn || column >= endColumn) continue;
    const key = row * columnCount + Math.floor((column - firstColumn) / columnsEach);
    let block = ofRows.get(key);
    if (!block) {
      const parts = bars ? bars.parts.map(() => 0) : [];
      block = { row, cell, from: column, to: column, value: 0, start: Infinity, end: -Infinity, parts };
      ofRows.set(key, block);
    }
    join(block, cell, column, measure.values[cell]!, bars);
  }
  const at = new Map<number, Block>();
  for (const [key, block] of ofRows) {
    const place = Math.floor((block.row - firstRow) / rowsEach) * columnCount + (key % columnCount);
    const other = at.get(place);
    if (!other || Math.abs(block.value) > Math.abs(other.value)) at.set(place, block);
  }
  return { rowsEach, columnsEach, rowCount: Math.ceil((endRow - firstRow) / rowsEach), columnCount, at };
}
