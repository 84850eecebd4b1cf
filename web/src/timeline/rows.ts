// The timeline of the report (docs/json.md, `timelines`) as columns of numbers, ready to be searched and drawn.

export type Kind = 'ranges' | 'gaps' | 'ops';

export interface PackedRow {
  readonly kind: Kind;
  readonly device: number | null;
  readonly pid: number | null;
  readonly stream: number | null;
  readonly tid: number | null;
  readonly level: number | null;
  readonly count: number;
  readonly busy_ns: number;
  readonly grain_ns: number;
  readonly start: readonly number[];
  readonly length: readonly number[];
  readonly name: readonly number[];
  readonly joined: readonly number[];
}

export interface Timeline {
  readonly input: string;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly rows_left_out: Readonly<Record<Kind, number>>;
  readonly options: readonly { readonly name: string; readonly value: string }[];
  readonly names: readonly string[];
  readonly categories: readonly (string | null)[];
  readonly rows: readonly PackedRow[];
}

/** Items in order of start. */
export interface Row {
  readonly kind: Kind;
  readonly packed: PackedRow;
  readonly items: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly reach: Float64Array; // the latest end up to each item, for searching
  readonly busy: Float64Array;
  readonly count: Uint32Array;
  readonly name: Uint32Array;
}

export function unpack(packed: PackedRow): Row {
  const items = packed.start.length;
  const row: Row = {
    kind: packed.kind,
    packed,
    items,
    start: new Float64Array(items),
    end: new Float64Array(items),
    reach: new Float64Array(items),
    busy: new Float64Array(items),
    count: new Uint32Array(items).fill(1),
    name: Uint32Array.from(packed.name),
  };
  let before = 0;
  let reach = -Infinity;
  for (let i = 0; i < items; i++) {
    const length = packed.length[i]!;
    row.start[i] = before + packed.start[i]!;
    before = row.start[i]! + length;
    row.end[i] = before;
    row.busy[i] = length;
    reach = Math.max(reach, before);
    row.reach[i] = reach;
  }
  for (let j = 0, place = 0; j + 2 < packed.joined.length; j += 3) {
    place += packed.joined[j]!;
    row.count[place] = packed.joined[j + 1]!;
    row.busy[place] = packed.joined[j + 2]!;
  }
  return row;
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
    // Of those under the pointer the innermost, which starts last; beside it the longest.
    if (covers ? true : !bestCovers && longer) best = i;
  }
  return best < 0 ? null : { item: best, others };
}
