// Numbers as people read them: one unit for columns that are compared, one number of decimals for the cells of each,
// exact values next to them.

import { hasFlag, numberOf, type Cell, type Column, type Row, type Table, type Unit } from './data';
import { visible } from './dom';

interface Scale {
  readonly name: string;
  readonly factor: number;
}

const SCALES: Readonly<Partial<Record<Unit, readonly Scale[]>>> = {
  ns: [
    { name: 'ns', factor: 1 },
    { name: '\u00b5s', factor: 1e3 },
    { name: 'ms', factor: 1e6 },
    { name: 's', factor: 1e9 },
  ],
  bytes: [
    { name: 'B', factor: 1 },
    { name: 'kB', factor: 1e3 },
    { name: 'MB', factor: 1e6 },
    { name: 'GB', factor: 1e9 },
    { name: 'TB', factor: 1e12 },
  ],
};

const VARIED = 1e6; // bytes further apart have a unit each
const WIDE = 1e4; // time for the next unit
const WIDEST = 1e6; // so too where the value in the middle would be less than LEAST
const LEAST = 0.01;
const MOST_DECIMALS = 6;
const KINDS = ['single', 'moment', 'edge'] as const;

const formatters = new Map<number, Intl.NumberFormat>();

export function decimal(value: number, decimals: number): string {
  let formatter = formatters.get(decimals);
  if (!formatter) {
    formatter = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    formatters.set(decimals, formatter);
  }
  const text = formatter.format(value);
  const least = 10 ** -decimals;
  if (value !== 0 && Math.abs(value) < least / 2) return `<${formatter.format(least)}`; // on either side of nothing
  return text.replace('-', '\u2212');
}

function scaleOf(unit: Unit, value: number): Scale {
  const scales = SCALES[unit] ?? [{ name: '', factor: 1 }];
  return [...scales].reverse().find((scale) => Math.abs(value) >= scale.factor) ?? scales[0]!;
}

/** The unit of the value in the middle; the next while the largest has too many digits in it and the middle enough. */
function commonScale(unit: Unit, middle: number, most: number): Scale {
  const scales = SCALES[unit] ?? [];
  let scale = scaleOf(unit, middle);
  for (const next of scales.slice(scales.indexOf(scale) + 1)) {
    const isTooWide = most / scale.factor >= (middle / next.factor < LEAST ? WIDEST : WIDE);
    if (!isTooWide) break;
    scale = next;
  }
  return scale;
}

/** So many that the largest value has four digits. */
function decimalsFor(value: number): number {
  const size = Math.abs(value);
  return size >= 1000 ? 1 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
}

/** A single value with its unit: 1.564 s, 97.0%, 12,432. */
export function withUnit(value: number, unit: Unit): string {
  if (unit === 'share') return percent(value);
  if (unit === 'count' || unit === '') return decimal(value, Number.isInteger(value) ? 0 : 2);
  const scale = scaleOf(unit, value);
  const scaled = value / scale.factor;
  return `${decimal(scaled, scale.factor === 1 && Number.isInteger(scaled) ? 0 : decimalsFor(scaled))} ${scale.name}`;
}

/** Powers of ten around a value above 0. */
export const powerBelow = (value: number): number => 10 ** Math.floor(Math.log10(value) + 1e-9);
export const powerAbove = (value: number): number => 10 ** Math.ceil(Math.log10(value) - 1e-9);

export function percent(share: number): string {
  return `${decimal(share * 100, 1)}%`;
}

/** A round value, as on an axis: no trailing zeros, and zero has no unit. */
export function roundValue(value: number, unit: Unit): string {
  if (value === 0) return unit === 'share' ? '0%' : '0';
  return withUnit(value, unit).replace(/\.0+(?=%|\s|$)|(\.\d*?[1-9])0+(?=%|\s|$)/, '$1');
}

/** Every digit there is. */
export function exact(cell: Cell, column: { readonly unit: Unit; readonly of?: string | undefined }): string {
  if (cell === null) return 'unknown';
  if (column.unit === '') return visible(String(cell));
  const digits = typeof cell === 'string' ? cell : cell.toLocaleString('en-US', { maximumFractionDigits: 20 });
  if (column.unit === 'share') return `${digits} of ${column.of ?? 'all'} (${percent(numberOf(cell))})`;
  return column.unit === 'count' ? digits : `${digits} ${column.unit === 'bytes' ? 'bytes' : 'ns'}`;
}

export interface Style {
  readonly suffix: string; // in the header
  format(cell: Cell): string;
}

interface Sizes {
  readonly sorted: Float64Array; // without zeros
  readonly isWhole: boolean;
}

