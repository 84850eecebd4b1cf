// Operators and kernels under the roofs of their GPU: FLOP/s over FLOPs per byte, both in powers of ten.

import { closerLook, label, legend, legendHeight, listControl, type Chart, type ChartOption } from '../chart';
import { deviceName, hasColumns, numberOf, numbers, reader, type Report, type Row, type Table } from '../data';
import { shorten } from '../dom';
import { decimal, percent, powerAbove, powerBelow, withUnit } from '../format';
import { textWidth } from '../room';
import { colorOf, type Ink } from '../theme';

const HEIGHT = 420; // below the legend
const LARGEST = 46; // pixels across: the point with most time
const SMALLEST = 5;
const TERA = 1e12;

interface Point {
  readonly name: string;
  readonly family: string;
  readonly unit: string | null;
  readonly intensity: number; // FLOPs per byte
  readonly rate: number; // FLOP/s
  readonly ns: number;
  readonly efficiency: number | null;
  readonly lost: number | null;
}

interface Roof {
  readonly unit: string;
  readonly peak: number; // FLOP/s
}

interface Limits {
  readonly roofs: readonly Roof[];
  readonly bandwidth: number; // bytes/s; 0: unknown
}

/** What a table has of each device: points with FLOPs, and the time of rows without. */
interface Found {
  readonly gpu: string; // its name
  readonly points: Point[];
  drawn: number; // ns
  all: number;
}

/** Columns by what they mean: operators and kernels call them differently. */
const SOURCES = [
  { table: 'op_efficiency', words: 'operators', name: 'op', detail: 'shape', time: 'total_ns' },
  { table: 'efficiency', words: 'kernels', name: 'name', detail: '', time: 'modelled_ns' },
] as const;

type Source = (typeof SOURCES)[number];

const UNITS = ['bf16', 'tf32', 'fp8', 'fp32'] as const;

/** One device of one input. */
function deviceKey(table: Table): (row: Row) => string {
  const [input, device] = [reader(table, 'input'), reader(table, 'device')];
  return (row) => JSON.stringify([input(row), device(row)]);
}

function pointsOf(table: Table, source: Source): Map<string, Found> {
  const [key, device] = [deviceKey(table), deviceName(table)];
  const [name, detail, family, unit, efficiency, lost] = [
    source.name,
    source.detail,
    'family',
    'unit',
    'efficiency',
    'lost_ns',
  ].map((key) => reader(table, key));
  const [flops, bytes, time, total] = ['flops', 'bytes', source.time, 'total_ns'].map((key) => numbers(table, key));
  const found = new Map<string, Found>();
  for (const row of table.rows) {
    const of = found.get(key(row)) ?? { gpu: device(row), points: [], drawn: 0, all: 0 };
    found.set(key(row), of);
    of.all += total!(row);
    if (flops!(row) <= 0 || bytes!(row) <= 0 || time!(row) <= 0) continue;
    of.drawn += total!(row);
    const more = detail!(row);
    of.points.push({
      name: `${String(name!(row))}${more === null || more === '' ? '' : ` ${String(more)}`}`,
      family: String(family!(row) ?? 'other'),
      unit: unit!(row) === null ? null : String(unit!(row)),
      intensity: flops!(row) / bytes!(row),
      rate: (flops!(row) / time!(row)) * 1e9,
      ns: time!(row),
      efficiency: efficiency!(row) === null ? null : numberOf(efficiency!(row)),
      lost: lost!(row) === null ? null : numberOf(lost!(row)),
    });
  }
  return found;
}

/** Roofs by the unit that does the work; where points do not say which, all that the GPU has. */
function limitsOf(peaks: Table | undefined, device: string, points: readonly Point[]): Limits {
  if (!peaks) return { roofs: [], bandwidth: 0 };
  const key = deviceKey(peaks);
  const row = peaks.rows.find((each) => key(each) === device);
  if (!row) return { roofs: [], bandwidth: 0 };
  const used = new Set(points.map(({ unit }) => unit));
  const roofs = UNITS.map((unit) => ({ unit, peak: numbers(peaks, unit)(row) }));
  return {
    roofs: roofs.filter(({ unit, peak }) => peak > 0 && (used.has(null) || used.has(unit))),
    bandwidth: numbers(peaks, 'bandwidth')(row),
  };
}

