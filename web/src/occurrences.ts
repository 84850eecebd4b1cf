// Every time that a kernel ran: from the server, or those that a stored page has one by one.

import type { Report } from './data';
import type { Source } from './explore/source';
import { unpack } from './timeline/rows';
import { sqlText } from './views/parts';

export interface Occurrence {
  readonly start: number;
  readonly length: number;
  readonly device: number | null;
  readonly stream: number | null;
}

/** A kernel on a stream next to another, how often, and the usual time between them. */
export interface Neighbour {
  readonly name: string;
  readonly count: number;
  readonly gap: number;
}

export interface Occurrences {
  readonly list: readonly Occurrence[];
  readonly isSample: boolean; // not every one of them
  readonly before: readonly Neighbour[];
  readonly after: readonly Neighbour[];
}

const MOST = 20_000;
const NEIGHBOURS = 8;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

class Meetings {
  private readonly gaps = new Map<string, number[]>();

  add(name: string, gap: number): void {
    const known = this.gaps.get(name);
    if (known) known.push(gap);
    else this.gaps.set(name, [gap]);
  }

  get most(): Neighbour[] {
    return [...this.gaps]
      .map(([name, gaps]) => ({ name, count: gaps.length, gap: median(gaps) }))
      .sort((a, b) => b.count - a.count)
      .slice(0, NEIGHBOURS);
  }
}

/** Items of a stored timeline are merged where there was no room: those of this name that are not. */
export function storedOccurrences(
  report: Report,
  input: string | undefined,
  names: readonly string[],
): Occurrences | null {
  const timelines = report.timelines ?? [];
  const timeline = timelines.find((each) => each.input === input) ?? timelines[0];
  if (!timeline) return null;
  const wanted = new Set(timeline.names.flatMap((name, place) => (names.includes(name) ? [place] : [])));
  const list: Occurrence[] = [];
  const [before, after] = [new Meetings(), new Meetings()];
  let isSample = false;
  for (const packed of timeline.rows) {
    if (packed.kind !== 'ops') continue;
    const row = unpack(packed);
    const isSingle = (item: number): boolean => item >= 0 && item < row.items && row.count[item] === 1;
    for (let item = 0; item < row.items; item++) {
      if (row.count[item]! > 1) isSample = true;
      if (!isSingle(item) || !wanted.has(row.name[item]!)) continue;
      const [start, end] = [row.start[item]!, row.end[item]!];
      list.push({ start, length: end - start, device: packed.device, stream: packed.stream });
      if (isSingle(item - 1)) before.add(timeline.names[row.name[item - 1]!]!, start - row.end[item - 1]!);
      if (isSingle(item + 1)) after.add(timeline.names[row.name[item + 1]!]!, row.start[item + 1]! - end);
    }
  }
  return { list, isSample, before: before.most, after: after.most };
}

const number = (cell: unknown): number => Number(cell ?? 0);
const numberOrNull = (cell: unknown): number | null => (cell == null ? null : Number(cell));

/** Which rows of ops are of this kernel. */
export function whereKernel(input: string, name: string, part: { start: number; end: number } | null): string {
  const words = [`input = ${sqlText(input)}`, `(name = ${sqlText(name)} or short_name = ${sqlText(name)})`];
  if (part) words.push(`start_ns < ${Math.ceil(part.end)}`, `end_ns > ${Math.floor(part.start)}`);
  return words.join(' and ');
}

async function askNeighbours(source: Source, input: string, name: string, side: 'lag' | 'lead'): Promise<Neighbour[]> {
  const gap = side === 'lag' ? 'start_ns - other_end_ns' : 'other_start_ns - end_ns';
  const answer = await source.sql(
    `select other, count(*) as count, median(${gap}) as gap_ns from (
       select name, short_name, start_ns, end_ns,
         ${side}(short_name) over placed as other,
         ${side}(start_ns) over placed as other_start_ns, ${side}(end_ns) over placed as other_end_ns
       from ops where input = ${sqlText(input)} window placed as (partition by device, stream order by start_ns))
     where (name = ${sqlText(name)} or short_name = ${sqlText(name)}) and other is not null
     group by other order by count desc limit ${NEIGHBOURS}`,
    NEIGHBOURS,
  );
  if (!answer || answer.error) throw new Error(answer?.error ?? 'no answer');
  return answer.rows.map(([other, count, ns]) => ({ name: String(other), count: number(count), gap: number(ns) }));
}

export async function askOccurrences(
  source: Source,
  input: string,
  name: string,
  count: number,
  part: { start: number; end: number } | null,
): Promise<Occurrences> {
  const every = Math.max(1, Math.ceil(count / MOST));
  const some = every > 1 ? ` and id % ${every} = 0` : '';
  const query = `select start_ns, dur_ns, device, stream from ops where ${whereKernel(input, name, part)}${some} order by start_ns`;
  const [answer, before, after] = await Promise.all([
    source.sql(query, MOST),
    askNeighbours(source, input, name, 'lag'),
    askNeighbours(source, input, name, 'lead'),
  ]);
  if (!answer || answer.error) throw new Error(answer?.error ?? 'no answer');
  const list = answer.rows.map(([start, length, device, stream]) => ({
    start: number(start),
    length: number(length),
    device: numberOrNull(device),
    stream: numberOrNull(stream),
  }));
  return { list, isSample: every > 1 || answer.total_rows > list.length, before, after };
}
