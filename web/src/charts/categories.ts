// GPU time by category: bars for one run, stacked bars over several.

import { hasColumns, numbers, reader, type Row, type Table } from '../data';
import type { Chart } from '../chart';
import { colorOf, isWork } from '../theme';
import { barChart, stackChart } from './bars';

/** Sums of a value by run and category; categories by their sum over all runs, largest first. */
function crossTable(
  rows: readonly Row[],
  run: (row: Row) => string,
  name: (row: Row) => string,
  value: (row: Row) => number,
) {
  const runs = new Map<string, Map<string, number>>();
  const totals = new Map<string, number>();
  for (const row of rows) {
    const sums = runs.get(run(row)) ?? new Map<string, number>();
    runs.set(run(row), sums);
    sums.set(name(row), (sums.get(name(row)) ?? 0) + value(row));
    totals.set(name(row), (totals.get(name(row)) ?? 0) + value(row));
  }
  const rank = (key: string): number => (isWork(key) ? totals.get(key)! : -1); // what is no work stands last
  const names = [...totals.keys()].sort((a, b) => rank(b) - rank(a));
  return {
    names,
    runs: [...runs].map(([label, sums]) => ({ name: label, values: names.map((n) => sums.get(n) ?? 0) })),
  };
}

/** run and value: the keys of the columns that name a bar and measure its parts. */
export function categoryChart(title: string, table: Table, run: string, value: string): Chart | null {
  if (!hasColumns(table, 'category', run, value) || table.rows.length === 0) return null;
  const runOf = reader(table, run);
  const nameOf = reader(table, 'category');
  const { names, runs } = crossTable(
    table.rows,
    (row) => String(runOf(row)),
    (row) => String(nameOf(row)),
    numbers(table, value),
  );
  if (runs.every((each) => each.values.every((time) => time === 0))) return null;
  if (runs.length > 1) {
    const parts = names.map((name) => ({ name, color: colorOf(name) }));
    const times = stackChart(title, parts, runs, { unit: 'ns' });
    return { ...times, other: stackChart(`${title}, as shares`, parts, runs, { unit: 'ns', isShare: true }) };
  }
  const only = runs[0]!;
  const total = only.values.reduce((sum, each) => sum + each, 0);
  const bars = names.map((name, index) => ({
    name,
    value: only.values[index]!,
    share: total ? only.values[index]! / total : 0,
    color: colorOf(name),
  }));
  return barChart(title, bars, 'ns', 'all categories');
}