/** 989 TFLOP/s, 4.80 TB/s: three digits. */
function rateText(value: number, unit: string): string {
  const scales = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
  const at = value >= 1 ? Math.min(Math.floor(Math.log10(value) / 3 + 1e-9), scales.length - 1) : 0;
  const scaled = value / 1000 ** at;
  return `${decimal(scaled, scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2)} ${scales[at]}${unit}`;
}

const plain = (value: number): string =>
  value >= 1 ? value.toLocaleString('en-US') : String(Number(value.toPrecision(1)));

interface Box {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number]; // TFLOP/s
}

function boxOf(points: readonly Point[], { roofs, bandwidth }: Limits): Box {
  const intensities = points.map(({ intensity }) => intensity);
  const rates = points.map(({ rate }) => rate / TERA);
  const ridges = bandwidth > 0 ? roofs.map(({ peak }) => peak / bandwidth) : [];
  const least = (values: readonly number[]): number => powerBelow(values.reduce((low, value) => Math.min(low, value)));
  const most = (values: readonly number[]): number => powerAbove(values.reduce((high, value) => Math.max(high, value)));
  const x = [
    least([...intensities, ...ridges.map((ridge) => ridge / 10)]),
    most([...intensities, ...ridges.map((ridge) => ridge * 4)]),
  ] as const;
  return { x, y: [least(rates), most([...rates, ...roofs.map(({ peak }) => (peak / TERA) * 1.2)])] };
}

/** Up along the bandwidth to the peak, then level. */
function roofLine({ peak }: Roof, bandwidth: number, { x, y }: Box): [number, number][] {
  if (bandwidth <= 0) return x.map((intensity) => [intensity, peak / TERA]);
  const start = Math.max(x[0], (y[0] * TERA) / bandwidth);
  return [
    [start, (start * bandwidth) / TERA],
    [peak / bandwidth, peak / TERA],
    [x[1], peak / TERA],
  ];
}

function axes(colors: Ink, { x, y }: Box): Pick<ChartOption, 'xAxis' | 'yAxis'> {
  const both = {
    type: 'log' as const,
    nameLocation: 'middle' as const,
    nameTextStyle: { color: colors.muted },
    axisLine: { lineStyle: { color: colors.line } },
    axisLabel: { color: colors.muted, hideOverlap: true, formatter: plain },
    splitLine: { lineStyle: { color: colors.line } },
  };
  return {
    xAxis: { ...both, min: x[0], max: x[1], name: 'intensity (FLOPs per byte)', nameGap: 28 },
    yAxis: { ...both, min: y[0], max: y[1], name: 'TFLOP/s', nameGap: 48 },
  };
}

function describe(point: Point, { roofs }: Limits): string {
  const peak = roofs.find(({ unit }) => unit === point.unit)?.peak;
  const lines = [
    shorten(point.name, 120),
    point.unit === null ? point.family : `${point.family}, ${point.unit}`,
    `${rateText(point.rate, 'FLOP/s')}${peak ? `, ${percent(point.rate / peak)} of the peak` : ''}`,
    `intensity ${decimal(point.intensity, point.intensity >= 10 ? 0 : 2)} FLOPs per byte`,
    point.efficiency === null ? '' : `efficiency ${percent(point.efficiency)}`,
    `time ${withUnit(point.ns, 'ns')}${point.lost === null ? '' : `, lost ${withUnit(point.lost, 'ns')}`}`,
  ];
  return lines.filter(Boolean).map(label).join('\n');
}

