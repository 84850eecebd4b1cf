// The largest rows of a table as bars: kernels, ranges, phases. Several inputs are side by side.

import type { Chart } from '../chart';
import { crossOf } from '../cross';
import { columnIndex, hasColumns, numberOf, numbers, reader, type Report, type Row, type Table } from '../data';
import { chartNames } from '../names';
import { colorAt, colorOf } from '../theme';
import { barChart } from './bars';
import { groupChart } from './groups';

const MOST = 12;

const MOST_BARS = 48;

function overInputs(title: string, table: Table, report: Report, name: string, value: string): Chart {
  const { inputs, rows } = crossOf(table, 'input', name, value);
  const largest = rows.slice(0, Math.max(3, Math.min(MOST, Math.floor(MOST_BARS / inputs.length))));
  const names = chartNames(
    report,
    largest.map((row) => row.name),
  );
  return groupChart(
    title,
    inputs.map((input, place) => ({ name: input, color: colorAt(place) })),
    largest.map((row, i) => ({ name: names[i]!, detail: row.name, values: row.values.map((each) => each ?? 0) })),
    'ns',
  );
}

const COLOURED = new Set(['class', 'phase']);

/** Coloured by category if the table has it, by name if that is one, else all alike. */
export function namesChart(title: string, table: Table, report: Report, name: string, value: string): Chart | null {
  if (!hasColumns(table, name, value) || table.rows.length < 2) return null;
  const valueOf = numbers(table, value);
  const cell = reader(table, name);
  const nameOf = (row: Row): string => String(cell(row));
  if (report.inputs.length > 1) return overInputs(title, table, report, name, value);
  const categoryOf = reader(table, 'category');
  const shareOf = reader(table, 'share');
  const largest = [...table.rows].sort((a, b) => valueOf(b) - valueOf(a)).slice(0, MOST);
  const names = chartNames(report, largest.map(nameOf));
  const bars = largest.map((row, i) => {
    const category = categoryOf(row);
    return {
      name: names[i]!,
      detail: nameOf(row),
      value: valueOf(row),
      color: colorOf(String(category ?? (COLOURED.has(name) ? nameOf(row) : 'compute'))),
      ...(shareOf(row) === null ? {} : { share: numberOf(shareOf(row)) }),
      ...(category === null ? {} : { note: String(category) }),
    };
  });
  return barChart(title, bars, 'ns', table.columns[columnIndex(table, 'share')]?.of);
}
