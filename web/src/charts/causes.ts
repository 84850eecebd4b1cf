// Why each GPU was idle: its idle time by cause.

import type { Chart } from '../chart';
import { hasColumns, numbers, reader, type Table } from '../data';
import { colorOf } from '../theme';
import { stackChart } from './bars';

export function causesChart(table: Table): Chart | null {
  if (!hasColumns(table, 'device', 'cause', 'total_ns') || table.rows.length === 0) return null;
  const input = reader(table, 'input');
  const device = reader(table, 'device');
  const cause = reader(table, 'cause');
  const total = numbers(table, 'total_ns');
  const several = new Set(table.rows.map(input)).size > 1;
  const causes = [...new Set(table.rows.map((row) => String(cause(row))))];
  const stacks = new Map<string, number[]>();
  for (const row of table.rows) {
    const name = several ? `${String(input(row))} \u00b7 GPU ${String(device(row))}` : `GPU ${String(device(row))}`;
    const values = stacks.get(name) ?? causes.map(() => 0);
    stacks.set(name, values);
    const place = causes.indexOf(String(cause(row)));
    values[place] = (values[place] ?? 0) + total(row);
  }
  return stackChart(
    'Idle time by cause',
    causes.map((name) => ({ name, color: colorOf(name) })),
    [...stacks].map(([name, values]) => ({ name, values })),
    { unit: 'ns' },
  );
}
