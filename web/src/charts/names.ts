// The largest rows of a table as bars: kernels, ranges, phases. Over several inputs a bar has a part for each.

import type { Chart } from '../chart';
import { columnIndex, hasColumns, numberOf, numbers, reader, type Report, type Row, type Table } from '../data';
import { shortNames } from '../names';
import { colorAt, colorOf } from '../theme';
import { barChart, stackChart } from './bars';

const MOST = 12;

function overInputs(
  title: string,
  table: Table,
  shorten: (name: string) => string,
  nameOf: (row: Row) => string,
  valueOf: (row: Row) => number,
): Chart {
  const inputOf = reader(table, 'input');
  const inputs = [...new Set(table.rows.map((row) => String(inputOf(row))))];
  const sums = new Map<string, number[]>();
  for (const row of table.rows) {
    const values = sums.get(nameOf(row)) ?? inputs.map(() => 0);
    sums.set(nameOf(row), values);
    const place = inputs.indexOf(String(inputOf(row)));
    values[place] = values[place]! + valueOf(row);
  }
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const stacks = [...sums]
    .sort(([, a], [, b]) => total(b) - total(a))
    .slice(0, MOST)
    .map(([name, values]) => ({ name: shorten(name), values }));
  return stackChart(
    title,
    inputs.map((name, place) => ({ name, color: colorAt(place) })),
    stacks,
    { unit: 'ns' },
  );
}

const COLOURED = new Set(['class', 'phase']);

/** Coloured by category where the table tells it, by name where that is one, else all alike. */
export function namesChart(title: string, table: Table, report: Report, name: string, value: string): Chart | null {
  if (!hasColumns(table, name, value) || table.rows.length < 2) return null;
  const valueOf = numbers(table, value);
  const cell = reader(table, name);
  const nameOf = (row: Row): string => String(cell(row));
  const shorten = shortNames(report);
  if (report.inputs.length > 1) return overInputs(title, table, shorten, nameOf, valueOf);
  const categoryOf = reader(table, 'category');
  const shareOf = reader(table, 'share');
  const bars = [...table.rows]
    .sort((a, b) => valueOf(b) - valueOf(a))
    .slice(0, MOST)
    .map((row) => {
      const category = categoryOf(row);
      return {
        name: shorten(nameOf(row)),
        detail: nameOf(row),
        value: valueOf(row),
        color: colorOf(String(category ?? (COLOURED.has(name) ? nameOf(row) : 'compute'))),
        ...(shareOf(row) === null ? {} : { share: numberOf(shareOf(row)) }),
        ...(category === null ? {} : { note: String(category) }),
      };
    });
  return barChart(title, bars, 'ns', table.columns[columnIndex(table, 'share')]?.of);
}
