// Horizontal bars with their values: one for each name, or parts stacked for each of several.

import { closerLook, label, legend, type Chart, type ChartOption } from '../chart';
import { shorten } from '../dom';
import { percent, roundValue, withUnit } from '../format';
import type { Unit } from '../data';
import { inkOn, type Ink } from '../theme';

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly color: string;
  readonly share?: number;
  readonly note?: string;
  readonly detail?: string; // the name in full
}

export interface Stack {
  readonly name: string;
  readonly values: readonly number[]; // by part
}

export interface Part {
  readonly name: string;
  readonly color: string;
}

const BAR_PIXELS = 26;
const STACK_PIXELS = 42;
const MOST_AT_ONCE = 24;

export function nameRoom(names: readonly string[], width: number): number {
  const longest = Math.max(...names.map((name) => Math.min(name.length, 60)), 3);
  return Math.round(Math.min(longest * 7 + 8, width * 0.4));
}

export function nameAxis(names: readonly string[], colors: Ink, room: number): object {
  return {
    type: 'category',
    inverse: true,
    data: names.map((_, index) => index),
    axisTick: { show: false },
    axisLine: { lineStyle: { color: colors.line } },
    axisLabel: {
      color: colors.text,
      interval: 0,
      width: room,
      overflow: 'truncate',
      formatter: (index: string) => label(shorten(names[Number(index)] ?? '', Math.max(8, Math.floor(room / 6.6)))),
    },
  };
}

function valueAxis(colors: Ink, unit: Unit, width: number): object {
  return {
    type: 'value',
    splitNumber: width < 500 ? 3 : 5,
    axisLabel: { color: colors.muted, hideOverlap: true, formatter: (value: number) => roundValue(value, unit) },
    splitLine: { lineStyle: { color: colors.line } },
  };
}

/** Values can be looked at closer; beside the names is a slider where there are too many to read at once. */
function zoom(count: number): object[] {
  const slider = { type: 'slider', yAxisIndex: 0, right: 4, width: 14, startValue: 0, endValue: MOST_AT_ONCE - 1 };
  return count <= MOST_AT_ONCE ? [closerLook()] : [closerLook(), slider];
}

function chartHeight(count: number, bar: number, above: number): number {
  return Math.min(count, MOST_AT_ONCE) * bar + above + 40;
}

export function barChart(title: string, bars: readonly Bar[], unit: Unit, of?: string): Chart {
  const names = bars.map((bar) => bar.name);
  const text = (bar: Bar): string =>
    bar.share === undefined ? withUnit(bar.value, unit) : `${withUnit(bar.value, unit)} \u00b7 ${percent(bar.share)}`;
  return {
    title,
    summary: bars
      .slice(0, 12)
      .map((bar) => `${shorten(bar.name, 60)} ${text(bar)}`)
      .join('; '),
    height: () => chartHeight(bars.length, BAR_PIXELS, 8),
    option: (colors, width): ChartOption => ({
      grid: { left: nameRoom(names, width) + 14, right: 124, top: 8, bottom: 32 },
      xAxis: valueAxis(colors, unit, width - 300),
      yAxis: nameAxis(names, colors, nameRoom(names, width)),
      dataZoom: zoom(bars.length),
      tooltip: {
        formatter: (item: unknown) => {
          const bar = bars[(item as { dataIndex: number }).dataIndex];
          if (!bar) return '';
          const share = bar.share === undefined || !of ? '' : `\n${percent(bar.share)} of ${of}`;
          return (
            label(shorten(bar.detail ?? bar.name, 90)) +
            `\n${withUnit(bar.value, unit)}${share}${bar.note ? `\n${bar.note}` : ''}`
          );
        },
      },
      series: [
        {
          type: 'bar',
          barCategoryGap: '28%',
          data: bars.map((bar) => ({ value: bar.value, itemStyle: { color: bar.color, borderRadius: [0, 2, 2, 0] } })),
          label: {
            show: true,
            position: 'right',
            color: colors.muted,
            formatter: (item: { dataIndex: number }) => text(bars[item.dataIndex]!),
          },
        },
      ],
    }),
  };
}

const LEGEND_PIXELS = 34;

export interface StackOptions {
  readonly unit: Unit;
  readonly isShare?: boolean; // bars are as long as the axis: parts of a whole
}

export function stackChart(
  title: string,
  parts: readonly Part[],
  stacks: readonly Stack[],
  { unit, isShare = false }: StackOptions,
): Chart {
  const names = stacks.map((stack) => stack.name);
  const totals = stacks.map((stack) => stack.values.reduce((sum, value) => sum + value, 0));
  const share = (stack: number, value: number): number => (totals[stack] ? value / totals[stack]! : 0);
  const said = (stack: number, value: number): string => `${withUnit(value, unit)} (${percent(share(stack, value))})`;
  return {
    title,
    summary: stacks
      .slice(0, 16)
      .map(
        (stack, s) =>
          `${stack.name}: ${parts.map((part, p) => `${part.name} ${said(s, stack.values[p]!)}`).join(', ')}`,
      )
      .join('; '),
    height: () => chartHeight(stacks.length, STACK_PIXELS, LEGEND_PIXELS),
    option: (colors, width): ChartOption => ({
      legend: legend(
        parts.map((part) => part.name),
        colors,
      ),
      grid: { left: nameRoom(names, width) + 14, right: 24, top: LEGEND_PIXELS, bottom: 32 },
      xAxis: isShare ? { ...valueAxis(colors, 'share', width), max: 1 } : valueAxis(colors, unit, width - 100),
      yAxis: nameAxis(names, colors, nameRoom(names, width)),
      dataZoom: zoom(stacks.length),
      tooltip: {
        formatter: (item: unknown) => {
          const { dataIndex, seriesIndex } = item as { dataIndex: number; seriesIndex: number };
          const value = stacks[dataIndex]?.values[seriesIndex] ?? 0;
          return `${label(shorten(names[dataIndex] ?? '', 80))}\n${label(parts[seriesIndex]?.name ?? '')}: ${said(dataIndex, value)}`;
        },
      },
      series: parts.map((part, p) => ({
        type: 'bar' as const,
        name: label(part.name),
        stack: 'all',
        barMaxWidth: 34,
        barCategoryGap: '25%',
        itemStyle: { color: part.color, borderColor: colors.panel, borderWidth: 0.5 },
        data: stacks.map((stack, s) => (isShare ? share(s, stack.values[p]!) : stack.values[p]!)),
        label: segmentLabel(stacks, totals, p, part.color, width - nameRoom(names, width) - 120, unit, isShare),
      })),
    }),
  };
}

/** A value inside its segment where there is room for it. */
function segmentLabel(
  stacks: readonly Stack[],
  totals: readonly number[],
  part: number,
  color: string,
  room: number,
  unit: Unit,
  isShare: boolean,
): object {
  const most = Math.max(...totals, 1);
  return {
    show: true,
    color: inkOn(color),
    formatter: (item: { dataIndex: number }) => {
      const value = stacks[item.dataIndex]?.values[part] ?? 0;
      const whole = isShare ? totals[item.dataIndex]! : most;
      const text = isShare ? percent(value / (whole || 1)) : withUnit(value, unit);
      return (value / (whole || 1)) * room > text.length * 7 + 6 ? text : '';
    },
  };
}
