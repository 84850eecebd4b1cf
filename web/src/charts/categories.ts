// GPU time by category: bars for one run, stacked bars over several.

import type { Chart } from '../chart';
import { crossOf } from '../cross';
import { hasColumns, type Table } from '../data';
import { colorOf, isWork } from '../theme';
import { barChart, stackChart } from './bars';

/** run and value: the keys of the columns that name a bar and measure its parts. */
export function categoryChart(title: string, table: Table, run: string, value: string): Chart | null {
  if (!hasColumns(table, 'category', run, value) || table.rows.length === 0) return null;
  const cross = crossOf(table, run, 'category', value);
  const rank = (name: string): number => Number(isWork(name));
  const rows = [...cross.rows].sort((a, b) => rank(b.name) - rank(a.name)); // non-GPU time comes last
  const names = rows.map((row) => row.name);
  const runs = cross.inputs.map((name, place) => ({ name, values: rows.map((row) => row.values[place] ?? 0) }));
  if (runs.every((each) => each.values.every((time) => time === 0))) return null;
  if (runs.length > 1) {
    const parts = names.map((name) => ({ name, color: colorOf(name) }));
    const times = stackChart(title, parts, runs, { unit: 'ns', whereSeen: 'press Shares to see its parts' });
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
