// The gaps of the streams by length: how many there are and how much time is in them.

import type { Chart } from '../chart';
import { hasColumns, numbers, reader, type Table } from '../data';
import { roundValue } from '../format';
import { colorAt, colorOf } from '../theme';
import { columnChart, type Series } from './columns';

export function histogramChart(table: Table): Chart | null {
  if (!hasColumns(table, 'from_ns', 'to_ns', 'count') || table.rows.length === 0) return null;
  const from = numbers(table, 'from_ns');
  const to = numbers(table, 'to_ns');
  const input = reader(table, 'input');
  const inputs = [...new Set(table.rows.map((row) => String(input(row))))];
  const edges = new Map(table.rows.map((row) => [`${from(row)} ${to(row)}`, [from(row), to(row)] as const]));
  const bins = [...edges].sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
  const places = bins.map(([, [low]]) => `\u2265 ${roundValue(low, 'ns')}`);
  const place = new Map(bins.map(([key], index) => [key, index]));
  const values = (name: string, key: string): number[] => {
    const sums = bins.map(() => 0);
    const valueOf = numbers(table, key);
    for (const row of table.rows) if (input(row) === name) sums[place.get(`${from(row)} ${to(row)}`)!] = valueOf(row);
    return sums;
  };
  const series: Series[] =
    inputs.length > 1
      ? inputs.map((name, place) => ({ name, color: colorAt(place), unit: 'count', values: values(name, 'count') }))
      : [
          { name: 'gap time', color: colorOf('idle'), unit: 'ns', values: values(inputs[0]!, 'total_ns') },
          { name: 'number of gaps', color: colorOf('compute'), unit: 'count', values: values(inputs[0]!, 'count') },
        ];
  return columnChart('Stream gaps by length', places, series, { axis: 'gap length' });
}
