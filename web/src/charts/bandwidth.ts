// Bus bandwidth of collectives by their size, against the bandwidth of the link if that is given.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import { hasColumns, numberOf, reader, type Report, type Row, type Table } from '../data';
import { element, shorten } from '../dom';
import { decimal, powerAbove, powerBelow, roundValue, withUnit } from '../format';
import { colorAt, type Ink } from '../theme';

const HEIGHT = 286; // below the legend
const MOST_GROUPS = 12; // with a colour each; more are joined by their description
const MOST_POINTS = 6000; // more are not drawn one by one but as one picture

interface Point {
  readonly bytes: number;
  readonly gbs: number;
  readonly row: Row;
}

interface Series {
  readonly name: string;
  readonly color: string;
  readonly points: readonly Point[];
}

export const gbsText = (gbs: number): string => `${decimal(gbs, gbs >= 100 ? 0 : gbs >= 10 ? 1 : 2)} GB/s`;

/** What a group is called: its description and members. Of many, the description alone. */
function groupNames(groups: Table | undefined, isShort: boolean): (group: string) => string {
  const known = new Map<string, string>();
  if (groups) {
    const [number, description, members] = ['group', 'desc', 'members'].map((key) => reader(groups, key));
    for (const row of groups.rows) {
      const called = description!(row);
      const words = [
        isShort ? null : `group ${String(number!(row))}`,
        called,
        isShort ? null : `ranks ${String(members!(row))}`,
      ];
      known.set(String(number!(row)), words.filter((word) => word !== null && word !== '').join(' \u00b7 '));
    }
  }
  return (group) => known.get(group) || (isShort ? 'groups without a description' : `group ${group}`);
}

function seriesOf(table: Table, groups: Table | undefined): Series[] {
  const [group, bytes, rate] = ['group', 'bytes', 'busbw_gbs'].map((key) => reader(table, key));
  const rows = table.rows.filter((row) => numberOf(bytes!(row)) > 0 && typeof rate!(row) === 'number');
  const count = new Set(rows.map(group!)).size;
  const nameOf = groupNames(groups, count > MOST_GROUPS);
  const found = new Map<string, Point[]>();
  for (const row of rows) {
    const name = nameOf(String(group!(row)));
    const points = found.get(name) ?? [];
    found.set(name, points);
    points.push({ bytes: numberOf(bytes!(row)), gbs: numberOf(rate!(row)), row });
  }
  return [...found].map(([name, points], place) => ({ name, color: colorAt(place), points }));
}

/** The median at each size. */
function medians(points: readonly Point[]): [number, number][] {
  const bySize = new Map<number, number[]>();
  for (const { bytes, gbs } of points) {
    const rates = bySize.get(bytes);
    if (rates) rates.push(gbs);
    else bySize.set(bytes, [gbs]);
  }
  return [...bySize]
    .sort(([a], [b]) => a - b)
    .map(([bytes, rates]) => [bytes, rates.sort((a, b) => a - b)[(rates.length - 1) >> 1]!]);
}

/** Powers of ten around the sizes. */
function endsOf(sizes: readonly number[]): [number, number] {
  const low = powerBelow(sizes.reduce((least, bytes) => Math.min(least, bytes), Infinity));
  const high = powerAbove(sizes.reduce((most, bytes) => Math.max(most, bytes), 1));
  return [low, Math.max(high, 10 * low)];
}

function axes(colors: Ink, [min, max]: readonly [number, number]): Pick<ChartOption, 'xAxis' | 'yAxis'> {
  const named = { nameLocation: 'middle' as const, nameTextStyle: { color: colors.muted } };
  const line = { lineStyle: { color: colors.line } };
  return {
    xAxis: {
      type: 'log',
      min,
      max,
      name: 'size of the collective',
      nameGap: 28,
      ...named,
      axisLine: line,
      axisLabel: { color: colors.muted, hideOverlap: true, formatter: (value: number) => roundValue(value, 'bytes') },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'value',
      min: 0,
      name: 'bus bandwidth (GB/s)',
      nameGap: 44,
      ...named,
      splitNumber: 4,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: colors.muted, formatter: (value: number) => roundValue(value, 'count') },
      splitLine: line,
    },
  };
}

