// Steps of ranks as cells: a row for each rank, a column for each step.

import { numberOf, numbers, reader, type Row, type Table } from '../data';

export interface RankCells {
  readonly rows: readonly Row[]; // of the table, one for each cell
  readonly rowNames: readonly string[];
  readonly columnNames: readonly string[];
  readonly row: Int32Array;
  readonly column: Int32Array;
}

/** Numbers in their order. */
export function placesOf(numbers: readonly number[]): { readonly names: string[]; readonly of: Map<number, number> } {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  return { names: sorted.map(String), of: new Map(sorted.map((number, place) => [number, place])) };
}

export function rankCells(table: Table, rowKey: string, columnKey: string): RankCells {
  const [rowCell, columnCell] = [reader(table, rowKey), reader(table, columnKey)];
  const rows = table.rows.filter((row) => rowCell(row) !== null && columnCell(row) !== null);
  const [rowNumbers, columnNumbers] = [rowCell, columnCell].map((cell) => rows.map((row) => numberOf(cell(row))));
  const [ranks, columns] = [placesOf(rowNumbers!), placesOf(columnNumbers!)];
  return {
    rows,
    rowNames: ranks.names,
    columnNames: columns.names,
    row: Int32Array.from(rowNumbers!, (number) => ranks.of.get(number)!),
    column: Int32Array.from(columnNumbers!, (number) => columns.of.get(number)!),
  };
}

export function valuesOf({ rows }: RankCells, table: Table, key: string): Float64Array {
  const value = numbers(table, key);
  const made = new Float64Array(rows.length);
  rows.forEach((row, place) => (made[place] = value(row)));
  return made;
}

/** Said where a page does not have all rows. */
export function cutNote(table: Table, what: string): string | undefined {
  if (table.total_rows === undefined) return undefined;
  const [here, all] = [table.rows.length, table.total_rows].map((count) => count.toLocaleString('en-US'));
  return `The page has the first ${here} of ${all} ${what}.`;
}
