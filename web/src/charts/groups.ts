// Bars of several inputs side by side, a group for each name.

import { closerLook, label, legend, legendHeight, type Chart, type ChartOption } from '../chart';
import type { Unit } from '../data';
import { shorten } from '../dom';
import { withUnit } from '../format';
import { textWidth } from '../room';
import { nameAxis, nameRoom, valueAxis, type Part, type Stack } from './bars';

const BAR_PIXELS = 15;
const GROUP_GAP = 12;

export interface Group extends Stack {
  readonly detail?: string; // the name in full
}

export function groupChart(title: string, parts: readonly Part[], groups: readonly Group[], unit: Unit): Chart {
  const names = groups.map((group) => group.name);
  const partNames = parts.map((part) => part.name);
  const text = (value: number): string => (value === 0 ? '' : withUnit(value, unit));
  const valueRoom = Math.max(...groups.flatMap((group) => group.values.map((value) => textWidth(text(value))))) + 10;
  const said = (group: Group): string[] => partNames.map((name, p) => `${name} ${withUnit(group.values[p]!, unit)}`);
  return {
    title,
    summary: groups.map((group) => `${shorten(group.name, 60)}: ${said(group).join(', ')}`).join('; '),
    height: (width) => groups.length * (parts.length * BAR_PIXELS + GROUP_GAP) + legendHeight(partNames, width) + 40,
    option: (colors, width): ChartOption => ({
      legend: legend(partNames, colors, width),
      grid: {
        left: nameRoom(names, width) + 14,
        right: valueRoom,
        top: legendHeight(partNames, width),
        bottom: 32,
      },
      xAxis: valueAxis(colors, unit, width - 300),
      yAxis: nameAxis(names, colors, nameRoom(names, width)),
      dataZoom: [closerLook()],
      tooltip: {
        formatter: (item: unknown) => {
          const group = groups[(item as { dataIndex: number }).dataIndex];
          if (!group) return '';
          return [shorten(group.detail ?? group.name, 90), ...said(group)].map(label).join('\n');
        },
      },
      series: parts.map((part, p) => ({
        type: 'bar' as const,
        name: label(part.name),
        barGap: '8%',
        barCategoryGap: GROUP_GAP,
        itemStyle: { color: part.color, borderRadius: [0, 2, 2, 0] },
        data: groups.map((group) => group.values[p]!),
        label: {
          show: true,
          position: 'right',
          color: colors.muted,
          formatter: (item: { dataIndex: number }) => text(groups[item.dataIndex]?.values[p] ?? 0),
        },
      })),
    }),
  };
}
