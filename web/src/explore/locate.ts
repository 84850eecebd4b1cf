// Which item of the timeline a place is: what a table says of a gap, step or kernel is pinned where it is drawn.

import { between, unpack, type Kind, type Row, type Timeline } from '../timeline/rows';
import type { Span } from '../timeline/span';
import type { Match, Source } from './source';

const KINDS: readonly Kind[] = ['gaps', 'steps', 'collectives', 'ops', 'ranges']; // the first that fits
const WIDTH = 4096;
const MOST_LANES = 160;

function itemIn(row: Row, { start, end }: Span): number {
  const [first, last] = between(row, start, end);
  for (let i = first; i < last; i++) if (row.start[i] === start && row.end[i] === end && row.count[i] === 1) return i;
  return -1;
}

/** Null where no item has these ends. */
export async function locate(source: Source, input: number, timeline: Timeline, span: Span): Promise<Match | null> {
  const lanes = KINDS.flatMap((kind) => timeline.rows.filter((row) => row.kind === kind))
    .map((row) => row.lane!)
    .slice(0, MOST_LANES);
  if (lanes.length === 0) return null;
  const { names, rows } = await source.window(input, span.start, Math.max(span.end, span.start + 1), WIDTH, lanes);
  for (const lane of lanes) {
    const packed = rows.find((each) => each.lane === lane);
    const row = packed && unpack(packed);
    const item = row ? itemIn(row, span) : -1;
    if (row && item >= 0) return { lane, start_ns: span.start, end_ns: span.end, name: names[row.name[item]!] ?? '' };
  }
  return null;
}
