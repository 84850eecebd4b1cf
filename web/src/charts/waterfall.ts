// Where the span of a GPU went, against ideal kernels: each part begins where the one before ends, and the last at the span.

import { closerLook, label, listControl, type Chart, type ChartOption } from '../chart';
import { deviceName, hasColumns, numbers, reader, type Row, type Table } from '../data';
import { percent, withUnit } from '../format';
import { textWidth } from '../room';
import { colorOf } from '../theme';
import { nameAxis, nameRoom, stackChart, valueAxis } from './bars';

const BAR_PIXELS = 26;
const NARROW = 500; // pixels: room for shares alone
const MOST_KEYS = 8; // of a part; the rest is one bar

/** As the table has them, in this order. */
const PARTS = [
  ['ideal', 'ideal'],
  ['inefficiency', 'inefficiency'],
  ['unmodelled', 'unmodelled'],
  ['exposed_comm', 'exposed communication'],
  ['exposed_memory', 'exposed memory'],
  ['idle', 'idle'],
] as const;

interface Segment {
  readonly name: string;
  readonly ns: number;
  readonly color: string;
}

interface Bar {
  readonly name: string;
  readonly from: number;
  readonly segments: readonly Segment[];
}

interface Fall {
  readonly name: string;
  readonly parts: ReadonlyMap<string, readonly Segment[]>; // by part, the largest first
  readonly span: number;
}

function colorIn(part: string, key: string): string {
  const hasKinds = part === 'ideal' || part === 'inefficiency' || part === 'idle';
  return colorOf(hasKinds && key !== '' ? key : part);
}

function fallsOf(table: Table): Fall[] {
  const [basis, part, key] = ['basis', 'part', 'key'].map((name) => reader(table, name));
  const ns = numbers(table, 'ns');
  const device = deviceName(table);
  const groups = new Map<string, Row[]>();
  for (const row of table.rows) {
    const name = `${device(row)} \u00b7 by ${basis!(row) === 'counter' ? 'counters' : String(basis!(row))}`;
    const rows = groups.get(name);
    if (rows) rows.push(row);
    else groups.set(name, [row]);
  }
  return [...groups].map(([name, rows]) => {
    const parts = new Map<string, Segment[]>(PARTS.map(([each]) => [each, []]));
    for (const row of rows) {
      const [ofPart, ofKey] = [String(part!(row)), String(key!(row) ?? '')];
      if (ns(row) > 0) parts.get(ofPart)?.push({ name: ofKey, ns: ns(row), color: colorIn(ofPart, ofKey) });
    }
    for (const segments of parts.values()) segments.sort((a, b) => b.ns - a.ns);
    return { name, parts, span: rows.reduce((sum, row) => sum + ns(row), 0) };
  });
}

const sumOf = (segments: readonly Segment[]): number => segments.reduce((sum, { ns }) => sum + ns, 0);

function joinRest(segments: readonly Segment[]): Segment[] {
  if (segments.length <= MOST_KEYS) return [...segments];
  const rest = segments.slice(MOST_KEYS - 1);
  const name = `${rest.length} others`;
  return [...segments.slice(0, MOST_KEYS - 1), { name, ns: sumOf(rest), color: colorOf('other') }];
}

/** Ideal time is one bar of all families; what is above it has a bar for each. */
function barsOf({ parts, span }: Fall): Bar[] {
  const bars: Bar[] = [];
  let from = 0;
  for (const [part, word] of PARTS) {
    const segments = joinRest(parts.get(part)!);
    const groups = part === 'ideal' ? [segments] : segments.map((segment) => [segment]);
    for (const group of groups.filter((each) => each.length > 0)) {
      const name = part === 'ideal' || group[0]!.name === '' ? word : `${word} \u00b7 ${group[0]!.name}`;
      bars.push({ name, from, segments: group });
      from += sumOf(group);
    }
  }
  return [...bars, { name: 'span', from: 0, segments: [{ name: '', ns: span, color: colorOf('end') }] }];
}

function cascade(fall: Fall): Chart {
  const bars = barsOf(fall);
  const names = bars.map(({ name }) => name);
  const most = Math.max(...bars.map(({ segments }) => segments.length));
  const said = (ns: number): string => `${withUnit(ns, 'ns')} \u00b7 ${percent(fall.span ? ns / fall.span : 0)}`;
  const texts = bars.map(({ segments }) => said(sumOf(segments)));
  const written = (bar: number, width: number): string =>
    width < NARROW ? texts[bar]!.split(' \u00b7 ')[1]! : texts[bar]!;
  const room = (width: number): number => Math.max(...texts.map((_, bar) => textWidth(written(bar, width)))) + 10;
  return {
    title: `Waterfall of ${fall.name}`,
    summary: bars.map(({ name }, b) => `${name} ${texts[b]}`).join('; '),
    height: () => bars.length * BAR_PIXELS + 40,
    option: (colors, width): ChartOption => ({
      grid: { left: nameRoom(names, width) + 14, right: room(width), top: 4, bottom: 32 },
      xAxis: { ...valueAxis(colors, 'ns', width - 300), max: fall.span },
      yAxis: nameAxis(names, colors, nameRoom(names, width)),
      dataZoom: [closerLook()],
      tooltip: {
        formatter: (item: unknown) => {
          const { dataIndex, seriesIndex } = item as { dataIndex: number; seriesIndex: number };
          const bar = bars[dataIndex];
          const segment = bar?.segments[seriesIndex - 1];
          if (!bar || !segment) return '';
          const own = bar.segments.length > 1 ? ` \u00b7 ${segment.name}` : '';
          const whole = bar.segments.length > 1 ? `\n${bar.name} in all: ${texts[dataIndex]}` : '';
          return `${label(bar.name + own)}\n${said(segment.ns)} of the span${label(whole)}`;
        },
      },
      series: [
        {
          type: 'bar' as const,
          stack: 'all',
          silent: true,
          itemStyle: { color: 'transparent' },
          data: bars.map(({ from }) => from),
        },
        ...Array.from({ length: most }, (_, s) => ({
          type: 'bar' as const,
          stack: 'all',
          barCategoryGap: '28%',
          data: bars.map(({ segments }) => ({
            value: segments[s]?.ns ?? 0,
            itemStyle: { color: segments[s]?.color ?? 'transparent' },
            label: { show: s === segments.length - 1 },
          })),
          label: {
            position: 'right' as const,
            color: colors.muted,
            formatter: (item: { dataIndex: number }) => written(item.dataIndex, width),
          },
        })),
      ],
    }),
  };
}

export function waterfallChart(table: Table): Chart | null {
  if (!hasColumns(table, 'device', 'basis', 'part', 'key', 'ns')) return null;
  const falls = fallsOf(table).filter(({ span }) => span > 0);
  if (falls.length === 0) return null;
  const each = falls.map((fall) => [fall.name, cascade(fall)] as const);
  if (falls.length === 1) return each[0]![1];
  const used = PARTS.filter(([part]) => falls.some(({ parts }) => parts.get(part)!.length > 0));
  const parts = used.map(([part, name]) => ({ name, color: colorOf(part) }));
  const stacks = falls.map(({ name, parts: of }) => ({ name, values: used.map(([part]) => sumOf(of.get(part)!)) }));
  const title = 'Where the span of each GPU went';
  const all = {
    ...stackChart(title, parts, stacks, { unit: 'ns' }),
    other: stackChart(`${title}, shares`, parts, stacks, { unit: 'ns', isShare: true }),
  };
  return listControl('Waterfall', [['All GPUs', all], ...each]);
}
