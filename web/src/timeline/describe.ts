// The timeline in words: what an item is and what a trace holds.

import { columnIndex, reader, type Report } from '../data';
import { visible } from '../dom';
import { decimal, percent, withUnit } from '../format';
import type { Catalog } from './catalog';
import { counterText } from './curve';
import type { Mark } from './draw';
import { isHost, type Lane } from './lanes';
import { between, type Kind, type PackedRow, type Row, type Timeline } from './rows';
import type { Span } from './span';

const NOUNS: Readonly<Record<Kind, string>> = {
  steps: 'steps',
  counters: 'values',
  gaps: 'gaps',
  ops: 'ops',
  collectives: 'collectives',
  ranges: 'ranges',
  host_ranges: 'ranges',
  operators: 'operators',
  python: 'functions',
  calls: 'calls',
};
const NO_NAME = '(name left out to save space)';

/** What the table of causes says about one. */
export function causeMeanings(report: Report | null): ReadonlyMap<string, string> {
  const table = report?.tables.idle_causes;
  if (!table || columnIndex(table, 'meaning') < 0) return new Map();
  const cause = reader(table, 'cause');
  const meaning = reader(table, 'meaning');
  return new Map(table.rows.map((row) => [String(cause(row)), String(meaning(row))]));
}

export function moment(time: number): string {
  return `${decimal(time / 1e6, 6)} ms`;
}

/** Which time a row shows. */
export function timeKind(kind: Kind): string | null {
  if (isHost(kind)) return 'CPU time';
  return kind === 'ranges' ? 'projected: from the first to the last GPU op launched in it' : null;
}

function title(mark: Mark, kind: Kind, name: string, category: string | null | undefined): string {
  const { count } = mark;
  if (kind === 'gaps') return count > 1 ? `${decimal(count, 0)} gaps, mostly ${name}` : `Idle: ${name}`;
  if (count === 1) return name;
  return `${decimal(count, 0)} ${NOUNS[kind]}; the longest${category ? ` of ${category}` : ''}: ${name}`;
}

/** Lines: what it is, how long, where. */
export function describeMark(
  catalog: Catalog,
  lane: Lane | undefined,
  mark: Mark,
  others: number,
  meanings: ReadonlyMap<string, string>,
): readonly string[] {
  const kind = lane?.packed.kind ?? 'ops';
  const detail = visible(lane?.detail ?? '');
  if (kind === 'counters' && lane) return counterLines(lane, mark, detail);
  const name = visible(catalog.names[mark.name] ?? '') || NO_NAME;
  const category = catalog.categories[mark.name];
  const length = mark.end - mark.start;
  const lines = [title(mark, kind, name, category)];
  const meaning = kind === 'gaps' ? meanings.get(name) : undefined;
  if (meaning) lines.push(meaning);
  const share = mark.count > 1 && length > 0 ? `, covered ${percent(mark.busy / length)}` : '';
  const what = category && mark.count === 1 ? `${category}, ` : '';
  lines.push(`${what}${withUnit(length, 'ns')}${share}, at ${moment(mark.start)}`);
  const time = timeKind(kind);
  const more = others > 0 ? `; ${decimal(others, 0)} more at this point, zoom in to see them` : '';
  lines.push(detail + (time ? ` (${time})` : '') + more);
  return lines;
}

function counterLines(lane: Lane, mark: Mark, detail: string): readonly string[] {
  const { unit } = lane.packed;
  const low = counterText(mark.busy, unit);
  const high = counterText(mark.high ?? mark.busy, unit);
  return [low === high ? high : `${low} to ${high}`, `at ${moment(mark.start)}`, detail];
}

export function summarise(timeline: Timeline): string {
  const length = timeline.end_ns - timeline.start_ns;
  const ops = timeline.rows.filter((row) => row.kind === 'ops');
  const count = ops.reduce((sum, row) => sum + row.count, 0);
  const devices = new Set(ops.map((row) => row.device)).size;
  const plural = (n: number, noun: string): string => `${decimal(n, 0)} ${noun}${n === 1 ? '' : 's'}`;
  const busiest = ops.reduce<PackedRow | null>((a, b) => (!a || b.busy_ns > a.busy_ns ? b : a), null);
  const share = busiest && length > 0 ? busiest.busy_ns / length : 0;
  const { ops: streams = 0, ...others } = timeline.rows_left_out;
  const left = Object.entries(others).filter(([, rows]) => rows > 0);
  return (
    `${plural(count, 'op')} on ${plural(ops.length, 'stream')} of ${plural(devices, 'GPU')} in ${withUnit(length, 'ns')}.` +
    (busiest
      ? ` The busiest, stream ${busiest.stream} of GPU ${busiest.device}, was busy ${percent(share)} of that.`
      : '') +
    (streams > 0 ? ` ${plural(streams, 'stream')} with less work not shown.` : '') +
    left.map(([kind, rows]) => ` ${plural(rows, 'row')} of ${kind.replace('_', ' ')} not shown.`).join('')
  );
}

/** How many items in the span are only seen together with others although they would have room. */
export function countHidden(rows: readonly Row[], span: Span, pixels: number): number {
  const perPixel = (span.end - span.start) / Math.max(pixels, 1);
  let hidden = 0;
  for (const row of rows) {
    // A joined item is about a grain long: while that is a few pixels there is nothing more to see.
    if (row.packed.grain_ns < 12 * perPixel) continue;
    const [first, last] = between(row, span.start, span.end);
    for (let i = first; i < last; i++) if (row.count[i]! > 1 && row.end[i]! >= span.start) hidden += row.count[i]!;
  }
  return hidden;
}
