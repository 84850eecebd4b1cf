// Upright bars side by side or stacked, with an axis for each unit: histograms and steps.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import { shorten } from '../dom';
import { roundValue, withUnit } from '../format';
import type { Unit } from '../data';

export interface Series {
  readonly name: string;
  readonly color: string;
  readonly unit: Unit;
  readonly values: readonly number[];
}

export interface ColumnOptions {
  readonly stacked?: boolean;
  readonly axis?: string; // what the places are
}

const HEIGHT = 246; // below the legend
const MOST_AT_ONCE = 80;

function zoom(count: number): object[] {
  const slider = { type: 'slider', bottom: 4, height: 18, startValue: 0, endValue: MOST_AT_ONCE - 1 };
  return count <= MOST_AT_ONCE ? [closerLook()] : [closerLook(), slider];
}

export function columnChart(
  title: string,
  places: readonly string[],
  series: readonly Series[],
  options: ColumnOptions,
): Chart {
  const units = [...new Set(series.map((each) => each.unit))];
  const names = series.map((each) => each.name);
  return {
    title,
    summary: series.map((each) => `${each.name}: ${each.values.length} values`).join('; '),
    height: (width) => HEIGHT + legendHeight(names, width),
    option: (colors, width): ChartOption => ({
      legend: legend(names, colors, width),
      grid: {
        left: 64,
        right: units.length > 1 ? 72 : 16,
        top: legendHeight(names, width) + 6,
        bottom: places.length > MOST_AT_ONCE ? 78 : 48,
      },
      dataZoom: zoom(places.length),
      xAxis: {
        type: 'category',
        data: places.map((place) => label(place)),
        name: options.axis ?? '',
        nameLocation: 'middle',
        nameGap: 28,
        nameTextStyle: { color: colors.muted },
        axisTick: { show: false },
        axisLine: { lineStyle: { color: colors.line } },
        axisLabel: { color: colors.muted, hideOverlap: true, formatter: (place: string) => shorten(place, 18) },
      },
      yAxis: units.map((unit, index) => ({
        type: 'value' as const,
        splitNumber: 4,
        axisLabel: { color: colors.muted, formatter: (value: number) => roundValue(value, unit) },
        splitLine: { show: index === 0, lineStyle: { color: colors.line } },
      })),
      tooltip: {
        trigger: 'axis',
        axisPointer: { type: 'shadow' },
        formatter: (items: unknown) => {
          const { dataIndex } = (items as { dataIndex: number }[])[0] ?? { dataIndex: 0 };
          const lines = series.map(
            (each) => `${label(shorten(each.name, 60))}: ${withUnit(each.values[dataIndex] ?? 0, each.unit)}`,
          );
          return [label(shorten(places[dataIndex] ?? '', 80)), ...lines].join('\n');
        },
      },
      series: series.map((each) => ({
        type: 'bar' as const,
        name: label(each.name),
        yAxisIndex: units.indexOf(each.unit),
        ...(options.stacked ? { stack: 'all' } : {}),
        barMaxWidth: 40,
        barCategoryGap: '20%',
        itemStyle: { color: each.color },
        data: [...each.values],
      })),
    }),
  };
}