function oneRoofline(source: Source, { gpu, points, drawn, all }: Found, limits: Limits): Chart {
  const box = boxOf(points, limits);
  const most = points.reduce((high, { ns }) => Math.max(high, ns), 1);
  const size = (ns: number): number => Math.max(SMALLEST, LARGEST * Math.sqrt(ns / most)); // area by time
  const largest = [...points].sort((a, b) => b.ns - a.ns);
  const families = [...new Set(largest.map(({ family }) => family))];
  const ofFamily = families.map((family) => largest.filter((point) => point.family === family));
  const left = all > 0 ? 1 - drawn / all : 0;
  return {
    title: `Roofline of ${source.words}, ${gpu}`,
    summary: `${points.length} ${source.words}; ${largest
      .slice(0, 8)
      .map((point) => describe(point, limits).replace(/\n/g, ', '))
      .join('; ')}`,
    note:
      `Areas are by time. ` +
      (left >= 0.0005 ? `${percent(left)} of the time has no known FLOPs and is not drawn.` : ''),
    height: (width) => HEIGHT + legendHeight(families, width),
    option: (colors, width): ChartOption => ({
      legend: legend(families, colors, width),
      grid: { left: 72, right: roofRoom(limits, width), top: legendHeight(families, width) + 8, bottom: 48 },
      dataZoom: [closerLook()],
      ...axes(colors, box),
      tooltip: {
        formatter: (item: unknown) => {
          const { seriesIndex, dataIndex } = item as { seriesIndex: number; dataIndex: number };
          const point = ofFamily[seriesIndex]?.[dataIndex];
          return point ? describe(point, limits) : '';
        },
      },
      series: [
        ...families.map((family, f) => ({
          type: 'scatter' as const,
          name: label(family),
          itemStyle: { color: colorOf(family), opacity: 0.75, borderColor: colors.panel, borderWidth: 0.5 },
          data: ofFamily[f]!.map(({ intensity, rate, ns }) => ({
            value: [intensity, rate / TERA],
            symbolSize: size(ns),
          })),
        })),
        ...limits.roofs.map((roof) => roofSeries(roof, limits.bandwidth, box, colors, width < NARROW)),
        ...bandwidthLabel(limits, box, colors),
      ],
    }),
  };
}

const NARROW = 600; // pixels: no room for numbers next to the roofs

function roofText({ unit, peak }: Roof, isNarrow: boolean): string {
  return isNarrow ? unit : `${unit} ${rateText(peak, 'FLOP/s')}`;
}

/** What the texts need right of the ends of the roofs. */
function roofRoom({ roofs }: Limits, width: number): number {
  return Math.max(16, ...roofs.map((roof) => textWidth(roofText(roof, width < NARROW)))) + 10;
}

function roofSeries(roof: Roof, bandwidth: number, box: Box, colors: Ink, isNarrow: boolean): object {
  const data = roofLine(roof, bandwidth, box);
  return {
    type: 'line' as const,
    silent: true,
    z: 1,
    clip: false, // or what is right of the end would be cut
    symbolSize: 0.01,
    lineStyle: { width: 1.5, color: colors.muted },
    data: data.map((value, place) => ({
      value,
      label: {
        show: place === data.length - 1,
        position: 'right',
        color: colors.muted,
        formatter: roofText(roof, isNarrow),
      },
    })),
  };
}

/** Half-way up, in powers. */
function bandwidthLabel({ roofs, bandwidth }: Limits, box: Box, colors: Ink): object[] {
  if (bandwidth <= 0 || roofs.length === 0) return [];
  const [start, ridge] = roofLine(roofs[0]!, bandwidth, box) as [[number, number], [number, number]];
  const value = [Math.sqrt(start[0] * ridge[0]), Math.sqrt(start[1] * ridge[1])];
  return [
    {
      type: 'scatter' as const,
      silent: true,
      symbolSize: 0.01,
      itemStyle: { opacity: 1 },
      data: [value],
      label: {
        show: true,
        position: 'left',
        offset: [0, -8],
        color: colors.muted,
        formatter: rateText(bandwidth, 'B/s'),
      },
    },
  ];
}

export function rooflineChart(_: Table, report: Report): Chart | null {
  const found: [string, Chart][] = [];
  for (const source of SOURCES) {
    const table = report.tables[source.table];
    if (!table || !hasColumns(table, source.name, 'device', 'flops', 'bytes', source.time)) continue;
    for (const [device, each] of pointsOf(table, source)) {
      if (each.points.length === 0) continue;
      const limits = limitsOf(report.tables['peaks'], device, each.points);
      found.push([`${each.gpu} \u00b7 ${source.words}`, oneRoofline(source, each, limits)]);
    }
  }
  return found.length > 0 ? listControl('Roofline', found) : null;
}
