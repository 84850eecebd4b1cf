// Why each GPU was idle: its idle time by cause.

import type { Chart } from '../chart';
import { deviceName, hasColumns, numbers, reader, type Table } from '../data';
import { colorOf } from '../theme';
import { stackChart } from './bars';

export function causesChart(table: Table): Chart | null {
  if (!hasColumns(table, 'device', 'cause', 'total_ns') || table.rows.length === 0) return null;
  const nameOf = deviceName(table);
  const cause = reader(table, 'cause');
  const total = numbers(table, 'total_ns');
  const causes = [...new Set(table.rows.map((row) => String(cause(row))))];
  const stacks = new Map<string, number[]>();
  for (const row of table.rows) {
    const values = stacks.get(nameOf(row)) ?? causes.map(() => 0);
    stacks.set(nameOf(row), values);
    const place = causes.indexOf(String(cause(row)));
    values[place] = (values[place] ?? 0) + total(row);
  }
  return stackChart(
    'Idle by cause',
    causes.map((name) => ({ name, color: colorOf(name) })),
    [...stacks].map(([name, values]) => ({ name, values })),
    { unit: 'ns' },
  );
}
