// What is known of a trace, as tiles: a power of two of time, the same number of pieces in each. Drawing takes what is
// there, coarser or finer; what is missing is asked for when the view has come to rest, and what is no longer wanted is
// abandoned.

import type { Source } from '../explore/source';
import { Catalog } from './catalog';
import { between, curve, extentOf, reachOf, search, unpack, type Row, type Timeline } from './rows';
import { lengthOf, type Span } from './span';

export const COLUMNS = 2048; // pieces of a tile
const REST_MS = 45; // without a move before anything is asked for
const MOST_ITEMS = 1_500_000; // that are kept
const MOST_AT_ONCE = 4; // requests
const LANES_AT_ONCE = 160; // of one request

interface Tile {
  readonly grain: number;
  readonly place: number;
  readonly rows: Map<number, Row>;
  items: number;
  used: number;
}

interface Request {
  readonly key: string;
  readonly grain: number;
  readonly place: number;
  readonly lanes: readonly number[];
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly row: Row;
}

function powerBelow(value: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(Math.max(value, 1))));
}

const keyOf = (grain: number, place: number): string => `${grain}:${place}`;

/** The rows of one input. */
export class Tiles {
  readonly catalog = new Catalog();
  private readonly tiles = new Map<string, Tile>();
  private readonly fixed = new Map<number, Row>(); // of a stored timeline: all there is
  private readonly made = new Map<number, { readonly key: string; readonly row: Row }>();
  private readonly versions = new Map<number, number>();
  private readonly running = new Map<string, { readonly control: AbortController; readonly lanes: Set<number> }>();
  private readonly failed = new Set<string>();
  private readonly extent: Span;
  private readonly root: number; // the coarsest grain
  private clock = 0;
  private timer = 0;
  private wish: { readonly span: Span; readonly width: number; readonly lanes: readonly number[] } | null = null;
  private wishKey = '';
  private wanted = new Set<string>();

  constructor(
    private readonly source: Source,
    private readonly input: number,
    private readonly timeline: Timeline,
    private readonly changed: () => void,
    private readonly complain: (reason: string) => void,
  ) {
    this.extent = extentOf(timeline);
    this.root = 2 * powerBelow(lengthOf(this.extent) / COLUMNS);
    if (source.isLive) return;
    const names = this.enter(timeline);
    for (const packed of timeline.rows) this.fixed.set(packed.lane!, renamed(unpack(packed), names));
  }

  get isBusy(): boolean {
    return this.timer !== 0 || [...this.running.keys()].some((key) => this.wanted.has(key));
  }

  grainFor(span: Span, width: number): number {
    return Math.min(powerBelow(lengthOf(span) / Math.max(width, 1)), this.root);
  }

  /** The items of a lane in a part of the time, as fine as they are known; null where nothing is. */
  row(lane: number, span: Span, width: number): Row | null {
    if (!this.source.isLive) return this.fixed.get(lane) ?? null;
    const grain = this.grainFor(span, width);
    const [first, last] = this.places(grain, span);
    const key = `${grain}:${first}:${last}:${this.versions.get(lane) ?? 0}`;
    const known = this.made.get(lane);
    if (known?.key === key) return known.row;
    const pieces: Piece[] = [];
    for (let place = first; place <= last; place++) this.gather(lane, grain, place, 2, pieces);
    const row = join(pieces);
    if (row) this.made.set(lane, { key, row });
    return row;
  }

  /** Whether the items of a lane there are as fine as can be asked for. */
  isExact(lane: number, span: Span, width: number): boolean {
    if (!this.source.isLive) return true;
    const grain = this.grainFor(span, width);
    const [first, last] = this.places(grain, span);
    for (let place = first; place <= last; place++) if (!this.final(lane, grain, place)) return false;
    return true;
  }

  /** The lane over the whole time, coarsely. */
  overview(lane: number): Row | null {
    return this.row(lane, this.extent, COLUMNS / 2);
  }

