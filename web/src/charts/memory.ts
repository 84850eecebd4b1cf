// Memory of GPUs over time: what is allocated, between its least and its most in each part, and what is reserved.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import { deviceName, hasColumns, numbers, reader, type Row, type Table } from '../data';
import { roundValue, withUnit } from '../format';
import { colorAt, colorOf } from '../theme';

const HEIGHT = 246; // below the legend

interface Curve {
  readonly name: string;
  readonly color: string;
  readonly isFilled: boolean;
  readonly points: readonly (readonly [number, number])[];
}

/** One GPU has its reserved memory next to it; several have a curve each. */
function curvesOf(table: Table): Curve[] {
  const start = numbers(table, 'start_ns');
  const most = numbers(table, 'allocated_max');
  const reserved = reader(table, 'reserved_max');
  const nameOf = deviceName(table);
  const groups = new Map<string, Row[]>();
  for (const row of table.rows) {
    const rows = groups.get(nameOf(row));
    if (rows) rows.push(row);
    else groups.set(nameOf(row), [row]);
  }
  const isAlone = groups.size === 1;
  return [...groups].flatMap(([name, rows], place) => {
    const allocated = {
      name: isAlone ? 'allocated' : name,
      color: isAlone ? colorOf('compute') : colorAt(place),
      isFilled: isAlone,
      points: rows.map((row) => [start(row), most(row)] as const),
    };
    const held = rows.filter((row) => reserved(row) !== null);
    if (!isAlone || held.length === 0) return [allocated];
    const points = held.map((row) => [start(row), Number(reserved(row))] as const);
    return [allocated, { name: 'reserved', color: colorOf('idle'), isFilled: false, points }];
  });
}

export function memoryChart(table: Table): Chart | null {
  if (!hasColumns(table, 'device', 'start_ns', 'allocated_max', 'reserved_max') || table.rows.length < 2) return null;
  const curves = curvesOf(table);
  const names = curves.map((curve) => curve.name);
  const peaks = curves.map((curve) => Math.max(...curve.points.map(([, bytes]) => bytes)));
  return {
    title: 'Memory over time',
    summary: curves.map((curve, i) => `${curve.name}: up to ${withUnit(peaks[i]!, 'bytes')}`).join('; '),
    height: (width) => HEIGHT + legendHeight(names, width),
    option: (colors, width): ChartOption => ({
      legend: legend(names, colors, width),
      grid: { left: 72, right: 24, top: legendHeight(names, width) + 6, bottom: 48 },
      dataZoom: [closerLook()],
      xAxis: {
        type: 'value',
        min: 'dataMin',
        max: 'dataMax',
        name: 'since the first GPU op',
        nameLocation: 'middle',
        nameGap: 28,
        nameTextStyle: { color: colors.muted },
        axisLine: { lineStyle: { color: colors.line } },
        axisLabel: { color: colors.muted, hideOverlap: true, formatter: (value: number) => roundValue(value, 'ns') },
        splitLine: { show: false },
      },
      yAxis: {
        type: 'value',
        splitNumber: 4,
        axisLine: { show: false }, // it would be at the start of the first op
        axisTick: { show: false },
        axisLabel: { color: colors.muted, formatter: (value: number) => roundValue(value, 'bytes') },
        splitLine: { lineStyle: { color: colors.line } },
      },
      tooltip: {
        trigger: 'axis',
        formatter: (items: unknown) => {
          const shown = items as { seriesName: string; value: [number, number] }[];
          const lines = shown.map(({ seriesName, value }) => `${label(seriesName)}: ${withUnit(value[1], 'bytes')}`);
          return [`at ${withUnit(shown[0]?.value[0] ?? 0, 'ns')}`, ...lines].join('\n');
        },
      },
      series: curves.map((curve) => ({
        type: 'line' as const,
        name: label(curve.name),
        step: 'end' as const,
        showSymbol: false,
        lineStyle: { width: 1.5, color: curve.color },
        itemStyle: { color: curve.color },
        ...(curve.isFilled ? { areaStyle: { color: curve.color, opacity: 0.18 } } : {}),
        data: curve.points.map((point) => [...point]),
      })),
    }),
  };
}
