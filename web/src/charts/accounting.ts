// Where the time of each GPU went: four parts that make up its span, exactly.

import { deviceName, hasColumns, numbers, type Table } from '../data';
import type { Chart } from '../chart';
import { colorOf } from '../theme';
import { stackChart } from './bars';

const PARTS = [
  ['compute', 'compute_ns'],
  ['exposed communication', 'exposed_comm_ns'],
  ['exposed memory', 'exposed_memory_ns'],
  ['idle', 'idle_ns'],
] as const;

export function accountingChart(table: Table): Chart | null {
  if (!hasColumns(table, 'device', 'span_ns', ...PARTS.map(([, key]) => key))) return null;
  const nameOf = deviceName(table);
  const stacks = table.rows.map((row) => ({
    name: nameOf(row),
    values: PARTS.map(([, key]) => numbers(table, key)(row)),
  }));
  const parts = PARTS.map(([name]) => ({ name, color: colorOf(name) }));
  return stackChart('Time breakdown by GPU', parts, stacks, { unit: 'ns', isShare: true });
}
