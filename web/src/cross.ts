// A table of several inputs turned round: a row for each name, a column for each input.

import { columnIndex, hasColumns, numbers, reader, type Column, type Row, type Table } from './data';

export interface Cross {
  readonly inputs: readonly string[];
  readonly rows: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]; // largest sum first
}

/** Adds up a value by name and input; null where an input has no such name. */
export function crossOf(table: Table, input: string, name: string, value: string): Cross {
  const inputOf = reader(table, input);
  const nameOf = reader(table, name);
  const valueOf = numbers(table, value);
  const inputs = [...new Set(table.rows.map((row) => String(inputOf(row))))];
  const places = new Map(inputs.map((each, place) => [each, place]));
  const found = new Map<string, { sum: number; values: (number | null)[] }>();
  for (const row of table.rows) {
    const key = String(nameOf(row));
    const entry = found.get(key) ?? { sum: 0, values: inputs.map(() => null) };
    found.set(key, entry);
    const place = places.get(String(inputOf(row)))!;
    entry.values[place] = (entry.values[place] ?? 0) + valueOf(row);
    entry.sum += valueOf(row);
  }
  const rows = [...found].sort(([, a], [, b]) => b.sum - a.sum).map(([key, { values }]) => ({ name: key, values }));
  return { inputs, rows };
}

/** Tables of which people ask how the inputs compare: the column that names a row and the one that is compared. */
const COMPARED: Readonly<Record<string, readonly [name: string, value: string]>> = {
  categories: ['category', 'wall_ns'],
  class_stats: ['class', 'time_per_iter_ns'],
  graph: ['category', 'elapsed_ns'],
  memory_stats: ['operation', 'time_per_iter_ns'],
  nccl_stats: ['operation', 'time_per_iter_ns'],
  phases: ['phase', 'exclusive_ns'],
};

export const TOTAL = 'total';

/** Null where there is nothing to compare, or not all of it is here. */
export function crossTable(key: string, table: Table): Table | null {
  const [name, value] = COMPARED[key] ?? [];
  if (!name || !value || table.total_rows !== undefined || !hasColumns(table, 'input', name, value)) return null;
  const { inputs, rows } = crossOf(table, 'input', name, value);
  if (inputs.length < 2) return null;
  const { unit } = table.columns[columnIndex(table, value)]!;
  const total = (place: number): number => rows.reduce((sum, row) => sum + (row.values[place] ?? 0), 0);
  const columns: Column[] = [
    table.columns[columnIndex(table, name)]!,
    ...inputs.map((input): Column => ({ key: input, title: input, unit })),
  ];
  const lines = rows.map((row): Row => [row.name, ...row.values]);
  return { title: table.title, columns, rows: [[TOTAL, ...inputs.map((_, place) => total(place))], ...lines] };
}
