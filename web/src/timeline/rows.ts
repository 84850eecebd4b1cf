// The timeline of the report (docs/json.md, `timelines`) as columns of numbers, ready to be searched and drawn.

export type Kind =
  'steps' | 'counters' | 'gaps' | 'ops' | 'collectives' | 'ranges' | 'host_ranges' | 'operators' | 'python' | 'calls';

export interface PackedRow {
  readonly kind: Kind;
  readonly lane?: number; // of the trace; in older reports the place of the row
  readonly title?: string | null;
  readonly unit?: string | null;
  readonly thread?: string | null; // its name
  readonly group?: string | null; // of a communicator
  readonly device: number | null;
  readonly pid: number | null;
  readonly stream: number | null;
  readonly tid: number | null;
  readonly level: number | null;
  readonly count: number;
  readonly busy_ns: number;
  readonly grain_ns: number; // 0: every item is single
  readonly items?: string;
  readonly points?: readonly number[]; // of counters: time, lowest, highest, and so on
  readonly low?: number;
  readonly high?: number;
}

export interface Timeline {
  readonly input: string;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly first_ns?: number; // of all rows, also of those that show CPU time
  readonly last_ns?: number;
  readonly rows_left_out: Readonly<Partial<Record<Kind, number>>>;
  readonly options: readonly { readonly name: string; readonly value: string }[];
  readonly names: readonly string[];
  readonly categories: readonly (string | null)[];
  readonly rows: readonly PackedRow[];
}

/** Items in order of start; of a counter, its values from each time on. */
export interface Row {
  readonly kind: Kind;
  readonly packed: PackedRow;
  readonly items: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly reach: Float64Array; // the latest end up to each item, for searching
  readonly busy: Float64Array; // of a counter: the lowest value
  readonly high: Float64Array | null; // of a counter: the highest
  readonly count: Uint32Array;
  readonly name: Uint32Array;
}

/** The numbers of a packed string, one after the other: seven bits a byte, the lowest first. */
class Numbers {
  private at = 0;
  constructor(private readonly bytes: string) {}

  get left(): boolean {
    return this.at < this.bytes.length;
  }

  next(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.bytes.charCodeAt(this.at++);
      value += (byte & 127) * factor;
      if (!(byte >= 128)) return value;
      factor *= 128;
    }
  }
}

export function reachOf(ends: Float64Array): Float64Array {
  let reach = -Infinity;
  return ends.map((end) => (reach = Math.max(reach, end)));
}

export function unpack(packed: PackedRow): Row {
  if (packed.kind === 'counters') return curve(packed);
  const numbers = new Numbers(atob(packed.items ?? ''));
  const starts: number[] = [];
  const ends: number[] = [];
  const busy: number[] = [];
  const counts: number[] = [];
  const names: number[] = [];
  let before = 0;
  while (numbers.left) {
    const signed = numbers.next();
    const length = numbers.next();
    const name = numbers.next();
    const isPlain = name % 2 === 0;
    const start = before + (signed % 2 === 0 ? signed / 2 : -(signed + 1) / 2);
    before = start + length;
    starts.push(start);
    ends.push(before);
    names.push((name - (isPlain ? 0 : 1)) / 2);
    counts.push(isPlain ? 1 : numbers.next());
    busy.push(isPlain ? length : length - numbers.next());
  }
  const end = Float64Array.from(ends);
  return {
    kind: packed.kind,
    packed,
    items: starts.length,
    start: Float64Array.from(starts),
    end,
    reach: reachOf(end),
    busy: Float64Array.from(busy),
    high: null,
    count: Uint32Array.from(counts),
    name: Uint32Array.from(names),
  };
}

/** A value holds until the next. */
export function curve(packed: PackedRow): Row {
  const points = packed.points ?? [];
  const items = Math.floor(points.length / 3);
  const every = (part: number): Float64Array => Float64Array.from({ length: items }, (_, i) => points[3 * i + part]!);
  const start = every(0);
  const end = Float64Array.from({ length: items }, (_, i) => start[i + 1] ?? Infinity);
  return {
    kind: packed.kind,
    packed,
    items,
    start,
    end,
    reach: end,
    busy: every(1),
    high: every(2),
    count: new Uint32Array(items).fill(1),
    name: new Uint32Array(items),
  };
}

/** The first place in a rising column that is not below the value (or, if asked, that is above it). */
export function search(column: Float64Array, value: number, above = false): number {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (above ? column[middle]! <= value : column[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The items of which some lies between two times: from the first to before the last, with others among them. */
export function between(row: Row, from: number, to: number): readonly [number, number] {
  return [search(row.reach, from), search(row.start, to, true)];
}

/** The longest item near a time, and how many there are; null where there is none. */
export function itemNear(row: Row, time: number, tolerance: number): { item: number; others: number } | null {
  const [first, last] = between(row, time - tolerance, time + tolerance);
  let best = -1;
  let others = -1;
  for (let i = first; i < last; i++) {
    if (row.end[i]! < time - tolerance) continue;
    others += 1;
    const covers = row.start[i]! <= time && row.end[i]! > time;
    const bestCovers = best >= 0 && row.start[best]! <= time && row.end[best]! > time;
    const longer = best < 0 || row.end[i]! - row.start[i]! > row.end[best]! - row.start[best]!;
    // Of those under the pointer the innermost, which starts last; near it the longest.
    if (covers ? true : !bestCovers && longer) best = i;
  }
  return best < 0 ? null : { item: best, others };
}

/** All the time in which there is something: the CPU starts before the first op. */
export function extentOf(timeline: Timeline): { readonly start: number; readonly end: number } {
  const start = Math.min(timeline.start_ns, timeline.first_ns ?? timeline.start_ns);
  return { start, end: Math.max(timeline.end_ns, timeline.last_ns ?? timeline.end_ns, start + 1) };
}
