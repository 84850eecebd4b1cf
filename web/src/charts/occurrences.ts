// One kernel: how its durations are distributed, and each of them over time.

import { closerLook, type Chart, type ChartOption } from '../chart';
import { roundValue, withUnit } from '../format';
import type { Occurrence } from '../occurrences';
import { colorAt } from '../theme';
import { columnChart } from './columns';

const BINS = 32;
const WIDE = 20; // times the shortest: durations further apart are seen on a logarithmic scale

export function durationsChart(list: readonly Occurrence[], color: string): Chart | null {
  if (list.length < 2) return null;
  const lengths = list.map(({ length }) => length);
  const least = lengths.reduce((a, b) => Math.min(a, b), Infinity);
  const most = lengths.reduce((a, b) => Math.max(a, b), 0);
  const isLog = least > 0 && most / least > WIDE;
  const scale = isLog ? Math.log : (value: number): number => value;
  const back = isLog ? Math.exp : (value: number): number => value;
  const [from, to] = [scale(least), scale(most)];
  const bins = most === least ? 1 : Math.min(BINS, Math.max(8, Math.ceil(Math.sqrt(list.length))));
  const counts = Array.from({ length: bins }, () => 0);
  for (const length of lengths) {
    const place = to > from ? Math.floor(((scale(length) - from) / (to - from)) * bins) : 0;
    counts[Math.min(place, bins - 1)]! += 1;
  }
  const edge = (place: number): string => roundValue(back(from + ((to - from) * place) / bins), 'ns');
  const places = counts.map((_, place) => (bins === 1 ? edge(0) : `${edge(place)} to ${edge(place + 1)}`));
  const series = [{ name: 'launches', color, unit: 'count' as const, values: counts }];
  return {
    ...columnChart('Distribution of durations', places, series, { axis: isLog ? 'duration, logarithmic' : 'duration' }),
    summary: `${list.length} durations from ${withUnit(least, 'ns')} to ${withUnit(most, 'ns')}`,
  };
}

export function overTimeChart(list: readonly Occurrence[], go: (occurrence: Occurrence) => void): Chart | null {
  if (list.length === 0) return null;
  const whose = (each: Occurrence): string => `GPU ${each.device ?? '?'} stream ${each.stream ?? '?'}`;
  const groups = new Map<string, Occurrence[]>();
  for (const each of list) {
    const group = groups.get(whose(each));
    if (group) group.push(each);
    else groups.set(whose(each), [each]);
  }
  const names = [...groups.keys()];
  return {
    title: 'Durations over time',
    summary: `${list.length} launches on ${names.slice(0, 8).join(', ')}`,
    note: 'A click on a point goes to the timeline.',
    height: () => 260,
    press: (item) => {
      const found = groups.get(names[item.seriesIndex] ?? '')?.[item.dataIndex];
      if (found) go(found);
    },
    option: (colors): ChartOption => ({
      grid: { left: 72, right: 24, top: 10, bottom: 48 },
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
        axisLine: { show: false },
        axisLabel: { color: colors.muted, formatter: (value: number) => roundValue(value, 'ns') },
        splitLine: { lineStyle: { color: colors.line } },
      },
      tooltip: {
        formatter: (item: unknown) => {
          const { seriesIndex, value } = item as { seriesIndex: number; value: [number, number] };
          return `${withUnit(value[1], 'ns')} at ${withUnit(value[0], 'ns')}\n${names[seriesIndex] ?? ''}`;
        },
      },
      series: [...groups].map(([name, group], place) => ({
        type: 'scatter' as const,
        name,
        symbolSize: 6,
        large: group.length > 2000,
        itemStyle: { color: colorAt(place + 4), opacity: 0.75 },
        data: group.map(({ start, length }) => [start, length]),
      })),
    }),
  };
}