  /** Asks for what is missing, once the view has come to rest. */
  want(span: Span, width: number, lanes: readonly number[]): void {
    if (!this.source.isLive) return;
    const key = `${span.start},${span.end},${width},${lanes.join()}`;
    if (key === this.wishKey) return;
    this.wishKey = key;
    this.wish = { span, width, lanes };
    clearTimeout(this.timer);
    const isFirst = this.tiles.size === 0 && this.running.size === 0;
    this.timer = window.setTimeout(
      () => {
        this.timer = 0;
        this.ask();
      },
      isFirst ? 0 : REST_MS,
    );
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const { control } of this.running.values()) control.abort();
    this.running.clear();
  }

  // ---- asking ----

  private ask(): void {
    if (!this.wish) return;
    const requests = this.missing(this.wish.span, this.wish.width, this.wish.lanes);
    this.wanted = new Set(requests.map(({ key }) => key));
    const ahead = requests.length === 0 ? this.ahead() : [];
    const keep = new Set([...requests, ...ahead].map(({ key }) => key));
    for (const [key, { control }] of this.running) if (!keep.has(key)) control.abort();
    for (const request of [...requests, ...ahead]) {
      if (this.running.size >= MOST_AT_ONCE) break;
      if (!this.running.has(request.key)) void this.fetch(request);
    }
    if (requests.length === 0) this.changed();
  }

  private missing(span: Span, width: number, lanes: readonly number[]): Request[] {
    const grain = this.grainFor(span, width);
    const [first, last] = this.places(grain, span);
    const requests: Request[] = [];
    for (let place = first; place <= last; place++) {
      const without = lanes.filter((lane) => !this.final(lane, grain, place));
      for (let at = 0; at < without.length; at += LANES_AT_ONCE) {
        const some = without.slice(at, at + LANES_AT_ONCE);
        const key = `${keyOf(grain, place)}:${some.join(',')}`;
        if (!this.failed.has(key)) requests.push({ key, grain, place, lanes: some });
      }
    }
    return requests;
  }

  /** What is likely next: the neighbours, and the whole around them. */
  private ahead(): Request[] {
    const { span, width, lanes } = this.wish!;
    const length = lengthOf(span);
    const { start, end } = this.extent;
    const wider = (by: number): Span => ({
      start: Math.max(start, span.start - by * length),
      end: Math.min(end, span.end + by * length),
    });
    return [...this.missing(wider(0.6), width, lanes), ...this.missing(wider(1.5), width / 4, lanes)];
  }

  private async fetch({ key, grain, place, lanes }: Request): Promise<void> {
    const control = new AbortController();
    this.running.set(key, { control, lanes: new Set(lanes) });
    const { start, end } = this.extent;
    const size = grain * COLUMNS;
    try {
      // The whole tile, for its pieces to be of one grain; nothing is there beyond the ends.
      const from = Math.max(place * size, Math.floor(start / grain) * grain);
      const to = Math.min((place + 1) * size, Math.ceil((end + 1) / grain) * grain);
      const width = Math.max(1, Math.round((to - from) / grain));
      const answer = await this.source.window(this.input, from, to, width, lanes, control.signal);
      if (this.running.get(key)?.control === control) this.keep(answer, grain, place, lanes);
    } catch (error) {
      if (!control.signal.aborted) {
        this.failed.add(key);
        this.complain(error instanceof Error ? error.message : String(error));
      }
    }
    if (this.running.get(key)?.control === control) this.running.delete(key);
    if (!control.signal.aborted && this.timer === 0) this.ask();
    this.changed();
  }

  private keep(answer: Timeline, grain: number, place: number, lanes: readonly number[]): void {
    const names = this.enter(answer);
    const key = keyOf(grain, place);
    const tile = this.tiles.get(key) ?? { grain, place, rows: new Map<number, Row>(), items: 0, used: 0 };
    this.tiles.set(key, tile);
    tile.used = ++this.clock;
    const known = new Map(answer.rows.map((packed) => [packed.lane!, packed]));
    for (const lane of lanes) {
      const packed = known.get(lane) ?? this.timeline.rows.find((each) => each.lane === lane);
      if (!packed) continue;
      const row = renamed(unpack(known.has(lane) ? packed : { ...packed, grain_ns: 0, items: '', points: [] }), names);
      tile.rows.set(lane, row);
      tile.items += row.items;
      this.versions.set(lane, (this.versions.get(lane) ?? 0) + 1);
    }
    this.forget();
  }

  private enter(timeline: Timeline): Uint32Array {
    return Uint32Array.from(timeline.names, (name, i) => this.catalog.add(name, timeline.categories[i] ?? null));
  }

  /** The coarsest tiles stay: there is always something to draw. */
  private forget(): void {
    let sum = 0;
    for (const { items } of this.tiles.values()) sum += items;
    const byAge = [...this.tiles].filter(([, { grain }]) => grain < this.root).sort((a, b) => a[1].used - b[1].used);
    for (const [key, tile] of byAge.slice(0, -8)) {
      if (sum <= MOST_ITEMS) break;
      sum -= tile.items;
      this.tiles.delete(key);
      for (const lane of tile.rows.keys()) this.versions.set(lane, (this.versions.get(lane) ?? 0) + 1);
    }
  }

  // ---- looking ----

  private places(grain: number, span: Span): readonly [number, number] {
    const size = grain * COLUMNS;
    const { start, end } = this.extent;
    const from = Math.min(Math.max(span.start, start), end);
    const to = Math.max(Math.min(span.end, end), from);
    return [Math.floor(from / size), Math.floor(to / size)];
  }

  private tileRow(lane: number, grain: number, place: number): Row | undefined {
    const tile = this.tiles.get(keyOf(grain, place));
    const row = tile?.rows.get(lane);
    if (row) tile!.used = ++this.clock;
    return row;
  }

  /** A row of that tile, or of a coarser one in which nothing is joined: as fine as the server has it. */
  private final(lane: number, grain: number, place: number): Row | undefined {
    const own = this.tileRow(lane, grain, place);
    if (own) return own;
    for (let g = grain * 2, at = Math.floor(place / 2); g <= this.root; g *= 2, at = Math.floor(at / 2)) {
      const row = this.tileRow(lane, g, at);
      if (row && row.packed.grain_ns === 0 && row.kind !== 'counters') return row;
    }
    return undefined;
  }

  /** The best row for a tile: its own, a coarser one, or finer ones. */
  private gather(lane: number, grain: number, place: number, depth: number, pieces: Piece[]): void {
    const size = grain * COLUMNS;
    const span = { from: place * size, to: (place + 1) * size };
    let row = this.final(lane, grain, place);
    if (!row && depth > 0 && grain > 1 && this.isKnown(lane, grain / 2, 2 * place, 2 * place + 1)) {
      this.gather(lane, grain / 2, 2 * place, depth - 1, pieces);
      this.gather(lane, grain / 2, 2 * place + 1, depth - 1, pieces);
      return;
    }
    for (let g = grain * 2, at = Math.floor(place / 2); !row && g <= this.root; g *= 2, at = Math.floor(at / 2))
      row = this.tileRow(lane, g, at);
    if (row) pieces.push({ ...span, row });
  }

  private isKnown(lane: number, grain: number, ...places: number[]): boolean {
    return places.some((place) => this.tileRow(lane, grain, place));
  }
}

