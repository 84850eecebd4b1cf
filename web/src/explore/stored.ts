// Answers from the report inside a page: its timelines, as far as they go. What it does not have is null.

import { columnIndex, numbers, reader, type Report, type Row as Cells } from '../data';
import { between, unpack, type Row, type Timeline } from '../timeline/rows';
import type { Found, Item, ItemLine, Link, Match, SearchQuery, Source, SourceInput } from './source';
import { quote } from './words';

const LIMIT = 200; // matches of one answer, as a server has it

/** One timeline, its rows by lane. */
class Stored {
  private readonly rows = new Map<number, Row>();
  private found: { readonly text: string; readonly matches: readonly Match[] } | null = null;

  constructor(readonly timeline: Timeline) {}

  row(lane: number): Row | null {
    const packed = this.timeline.rows.find((each) => each.lane === lane);
    if (!packed) return null;
    const row = this.rows.get(lane) ?? unpack(packed);
    this.rows.set(lane, row);
    return row;
  }

  all(): Row[] {
    return this.timeline.rows.map((packed) => this.row(packed.lane!)!);
  }

  /** In order of start; those of the last text are kept, for who goes through them. */
  matches(text: string): readonly Match[] {
    if (this.found?.text === text) return this.found.matches;
    const wanted = text.toLowerCase();
    const fits = this.timeline.names.map((name) => name.toLowerCase().includes(wanted));
    const matches: Match[] = [];
    for (const row of this.all())
      for (let i = 0; i < row.items; i++) {
        const name = row.name[i]!;
        if (!fits[name]) continue;
        matches.push({
          lane: row.packed.lane!,
          start_ns: row.start[i]!,
          end_ns: row.end[i]!,
          name: this.timeline.names[name]!,
        });
      }
    matches.sort((a, b) => a.start_ns - b.start_ns || a.lane - b.lane);
    this.found = { text, matches };
    return matches;
  }
}

function line(key: string, title: string, value: string | number | null, unit: ItemLine['unit'] = ''): ItemLine {
  return { key, title, value, unit };
}

/** The op of a device that ends last before a time, or starts first after it. */
function neighbour(stored: Stored, device: number | null, time: number, isBefore: boolean): Link | null {
  let best: { row: Row; item: number; at: number } | null = null;
  for (const row of stored.all()) {
    if (row.kind !== 'ops' || row.packed.device !== device) continue;
    const [first, last] = isBefore ? between(row, -Infinity, time) : between(row, time, Infinity);
    const step = isBefore ? -1 : 1;
    for (let i = isBefore ? last - 1 : first; i >= first && i < last; i += step) {
      const at = isBefore ? row.end[i]! : row.start[i]!;
      if (isBefore ? at > time : at < time) continue;
      if (!best || (isBefore ? at > best.at : at < best.at)) best = { row, item: i, at };
      break;
    }
  }
  if (!best || best.row.count[best.item]! > 1) return null;
  return {
    kind: isBefore ? 'previous' : 'next',
    lane: best.row.packed.lane!,
    start_ns: best.row.start[best.item]!,
    end_ns: best.row.end[best.item]!,
    name: stored.timeline.names[best.row.name[best.item]!]!,
  };
}

/** Of the row of a table that is about this gap. */
const GAP_LINES = [
  'cause',
  'activity',
  'meanwhile',
  'range',
  'operator',
  'call',
  'recoverable_ns',
  'queued_ns',
] as const;

export class StoredSource implements Source {
  readonly isLive = false;
  readonly inputs: readonly SourceInput[];
  private readonly stored: readonly Stored[];

  constructor(private readonly of: Report) {
    const timelines = of.timelines ?? [];
    this.stored = timelines.map((each) => new Stored(withLanes(each)));
    this.inputs = timelines.map(({ input }) => {
      const about = of.inputs.find((each) => each.input === input);
      return { input, path: about?.path ?? null, format: about?.format ?? null };
    });
  }

  lanes(input: number): Promise<Timeline> {
    return Promise.resolve(this.at(input).timeline);
  }

  window(input: number): Promise<Timeline> {
    return Promise.resolve(this.at(input).timeline);
  }

