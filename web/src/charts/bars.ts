// Horizontal bars with their values: one for each name, or parts stacked for each of several.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import { shorten } from '../dom';
import { percent, roundValue, withUnit } from '../format';
import type { Unit } from '../data';
import { fit, textWidth } from '../room';
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
  const longest = Math.max(...names.map((name) => textWidth(label(shorten(name, 60)))), 20);
  return Math.ceil(Math.min(longest, width * 0.4));
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
      formatter: (index: string) => fit(label(names[Number(index)] ?? ''), room),
    },
  };
}

export function valueAxis(colors: Ink, unit: Unit, width: number): object {
  return {
    type: 'value',
    splitNumber: width < 500 ? 3 : 5,
    ...(unit === 'share' ? {} : { minInterval: 1 }),
    axisLabel: { color: colors.muted, hideOverlap: true, formatter: (value: number) => roundValue(value, unit) },
    splitLine: { lineStyle: { color: colors.line } },
  };
}

/** Values can be zoomed; next to the names is a slider if there are too many to read at once. */
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
  const valueRoom = Math.max(...bars.map((bar) => textWidth(text(bar)))) + 8;
  return {
    title,
    summary: bars
      .slice(0, 12)
      .map((bar) => `${shorten(bar.name, 60)} ${text(bar)}`)
      .join('; '),
    height: () => chartHeight(bars.length, BAR_PIXELS, 8),
    option: (colors, width): ChartOption => ({
      grid: { left: nameRoom(names, width) + 14, right: valueRoom, top: 8, bottom: 32 },
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

const THIN = 4; // pixels: an edge would leave nothing of a thinner part

export interface StackOptions {
  readonly unit: Unit;
  readonly isShare?: boolean; // bars are as long as the axis: parts of a whole
  readonly whereSeen?: string; // for bars that are too short here
}

const NARROW = 500; // pixels: no room for words
const SEEN = 0.015; // of the longest bar: parts of a shorter one cannot be distinguished

/** Shown instead of bars that are too short to be seen. */
function wordsForShort(totals: readonly number[], unit: Unit, whereSeen: string | undefined, color: string): object[] {
  const most = Math.max(...totals);
  const text = (total: number): string =>
    total < most * SEEN ? [withUnit(total, unit), whereSeen].filter(Boolean).join(', ') : '';
  const label = {
    show: true,
    position: 'right',
    color,
    formatter: (item: { dataIndex: number }) => text(totals[item.dataIndex]!),
  };
  return [{ type: 'bar', stack: 'all', silent: true, data: totals.map(() => 0), label }];
}

export function stackChart(
  title: string,
  parts: readonly Part[],
  stacks: readonly Stack[],
  { unit, isShare = false, whereSeen }: StackOptions,
): Chart {
  const names = stacks.map((stack) => stack.name);
  const totals = stacks.map((stack) => stack.values.reduce((sum, value) => sum + value, 0));
  const share = (stack: number, value: number): number => (totals[stack] ? value / totals[stack]! : 0);
  const most = Math.max(...totals, 1);
  const partNames = parts.map((part) => part.name);
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
    height: (width) => chartHeight(stacks.length, STACK_PIXELS, legendHeight(partNames, width)),
    option: (colors, width): ChartOption => ({
      legend: legend(partNames, colors, width),
      grid: { left: nameRoom(names, width) + 14, right: 24, top: legendHeight(partNames, width), bottom: 32 },
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
      series: [
        ...parts.map((part, p) => ({
          type: 'bar' as const,
          name: label(part.name),
          stack: 'all',
          barMaxWidth: 34,
          barCategoryGap: '25%',
          itemStyle: { color: part.color, borderColor: colors.panel },
          data: stacks.map((stack, s) => {
            const value = stack.values[p]!;
            const pixels = (value / (isShare ? totals[s] || 1 : most)) * (width - nameRoom(names, width) - 40);
            const itemStyle = { borderWidth: pixels < THIN ? 0 : 0.5 };
            return { value: isShare ? share(s, value) : value, itemStyle };
          }),
          label: segmentLabel(stacks, totals, p, part.color, width - nameRoom(names, width) - 120, unit, isShare),
        })),
        ...(isShare ? [] : wordsForShort(totals, unit, width < NARROW ? undefined : whereSeen, colors.muted)),
      ],
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
