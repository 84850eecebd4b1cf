// How long launched work waited before it ran: median, 90th percentile and longest on a scale of powers of ten.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import { hasColumns, numbers, reader, type Report, type Table } from '../data';
import { shorten } from '../dom';
import { roundValue, withUnit } from '../format';
import { chartNames } from '../names';
import { colorOf } from '../theme';
import { nameAxis, nameRoom } from './bars';

const MOST = 12;
const ROW_PIXELS = 26;
const MEASURES = [
  { name: 'median', key: 'queue_p50_ns', color: colorOf('compute'), symbol: 'circle' },
  { name: 'p90', key: 'queue_p90_ns', color: colorOf('elementwise'), symbol: 'diamond' },
  { name: 'longest', key: 'queue_max_ns', color: colorOf('comm'), symbol: 'triangle' },
] as const;
const MEASURE_NAMES = MEASURES.map(({ name }) => name);

export function queueChart(title: string, table: Table, report: Report): Chart | null {
  if (!hasColumns(table, 'name', ...MEASURES.map((measure) => measure.key))) return null;
  const nameOf = reader(table, 'name');
  const median = reader(table, 'queue_p50_ns');
  const rows = table.rows.filter((row) => median(row) !== null).slice(0, MOST);
  if (rows.length === 0) return null;
  const full = rows.map((row) => String(nameOf(row)));
  const names = chartNames(report, full);
  const values = MEASURES.map(({ key }) => rows.map(numbers(table, key)));
  return {
    title,
    summary: rows.map((_, i) => `${shorten(names[i]!, 60)} median ${withUnit(values[0]![i]!, 'ns')}`).join('; '),
    height: (width) => rows.length * ROW_PIXELS + legendHeight(MEASURE_NAMES, width) + 40,
    option: (colors, width): ChartOption => ({
      legend: legend(MEASURE_NAMES, colors, width),
      grid: { left: nameRoom(names, width) + 14, right: 24, top: legendHeight(MEASURE_NAMES, width), bottom: 32 },
      dataZoom: [closerLook()],
      xAxis: {
        type: 'log',
        axisLabel: { color: colors.muted, hideOverlap: true, formatter: (value: number) => roundValue(value, 'ns') },
        splitLine: { lineStyle: { color: colors.line } },
      },
      yAxis: {
        ...nameAxis(names, colors, nameRoom(names, width)),
        splitLine: { show: true, lineStyle: { color: colors.line } },
      },
      tooltip: {
        formatter: (item: unknown) => {
          const { dataIndex } = item as { dataIndex: number };
          const lines = MEASURES.map(({ name }, m) => `${name}: ${withUnit(values[m]![dataIndex]!, 'ns')}`);
          return [label(shorten(full[dataIndex]!, 90)), ...lines].join('\n');
        },
      },
      series: MEASURES.map((measure, m) => ({
        type: 'scatter' as const,
        name: measure.name,
        symbol: measure.symbol,
        symbolSize: 11,
        itemStyle: { color: measure.color },
        // A scale of powers has no place for 0: what did not wait is drawn at 1 ns.
        data: values[m]!.map((value, i) => [Math.max(value, 1), i]),
      })),
    }),
  };
}
