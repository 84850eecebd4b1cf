// From one side of a comparison to the other: what each category of GPU work and each cause of idle time added or took.

import { directionOf, judge } from '../better';
import { closerLook, label, type Chart, type ChartOption } from '../chart';
import { hasColumns, numbers, reader, type Report, type Table } from '../data';
import { percent, withUnit } from '../format';
import { textWidth } from '../room';
import { colorOf } from '../theme';
import { nameAxis, nameRoom, valueAxis } from './bars';

const BAR_PIXELS = 26;
const MOST = 10; // changes; the rest is one bar
const SEEN = 0.001; // of the span: less is no change

interface Change {
  readonly name: string;
  readonly ns: number;
}

interface Fall {
  readonly before: number;
  readonly after: number;
  readonly changes: readonly Change[];
}

function changesOf(table: Table | undefined, name: string, value: string, words: (name: string) => string): Change[] {
  if (!table || !hasColumns(table, name, `a_${value}`, `b_${value}`)) return [];
  const sums = new Map<string, number>();
  const [nameOf, a, b] = [reader(table, name), numbers(table, `a_${value}`), numbers(table, `b_${value}`)];
  for (const row of table.rows) {
    const key = words(String(nameOf(row)));
    sums.set(key, (sums.get(key) ?? 0) + b(row) - a(row));
  }
  return [...sums].map(([key, ns]) => ({ name: key, ns }));
}

function fallOf(report: Report): Fall | null {
  const spans = report.tables['accounting'];
  if (!spans || !hasColumns(spans, 'a_span_ns', 'b_span_ns')) return null;
  const sum = (key: string): number => spans.rows.reduce((all, row) => all + numbers(spans, key)(row), 0);
  const gpus = Math.max(1, spans.rows.length);
  const [before, after] = [sum('a_span_ns') / gpus, sum('b_span_ns') / gpus];
  const all = [
    ...changesOf(report.tables['categories'], 'category', 'wall_ns', (name) => name),
    ...changesOf(report.tables['idle_causes'], 'cause', 'total_ns', (name) => `idle: ${name}`),
  ].map(({ name, ns }) => ({ name, ns: ns / gpus }));
  const seen = all.filter(({ ns }) => Math.abs(ns) > Math.max(before, after) * SEEN);
  const largest = seen.sort((x, y) => Math.abs(y.ns) - Math.abs(x.ns)).slice(0, MOST);
  const rest = after - before - largest.reduce((total, { ns }) => total + ns, 0);
  const changes = Math.abs(rest) > 0.5 ? [...largest, { name: 'the rest', ns: rest }] : largest;
  return before > 0 || after > 0 ? { before, after, changes } : null;
}

const signed = (ns: number): string => `${ns > 0 ? '+' : '\u2212'}${withUnit(Math.abs(ns), 'ns')}`;

export function changeChart(report: Report, sides: readonly [string, string]): Chart | null {
  const fall = fallOf(report);
  if (!fall) return null;
  let at = fall.before;
  const bars = [
    { name: sides[0], from: 0, ns: fall.before, text: withUnit(fall.before, 'ns'), isSide: true },
    ...fall.changes.map(({ name, ns }) => {
      const from = Math.min(at, at + ns);
      at += ns;
      return { name, from, ns, text: signed(ns), isSide: false };
    }),
    { name: sides[1], from: 0, ns: fall.after, text: withUnit(fall.after, 'ns'), isSide: true },
  ];
  const names = bars.map(({ name }) => name);
  const room = Math.max(...bars.map(({ text }) => textWidth(text))) + 10;
  const change = fall.before > 0 ? ` (${percent(fall.after / fall.before - 1)})` : '';
  return {
    title: `Change of the GPU span: ${signed(fall.after - fall.before)}${change}`,
    summary: bars.map(({ name, text }) => `${name} ${text}`).join('; '),
    height: () => bars.length * BAR_PIXELS + 40,
    option: (colors, width): ChartOption => {
      const tone = { better: colors.better, worse: colors.worse, changed: colors.muted };
      return {
        grid: { left: nameRoom(names, width) + 14, right: room, top: 4, bottom: 32 },
        xAxis: valueAxis(colors, 'ns', width - 300),
        yAxis: nameAxis(names, colors, nameRoom(names, width)),
        dataZoom: [closerLook()],
        tooltip: {
          formatter: (item: unknown) => {
            const bar = bars[(item as { dataIndex: number }).dataIndex];
            return bar ? `${label(bar.name)}\n${bar.text}` : '';
          },
        },
        series: [
          {
            type: 'bar',
            stack: 'all',
            silent: true,
            itemStyle: { color: 'transparent' },
            data: bars.map(({ from }) => from),
          },
          {
            type: 'bar',
            stack: 'all',
            barCategoryGap: '28%',
            data: bars.map(({ ns, isSide }) => ({
              value: Math.abs(ns),
              itemStyle: { color: isSide ? colorOf('idle') : tone[judge(directionOf('span'), ns)] },
            })),
            label: {
              show: true,
              position: 'right',
              color: colors.muted,
              formatter: (item: { dataIndex: number }) => bars[item.dataIndex]!.text,
            },
          },
        ],
      };
    },
  };
}