function measureSizes(rows: readonly Row[], columns: readonly number[]): Sizes {
  const sizes = new Float64Array(rows.length * columns.length);
  let count = 0;
  let isWhole = true;
  for (const row of rows)
    for (const index of columns) {
      const size = Math.abs(numberOf(row[index]));
      isWhole &&= Number.isInteger(size);
      if (size > 0) sizes[count++] = size;
    }
  return { sorted: sizes.subarray(0, count).sort(), isWhole };
}

const measured = new WeakMap<readonly Row[], Map<string, Sizes>>();

/** Columns that share a unit ask for the same, which takes a while in large tables. */
function sizesOf(rows: readonly Row[], columns: readonly number[]): Sizes {
  const known = measured.get(rows) ?? new Map<string, Sizes>();
  measured.set(rows, known);
  const key = columns.join();
  const sizes = known.get(key) ?? measureSizes(rows, columns);
  known.set(key, sizes);
  return sizes;
}

const middleOf = ({ sorted }: Sizes): number => sorted[(sorted.length - 1) >> 1] ?? 0;
const mostOf = ({ sorted }: Sizes): number => sorted[sorted.length - 1] ?? 0;

/** Durations that people compare or add up: sums with sums, statistics of single events with each other; so does
 * anything of the two sides of a comparison. */
function shareUnit(a: Column, b: Column): boolean {
  if (hasFlag(a, 'side') && hasFlag(b, 'side')) return a.unit === b.unit;
  const kindOf = (column: Column): string => KINDS.filter((flag) => hasFlag(column, flag)).join();
  return a.unit === 'ns' && b.unit === 'ns' && kindOf(a) === kindOf(b);
}

/** So many that the largest has four digits and the value in the middle two, of those that it has. */
function columnDecimals(sizes: Sizes, scale: Scale): number {
  const [middle, most] = [middleOf(sizes) / scale.factor, mostOf(sizes) / scale.factor];
  const needed = middle > 0 ? 1 - Math.floor(Math.log10(middle)) : 0;
  const decimals = Math.max(decimalsFor(most), Math.min(needed, most < 1 ? MOST_DECIMALS : 3));
  return sizes.isWhole ? Math.min(decimals, Math.round(Math.log10(scale.factor))) : decimals;
}

/** Numbers without a unit, rates and ratios: decimals of large ones only widen the column. Whole ones are ids and counts. */
function plainStyle(table: Table, index: number, signed: (value: number, text: string) => string): Style {
  const cells = table.rows.map((row) => row[index] ?? null);
  const most = cells.reduce<number>(
    (size, cell) => (typeof cell === 'number' && !Number.isInteger(cell) ? Math.max(size, Math.abs(cell)) : size),
    0,
  );
  const decimals = most < 100 ? 3 : most < 1000 ? 1 : 0;
  return {
    suffix: '',
    format: (cell) => {
      if (typeof cell !== 'number') return cell === null ? '\u2013' : visible(cell);
      return signed(cell, Number.isInteger(cell) ? String(cell) : decimal(cell, decimals));
    },
  };
}

/** How the cells of a column are written, by looking at all of them and at the columns that share its unit. */
export function styleOf(table: Table, index: number): Style {
  const column = table.columns[index]!;
  const signed = (value: number, text: string): string =>
    hasFlag(column, 'signed') && value > 0 && !text.startsWith('<') ? `+${text}` : text;
  const plain = (write: (value: number) => string, suffix = ''): Style => ({
    suffix,
    format: (cell) => (cell === null ? '\u2013' : signed(numberOf(cell), write(numberOf(cell)))),
  });
  if (column.unit === '') return plainStyle(table, index, signed);
  if (column.unit === 'share') return plain(percent, '');
  if (hasFlag(column, 'moment')) return plain((value) => decimal(value / 1e6, 3), 'ms');
  if (hasFlag(column, 'edge')) return plain((value) => roundValue(value, column.unit));
  const others = table.columns.flatMap((each, at) => (shareUnit(column, each) && !hasFlag(each, 'detail') ? [at] : []));
  const isSide = hasFlag(column, 'side') && others.length > 0; // A and B of a row have the same decimals
  const own = sizesOf(table.rows, isSide ? others : [index]);
  if (column.unit === 'count') return plain((value) => decimal(value, own.isWhole ? 0 : 1));
  if (column.unit === 'bytes' && mostOf(own) / (own.sorted[0] ?? 1) > VARIED)
    return plain((value) => withUnit(value, column.unit));
  const all = others.length > 0 ? sizesOf(table.rows, others) : own;
  const scale = commonScale(column.unit, middleOf(all), mostOf(all));
  const decimals = columnDecimals(own, scale);
  return plain((value) => decimal(value / scale.factor, decimals), scale.name);
}
