// Upright bars side by side or stacked, with an axis for each unit: histograms and steps.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import { shorten } from '../dom';
import { percent, roundValue, withUnit } from '../format';
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
  readonly ofColumn?: boolean; // values are parts of their column, and have a share of it
  readonly atOnce?: number; // places before there is a slider
}

const HEIGHT = 246; // below the legend
const MOST_AT_ONCE = 80;
const DENSE = 100; // gaps between so many would be a pattern of their own

function zoom(count: number, atOnce: number): object[] {
  const slider = { type: 'slider', bottom: 4, height: 18, startValue: 0, endValue: atOnce - 1 };
  return count <= atOnce ? [closerLook()] : [closerLook(), slider];
}

export function columnChart(
  title: string,
  places: readonly string[],
  series: readonly Series[],
  options: ColumnOptions,
): Chart {
  const units = [...new Set(series.map((each) => each.unit))];
  const names = series.map((each) => each.name);
  const atOnce = options.atOnce ?? MOST_AT_ONCE;
  const whole = (place: number): number => series.reduce((sum, each) => sum + (each.values[place] ?? 0), 0);
  const said = (each: Series, place: number): string => {
    const value = each.values[place] ?? 0;
    const share = options.ofColumn ? ` (${percent(value / (whole(place) || 1))})` : '';
    return `${label(shorten(each.name, 60))}: ${withUnit(value, each.unit)}${share}`;
  };
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
        bottom: places.length > atOnce ? 78 : 48,
      },
      dataZoom: zoom(places.length, atOnce),
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
        ...(options.stacked && unit === 'share' ? { max: 1, interval: 0.25 } : {}),
        axisLabel: { color: colors.muted, formatter: (value: number) => roundValue(value, unit) },
        splitLine: { show: index === 0, lineStyle: { color: colors.line } },
      })),
      tooltip: {
        trigger: 'axis',
        axisPointer: { type: 'shadow' },
        formatter: (items: unknown) => {
          const { dataIndex } = (items as { dataIndex: number }[])[0] ?? { dataIndex: 0 };
          const place = options.stacked && options.axis ? `${options.axis} ${places[dataIndex]}` : places[dataIndex];
          return [label(shorten(place ?? '', 80)), ...series.map((each) => said(each, dataIndex))].join('\n');
        },
      },
      series: series.map((each) => ({
        type: 'bar' as const,
        name: label(each.name),
        yAxisIndex: units.indexOf(each.unit),
        ...(options.stacked ? { stack: 'all' } : {}),
        barMaxWidth: 40,
        barCategoryGap: Math.min(places.length, atOnce) > DENSE ? 0 : '20%',
        itemStyle: { color: each.color },
        data: [...each.values],
      })),
    }),
  };
}
