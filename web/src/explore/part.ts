// Where the time of a chosen part went, asked of a server: ops and gaps of the whole trace, cut to the part, so that an idle
// GPU has the cause that its lane shows.

import { numbers, type Report } from '../data';
import type { Timeline } from '../timeline/rows';
import { lengthOf, type Span } from '../timeline/span';
import { REST, type Account, type GapShare, type KernelShare, type Share, type Told } from './account';
import type { Source, SqlAnswer } from './source';

const MOST = 12; // rows of a list

type Cells = SqlAnswer['rows'][number];

function devicesOf(timeline: Timeline): number[] {
  const rows = timeline.rows.filter(({ kind }) => kind === 'ops' || kind === 'gaps');
  return [...new Set(rows.map(({ device }) => device ?? 0))].sort((a, b) => a - b);
}

/** The time of each class, which a report on the part has. */
function busyOf({ tables }: Report, device: number): Share[] {
  const table = tables['accounting'];
  const row = table?.rows.find((each) => numbers(table, 'device')(each) === device);
  if (!table || !row) return [];
  return [
    { name: 'compute', ns: numbers(table, 'compute_ns')(row) },
    { name: 'exposed communication', ns: numbers(table, 'exposed_comm_ns')(row) },
    { name: 'exposed memory', ns: numbers(table, 'exposed_memory_ns')(row) },
  ];
}

function accountOf(report: Report, device: number, causes: readonly Cells[], part: Span): Account {
  const idle = causes
    .filter((cells) => Number(cells[0]) === device)
    .map((cells) => ({ name: `idle: ${String(cells[1])}`, ns: Number(cells[2]) }));
  const parts = [...busyOf(report, device), ...idle];
  const rest = lengthOf(part) - parts.reduce((sum, { ns }) => sum + ns, 0);
  if (rest > 0) parts.push({ name: REST, ns: rest });
  return { device, parts: parts.filter(({ ns }) => ns > 0) };
}

function kernelOf([name, isKernel, count, ns]: Cells): KernelShare {
  return { name: String(name ?? ''), isKernel: isKernel === 1, count: Number(count), ns: Number(ns) };
}

function gapOf([device, cause, start, end]: Cells, timeline: Timeline, part: Span): GapShare {
  const [from, to] = [Number(start), Number(end)];
  const lane = timeline.rows.find((row) => row.kind === 'gaps' && row.device === Number(device))?.lane ?? null;
  return { name: String(cause), ns: Math.min(to, part.end) - Math.max(from, part.start), start: from, end: to, lane };
}

export async function measurePart(
  source: Source,
  input: number,
  timeline: Timeline,
  span: Span,
  signal: AbortSignal,
): Promise<Told | null> {
  const part = { start: Math.floor(span.start), end: Math.ceil(span.end) };
  const name = (source.inputs[input]?.input ?? '').replace(/'/g, "''");
  const where = `where input = '${name}' and start_ns < ${part.end} and end_ns > ${part.start}`;
  const inside = `min(end_ns, ${part.end}) - max(start_ns, ${part.start})`;
  const ask = async (query: string, limit: number): Promise<SqlAnswer> => {
    const answer = await source.sql(query, limit, signal);
    if (!answer || answer.error) throw new Error(answer?.error ?? 'no answer');
    return answer;
  };
  const [report, causes, ops, gaps] = await Promise.all([
    source.report({ analyses: ['accounting'], input, from: part.start, to: part.end }, signal),
    ask(`select device, cause, sum(${inside}) as ns from gaps ${where} group by device, cause order by ns desc`, 1000),
    ask(
      `select name, kind in ('kernel', 'graph'), count(*), sum(${inside}) as ns from ops ${where}
       group by name, kind in ('kernel', 'graph') order by ns desc, name`,
      MOST,
    ),
    ask(`select device, cause, start_ns, end_ns from gaps ${where} order by ${inside} desc, start_ns`, MOST),
  ]);
  if (!report) return null;
  return {
    accounts: devicesOf(timeline).map((device) => accountOf(report, device, causes.rows, span)),
    kernels: ops.rows.map(kernelOf),
    kernelCount: ops.total_rows,
    gaps: gaps.rows.map((cells) => gapOf(cells, timeline, part)),
    gapCount: gaps.total_rows,
  };
}