  item(input: number, lane: number, start: number, end: number): Promise<Item | null> {
    const stored = this.at(input);
    const row = stored.row(lane);
    if (!row) return Promise.resolve(null);
    const [first, last] = between(row, start, start);
    for (let i = first; i < last; i++)
      if (row.start[i] === start && row.end[i] === end) return Promise.resolve(this.itemAt(stored, row, i));
    return Promise.resolve(null);
  }

  search({ input, text, from, before, limit = LIMIT }: SearchQuery): Promise<Found> {
    const all = text === '' ? [] : this.at(input).matches(text);
    const some =
      before !== undefined
        ? all.filter((match) => match.start_ns < before).reverse()
        : all.filter((match) => match.start_ns >= (from ?? -Infinity));
    return Promise.resolve({ total: all.length, matches: some.slice(0, limit) });
  }

  report(): Promise<null> {
    return Promise.resolve(null);
  }

  diff(): Promise<null> {
    return Promise.resolve(null);
  }

  ranks(): Promise<null> {
    return Promise.resolve(null);
  }

  sql(): Promise<null> {
    return Promise.resolve(null);
  }

  flame(): Promise<null> {
    return Promise.resolve(null);
  }

  command(input: number, from?: number, to?: number): string | null {
    const timeline = this.stored[input]?.timeline;
    if (!timeline) return null; // a page of tables only
    const words = ['gputime', from === undefined ? 'view' : this.of.command, this.inputs[input]?.path ?? 'TRACE'];
    if (from === undefined || to === undefined) return words.map(quote).join(' ');
    words.push('--from', `${Math.floor(from)}ns`, '--to', `${Math.ceil(to)}ns`);
    for (const { name, value } of timeline.options) words.push(`--${name}`, value);
    return words.map(quote).join(' ');
  }

  private at(input: number): Stored {
    const stored = this.stored[input];
    if (!stored) throw new Error(`no input ${input}`);
    return stored;
  }

  private itemAt(stored: Stored, row: Row, item: number): Item {
    const { names, categories } = stored.timeline;
    const name = names[row.name[item]!] ?? '';
    const start = row.start[item]!;
    const end = row.end[item]!;
    const count = row.count[item]!;
    const lines = [line('start_ns', 'Start', start, 'ns'), line('duration_ns', 'Duration', end - start, 'ns')];
    if (count > 1) {
      lines.push(line('count', 'Items joined here', count, 'count'));
      lines.push(line('busy_ns', 'Covered by them', row.busy[item]!, 'ns'));
    }
    const category = categories[row.name[item]!];
    if (category) lines.push(line('category', 'Category', category));
    if (row.kind !== 'gaps') return { name, lines, stack: [], links: [] };
    const told = this.gapLines(stored.timeline.input, row.packed.device, start, end);
    const links = [
      neighbour(stored, row.packed.device, start, true),
      neighbour(stored, row.packed.device, end, false),
    ].filter((link) => link !== null);
    return { name, lines: [...lines, ...told], stack: [], links };
  }

  /** The longest gaps are in a table, with what the CPU did meanwhile. */
  private gapLines(input: string, device: number | null, start: number, end: number): ItemLine[] {
    const table = this.of.tables['gaps'];
    if (!table) return [];
    const [of, on, from, to] = [
      reader(table, 'input'),
      reader(table, 'device'),
      numbers(table, 'start_ns'),
      numbers(table, 'end_ns'),
    ];
    const isIt = (row: Cells): boolean =>
      (columnIndex(table, 'input') < 0 || of(row) === input) &&
      on(row) === device &&
      from(row) <= start &&
      to(row) >= end;
    const found = table.rows.find(isIt);
    if (!found) return [];
    return GAP_LINES.flatMap((key) => {
      const place = columnIndex(table, key);
      const value = found[place];
      if (place < 0 || value == null || value === '' || value === 0) return [];
      const { title, unit } = table.columns[place]!;
      return [line(key, title, value, unit)];
    });
  }
}

/** Reports of before lanes had numbers: the place of the row is one. */
function withLanes(timeline: Timeline): Timeline {
  return { ...timeline, rows: timeline.rows.map((row, place) => ({ ...row, lane: row.lane ?? place })) };
}
