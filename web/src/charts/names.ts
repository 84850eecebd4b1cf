// The largest rows of a table as bars: kernels, ranges, phases.

import type { Chart } from '../chart';
import { hasColumns, numbers, reader, type Report, type Table } from '../data';
import { shortNames } from '../names';
import { colorOf } from '../theme';
import { barChart } from './bars';

const MOST = 12;

/** Coloured by category where the table tells it, else all alike. */
export function namesChart(title: string, table: Table, report: Report, name: string, value: string): Chart | null {
  if (!hasColumns(table, name, value) || table.rows.length < 2) return null;
  const valueOf = numbers(table, value);
  const shorten = shortNames(report);
  const nameOf = reader(table, name);
  const inputOf = reader(table, 'input');
  const categoryOf = reader(table, 'category');
  const several = new Set(table.rows.map(inputOf)).size > 1;
  const total = table.rows.reduce((sum, row) => sum + valueOf(row), 0);
  const isWhole = !several && table.total_rows === undefined;
  const bars = [...table.rows]
    .sort((a, b) => valueOf(b) - valueOf(a))
    .slice(0, MOST)
    .map((row) => {
      const category = categoryOf(row);
      const full = String(nameOf(row));
      const shown = shorten(full);
      return {
        name: several ? `${shown} \u00b7 ${String(inputOf(row))}` : shown,
        detail: full,
        value: valueOf(row),
        color: colorOf(category === null ? 'compute' : String(category)),
        ...(isWhole && total > 0 ? { share: valueOf(row) / total } : {}),
        ...(category === null ? {} : { note: String(category) }),
      };
    });
  return barChart(title, bars, 'ns', 'all rows');
}
