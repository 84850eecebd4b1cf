// Position of each row of the timeline: ranges on top, then each GPU with its gaps and its streams.

import { unpack, type Kind, type Row, type Timeline } from './rows';

export interface Lane {
  readonly row: Row;
  readonly label: string;
  readonly detail: string; // full label
  readonly top: number;
  readonly height: number;
}

export interface Heading {
  readonly label: string;
  readonly top: number;
}

export interface Layout {
  readonly lanes: readonly Lane[];
  readonly headings: readonly Heading[];
  readonly height: number;
}

export const HEADING = 22;
const HEIGHTS: Readonly<Record<Kind, number>> = {
  steps: 18,
  counters: 40,
  gaps: 16,
  ops: 26,
  collectives: 18,
  ranges: 18,
  host_ranges: 18,
  operators: 18,
  python: 18,
  calls: 18,
};
const BETWEEN = 3;

function whose(row: Row, several: boolean): string {
  return several && row.packed.pid !== null ? `, process ${row.packed.pid}` : '';
}

function labelOf(row: Row, processes: boolean): { label: string; detail: string } {
  const { device, stream, tid, level } = row.packed;
  const owner = whose(row, processes);
  if (row.kind === 'gaps') return { label: 'idle', detail: `GPU ${device}, idle` };
  if (row.kind === 'ops')
    return { label: `stream ${stream}${owner}`, detail: `GPU ${device}, stream ${stream}${owner}` };
  const place = tid !== null ? `thread ${tid}` : stream !== null ? `GPU ${device}, stream ${stream}` : 'all threads';
  return {
    label: level === 0 ? place : '',
    detail: `ranges, ${place}${owner}, level ${level ?? 0}`,
  };
}

export function arrange(timeline: Timeline): Layout {
  const rows = timeline.rows.map(unpack);
  const processes = new Set(rows.filter((row) => row.kind === 'ops').map((row) => row.packed.pid)).size > 1;
  const lanes: Lane[] = [];
  const headings: Heading[] = [];
  let top = 0;
  const head = (label: string): void => {
    headings.push({ label, top });
    top += HEADING;
  };
  const add = (row: Row): void => {
    const height = HEIGHTS[row.kind];
    lanes.push({ row, ...labelOf(row, processes), top, height });
    top += height + BETWEEN;
  };
  const ranges = rows.filter((row) => row.kind === 'ranges');
  if (ranges.length > 0) head('Ranges');
  ranges.forEach(add);
  const devices = [...new Set(rows.filter((row) => row.kind !== 'ranges').map((row) => row.packed.device))];
  for (const device of devices.sort((a, b) => (a ?? 0) - (b ?? 0))) {
    head(`GPU ${device}`);
    for (const kind of ['gaps', 'ops'] as const) {
      rows.filter((row) => row.kind === kind && row.packed.device === device).forEach(add);
    }
  }
  return { lanes, headings, height: top + BETWEEN };
}

export function laneAt(layout: Layout, y: number): Lane | null {
  return layout.lanes.find((lane) => y >= lane.top - BETWEEN / 2 && y < lane.top + lane.height + BETWEEN / 2) ?? null;
}
