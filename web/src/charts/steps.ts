// Steps over time: how long each took on the GPU, and of what that was made.

import type { Chart } from '../chart';
import { hasColumns, numbers, reader, type Row, type Table } from '../data';
import { colorOf } from '../theme';
import { columnChart, type Series } from './columns';

type Measure = readonly [name: string, value: (row: Row) => number];

function measures(table: Table): Measure[] {
  const of = (key: string): ((row: Row) => number) => numbers(table, key);
  if (hasColumns(table, 'compute_ns', 'exposed_comm_ns', 'exposed_memory_ns', 'idle_ns'))
    return [
      ['compute', of('compute_ns')],
      ['exposed communication', of('exposed_comm_ns')],
      ['exposed memory', of('exposed_memory_ns')],
      ['idle', of('idle_ns')],
    ];
  return [
    ['busy', of('busy_ns')],
    ['idle', (row) => Math.max(0, of('gpu_ns')(row) - of('busy_ns')(row))],
  ];
}

export function stepsChart(table: Table): Chart | null {
  if (!hasColumns(table, 'step', 'gpu_ns', 'busy_ns') || table.rows.length < 2) return null;
  const cells = ['input', 'device', 'step'].map((key) => reader(table, key));
  const varied = cells.map((cell) => new Set(table.rows.map(cell)).size > 1);
  const rows = table.rows.filter((row) => cells[1]!(row) !== null);
  const places = rows.map((row) => {
    const words = [String(cells[2]!(row))];
    if (varied[1]) words.push(`GPU ${String(cells[1]!(row))}`);
    if (varied[0]) words.push(String(cells[0]!(row)));
    return words.join(' \u00b7 ');
  });
  const series: Series[] = measures(table).map(([name, value]) => ({
    name,
    color: colorOf(name === 'busy' ? 'compute' : name),
    unit: 'ns',
    values: rows.map(value),
  }));
  return columnChart('Time breakdown by step', places, series, { stacked: true, axis: 'step' });
}