function renamed(row: Row, names: Uint32Array): Row {
  return { ...row, name: row.name.map((name) => names[name] ?? 0) };
}

/** Time, lowest and highest of each, without a time that was before: a value holds until the next, in whichever tile. */
function pointsOf(start: Float64Array, low: Float64Array, high: Float64Array): number[] {
  const points: number[] = [];
  let before = -Infinity;
  for (let i = 0; i < start.length; i++) {
    if (start[i]! <= before) continue;
    before = start[i]!;
    points.push(before, low[i]!, high[i]!);
  }
  return points;
}

/** One row of several: each gives the items that start in its part, the first of a run also those that reach into it. */
function join(pieces: readonly Piece[]): Row | null {
  const [first] = pieces;
  if (!first) return null;
  if (pieces.length === 1) return first.row;
  if (pieces.every(({ row }) => row === first.row)) return first.row;
  const parts = pieces.map(({ from, to, row }, i) => {
    const isNext = i > 0 && pieces[i - 1]!.to === from;
    const begin = isNext ? search(row.start, from) : between(row, from, to)[0];
    return { row, begin, end: Math.max(begin, search(row.start, to)) };
  });
  const total = parts.reduce((sum, { begin, end }) => sum + end - begin, 0);
  const numbers = (of: (row: Row) => Float64Array): Float64Array => {
    const all = new Float64Array(total);
    let at = 0;
    for (const { row, begin, end } of parts) {
      all.set(of(row).subarray(begin, end), at);
      at += end - begin;
    }
    return all;
  };
  const whole = (of: (row: Row) => Uint32Array): Uint32Array => {
    const all = new Uint32Array(total);
    let at = 0;
    for (const { row, begin, end } of parts) {
      all.set(of(row).subarray(begin, end), at);
      at += end - begin;
    }
    return all;
  };
  const end = numbers((row) => row.end);
  const grain = Math.max(...parts.map(({ row }) => row.packed.grain_ns));
  if (first.row.high) {
    const points = { start: numbers((row) => row.start), low: numbers((row) => row.busy) };
    return curve({
      ...first.row.packed,
      grain_ns: grain,
      points: pointsOf(
        points.start,
        points.low,
        numbers((row) => row.high ?? row.busy),
      ),
    });
  }
  return {
    kind: first.row.kind,
    packed: { ...first.row.packed, grain_ns: grain },
    items: total,
    start: numbers((row) => row.start),
    end,
    reach: reachOf(end),
    busy: numbers((row) => row.busy),
    high: null,
    count: whole((row) => row.count),
    name: whole((row) => row.name),
  };
}