export function bandwidthChart(table: Table, report: Report, linkGbs: number | null = null): Chart | null {
  if (!hasColumns(table, 'group', 'op', 'bytes', 'busbw_gbs', 'transfer_ns')) return null;
  const series = seriesOf(table, report.tables['groups']);
  const count = series.reduce((sum, { points }) => sum + points.length, 0);
  if (count === 0) return null;
  const [op, ranks, step, transfer] = ['op', 'ranks', 'step', 'transfer_ns'].map((key) => reader(table, key));
  const lines = series.map(({ points }) => medians(points));
  const ends = endsOf(lines.flatMap((line) => line.map(([bytes]) => bytes)));
  const names = [...series.map(({ name }) => name), ...(linkGbs === null ? [] : ['link'])];
  const ofLink = (gbs: number): string =>
    linkGbs === null ? '' : `, ${decimal((100 * gbs) / linkGbs, 0)}% of the link`;
  const describe = (name: string, { row, bytes, gbs }: Point): string =>
    [
      `${label(String(op!(row)))} of ${withUnit(bytes, 'bytes')} on ${withUnit(numberOf(ranks!(row)), 'count')} ranks`,
      label(shorten(name, 90)),
      `${gbsText(gbs)}${ofLink(gbs)}`,
      `transfer ${withUnit(numberOf(transfer!(row)), 'ns')}${step!(row) === null ? '' : `, step ${String(step!(row))}`}`,
    ].join('\n');
  const fastest = series.map(({ name }, s) => {
    const [bytes, gbs] = lines[s]!.reduce((best, point) => (point[1] > best[1] ? point : best));
    return `${shorten(name, 60)} up to ${gbsText(gbs)} at ${withUnit(bytes, 'bytes')}${ofLink(gbs)}`;
  });
  return {
    title: 'Bus bandwidth of collectives by size',
    summary: `${count.toLocaleString('en-US')} collectives; medians: ${fastest.slice(0, 16).join('; ')}`,
    note: [
      'Lines are medians.',
      table.total_rows === undefined
        ? ''
        : `The page has ${table.rows.length.toLocaleString('en-US')} of ${table.total_rows.toLocaleString('en-US')} collectives, from everywhere.`,
    ].join(' '),
    controls: (show) => [linkControl(table, report, show)],
    height: (width) => HEIGHT + legendHeight(names, width),
    option: (colors, width): ChartOption => ({
      legend: legend(names, colors, width),
      grid: { left: 64, right: 24, top: legendHeight(names, width) + 6, bottom: 48 },
      dataZoom: [closerLook()],
      ...axes(colors, ends),
      tooltip: {
        formatter: (item: unknown) => {
          const { seriesIndex, dataIndex } = item as { seriesIndex: number; dataIndex: number };
          const { name, points } = series[seriesIndex] ?? {};
          const point = points?.[dataIndex];
          return name !== undefined && point ? describe(name, point) : '';
        },
      },
      series: [
        ...series.map(({ name, color, points }) => ({
          type: 'scatter' as const,
          name: label(name),
          symbolSize: 7,
          large: count > MOST_POINTS,
          itemStyle: { color, opacity: 0.55 },
          data: points.map(({ bytes, gbs }) => [bytes, gbs]),
        })),
        ...series.map(({ name, color }, s) => ({
          type: 'line' as const,
          name: label(name),
          silent: true,
          showSymbol: false,
          lineStyle: { width: 1.5, color },
          itemStyle: { color },
          data: lines[s]!,
        })),
        ...(linkGbs === null
          ? []
          : [
              {
                type: 'line' as const,
                name: 'link',
                silent: true,
                showSymbol: false,
                lineStyle: { width: 1.5, type: 'dashed' as const, color: colors.text },
                itemStyle: { color: colors.text },
                data: ends.map((bytes) => [bytes, linkGbs]),
              },
            ]),
      ],
    }),
  };
}

/** Traces do not say how fast a link is. */
function linkControl(table: Table, report: Report, show: (chart: Chart) => void): HTMLElement {
  const field = element('input', { type: 'number', min: 0, step: 'any', inputmode: 'decimal' });
  field.addEventListener('input', () => {
    const gbs = Number(field.value);
    const chart = bandwidthChart(table, report, gbs > 0 && Number.isFinite(gbs) ? gbs : null);
    if (chart) show(chart);
  });
  return element('label', { class: 'chart-field' }, 'Link, one way (GB/s)', field);
}
