// The timeline in words: what an item is, what a row holds, and which command shows what the page has no room for.

import { columnIndex, reader, type Report } from '../data';
import { visible } from '../dom';
import { decimal, percent, withUnit } from '../format';
import type { Lane } from './lanes';
import { between, type Kind, type Row, type Timeline } from './rows';
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
export function causeMeanings(report: Report): ReadonlyMap<string, string> {
  const table = report.tables.idle_causes;
  if (!table || columnIndex(table, 'meaning') < 0) return new Map();
  const cause = reader(table, 'cause');
  const meaning = reader(table, 'meaning');
  return new Map(table.rows.map((row) => [String(cause(row)), String(meaning(row))]));
}

/** A kernel's own name, for where there is little room: no return type, namespaces, template arguments or parameters. */
export function shortName(name: string): string {
  const plain = name.replace(/\((?:anonymous namespace|unnamed)\)::/g, '').replace(/^void /, '');
  const wrapped = /^cutlass::Kernel2?<(\w+)>/.exec(plain);
  if (wrapped) return wrapped[1]!;
  const end = plain.search(/[<(]/);
  const head = end > 0 ? plain.slice(0, end) : plain;
  const space = head.lastIndexOf('::');
  return head.slice(space < 0 ? 0 : space + 2).trim() || name;
}

function moment(time: number): string {
  return `${decimal(time / 1e6, 6)} ms`;
}

/** Lines: what it is, how long, where. */
export function describeItem(
  timeline: Timeline,
  lane: Lane,
  item: number,
  others: number,
  meanings: ReadonlyMap<string, string>,
): readonly string[] {
  const { row } = lane;
  const count = row.count[item]!;
  const length = row.end[item]! - row.start[item]!;
  const index = row.name[item]!;
  const name = visible(timeline.names[index]!) || NO_NAME;
  const category = timeline.categories[index];
  const lines: string[] = [];
  if (row.kind === 'gaps') {
    const meaning = meanings.get(name);
    lines.push(count > 1 ? `${decimal(count, 0)} gaps, mostly ${name}` : `Idle: ${name}`);
    if (meaning) lines.push(meaning);
  } else {
    lines.push(
      count > 1
        ? `${decimal(count, 0)} ${NOUNS[row.kind]}; the longest${category ? ` of ${category}` : ''}: ${name}`
        : name,
    );
  }
  const share = count > 1 && length > 0 ? `, covered ${percent(row.busy[item]! / length)}` : '';
  lines.push(
    `${category && count === 1 ? `${category}, ` : ''}${withUnit(length, 'ns')}${share}, at ${moment(row.start[item]!)}`,
  );
  lines.push(lane.detail + (others > 0 ? `; ${decimal(others, 0)} more at this point, zoom in to see them` : ''));
  return lines;
}

export function summarise(timeline: Timeline, rows: readonly Row[]): string {
  const length = timeline.end_ns - timeline.start_ns;
  const of = (kind: Row['kind']): readonly Row[] => rows.filter((row) => row.kind === kind);
  const ops = of('ops').reduce((sum, row) => sum + row.packed.count, 0);
  const devices = new Set(of('ops').map((row) => row.packed.device)).size;
  const plural = (count: number, noun: string): string => `${decimal(count, 0)} ${noun}${count === 1 ? '' : 's'}`;
  const busiest = [...of('ops')].sort((a, b) => b.packed.busy_ns - a.packed.busy_ns)[0];
  const share = busiest && length > 0 ? busiest.packed.busy_ns / length : 0;
  const left = timeline.rows_left_out;
  return (
    `${plural(ops, 'op')} on ${plural(of('ops').length, 'stream')} of ${plural(devices, 'GPU')} in ${withUnit(length, 'ns')}.` +
    (busiest
      ? ` The busiest, stream ${busiest.packed.stream} of GPU ${busiest.packed.device}, was busy ${percent(share)} of that.`
      : '') +
    ((left.ops ?? 0) > 0 ? ` ${plural(left.ops!, 'stream')} with less work not shown.` : '') +
    ((left.ranges ?? 0) > 0 ? ` ${plural(left.ranges!, 'row')} of ranges not shown.` : '')
  );
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** The command for a page of what is shown. */
export function commandFor(report: Report, timeline: Timeline, span: Span): string {
  const path = report.inputs.find((input) => input.input === timeline.input)?.path ?? 'TRACE';
  const words = [
    'gputime',
    report.command,
    path,
    '--from',
    `${Math.floor(span.start)}ns`,
    '--to',
    `${Math.ceil(span.end)}ns`,
  ];
  for (const { name, value } of timeline.options) words.push(`--${name}`, value);
  return [...words, '--html', '-o', 'part.html'].map(quote).join(' ');
}

/** How many ops, ranges and gaps in the span are only seen together with others although they would have room. */
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
