// Which rows are shown and where: each GPU with its counters, gaps and streams, ranges by GPU time, then CPU threads.
// Groups are folded, open to a few rows, or open to all of them.

import type { Kind, PackedRow, Timeline } from './rows';

export type Fold = 'folded' | 'some' | 'all';

export interface Lane {
  readonly id: number;
  readonly packed: PackedRow;
  readonly label: string;
  readonly detail: string; // full label
  readonly top: number;
  readonly height: number;
}

export interface Group {
  readonly id: string;
  readonly title: string;
  readonly note: string; // which times its rows show
  readonly rows: readonly PackedRow[];
  readonly few: readonly PackedRow[]; // those of `some`
  readonly standard: Fold;
}

export interface Head {
  readonly group: Group;
  readonly fold: Fold;
  readonly top: number;
  readonly preview: Lane | null; // of a folded group: its main row, in the head itself
}

/** Offers the other rows of a group, or fewer. */
export interface More {
  readonly group: Group;
  readonly top: number;
  readonly count: number; // 0: all are shown
}

export interface Layout {
  readonly lanes: readonly Lane[]; // those that are seen, from top to bottom
  readonly heads: readonly Head[];
  readonly mores: readonly More[];
  readonly height: number;
}

export const HEADING = 22;
const MORE = 18;
const HEIGHTS: Readonly<Record<Kind, number>> = {
  steps: 18,
  counters: 34,
  gaps: 16,
  ops: 24,
  collectives: 18,
  ranges: 17,
  host_ranges: 17,
  operators: 17,
  python: 17,
  calls: 17,
};
export const BETWEEN = 2;

const DEVICE_KINDS: readonly Kind[] = ['counters', 'gaps', 'ops', 'collectives'];
const THREAD_KINDS: readonly Kind[] = ['host_ranges', 'operators', 'python', 'calls'];
const FEW: Readonly<Partial<Record<Kind, number>>> = { counters: 4, ops: 12, collectives: 6 }; // rows
const LEVELS = 4; // of nesting
const OPEN_DEVICES = 8;
const OPEN_THREADS = 1;

const TITLES: Readonly<Partial<Record<Kind, string>>> = {
  host_ranges: 'ranges',
  operators: 'operators',
  python: 'Python',
  calls: 'API calls',
};

/** Whether a row shows when the CPU did something, not when the GPU did. */
export function isHost(kind: Kind): boolean {
  return THREAD_KINDS.includes(kind);
}

function threadName({ thread, tid }: PackedRow): string {
  return thread ?? (tid !== null ? `thread ${tid}` : 'all threads');
}

function ownerOf({ pid }: PackedRow, several: boolean): string {
  return several && pid !== null ? `, process ${pid}` : '';
}

function labelOf(row: PackedRow, several: boolean): { label: string; detail: string } {
  const { kind, device, stream, level, title, group } = row;
  const owner = ownerOf(row, several);
  switch (kind) {
    case 'steps':
      return { label: title ?? 'steps', detail: `steps${owner}` };
    case 'counters': {
      const label = title ?? 'counter';
      return { label, detail: device === null ? label : `GPU ${device}, ${label}` };
    }
    case 'gaps':
      return { label: 'idle', detail: `GPU ${device}, idle` };
    case 'ops':
      return { label: `stream ${stream}${owner}`, detail: `GPU ${device}, stream ${stream}${owner}` };
    case 'collectives': {
      const label = title ?? (group ? `group ${group}` : 'collectives');
      return { label, detail: device === null ? label : `GPU ${device}, collectives: ${label}` };
    }
    case 'ranges': {
      const place =
        row.tid !== null ? threadName(row) : stream !== null ? `GPU ${device}, stream ${stream}` : 'all threads';
      return { label: level ? '' : place, detail: `ranges, ${place}${owner}, level ${level ?? 0}` };
    }
    default:
      return {
        label: level ? '' : (TITLES[kind] ?? kind),
        detail: `${threadName(row)}${owner}, ${TITLES[kind] ?? kind} on the CPU, level ${level ?? 0}`,
      };
  }
}

/** The rows with most time of each kind, and the outermost levels, in their order. */
function fewOf(rows: readonly PackedRow[]): PackedRow[] {
  const kept = new Set<PackedRow>();
  for (const kind of new Set(rows.map((row) => row.kind))) {
    const all = rows.filter((row) => row.kind === kind && (row.level ?? 0) < LEVELS);
    const byTime = [...all].sort((a, b) => b.busy_ns - a.busy_ns);
    for (const row of byTime.slice(0, FEW[kind] ?? byTime.length)) kept.add(row);
  }
  return rows.filter((row) => kept.has(row));
}

function groupOf(id: string, title: string, note: string, rows: readonly PackedRow[], isOpen: boolean): Group {
  return { id, title, note, rows, few: fewOf(rows), standard: isOpen ? 'some' : 'folded' };
}

function byKind(rows: readonly PackedRow[], kinds: readonly Kind[]): PackedRow[] {
  return kinds.flatMap((kind) => rows.filter((row) => row.kind === kind));
}

/** A counter that is zero all the time would only take room. */
function isEmpty({ kind, low, high }: PackedRow): boolean {
  return kind === 'counters' && low === 0 && high === 0;
}

/** The GPUs, and last and folded what belongs to none: counters of the CPU. */
function devicesOf(timeline: Timeline): Group[] {
  const rows = timeline.rows.filter((row) => DEVICE_KINDS.includes(row.kind) && !isEmpty(row));
  const devices = [...new Set(rows.map((row) => row.device))].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
  return devices.map((device, place) => {
    const own = byKind(
      rows.filter((row) => row.device === device),
      DEVICE_KINDS,
    );
    const isAside = own.every((row) => row.device === null && row.kind === 'counters');
    const title = device === null ? 'Counters' : `GPU ${device}`;
    return groupOf(`gpu${device ?? ''}`, title, '', own, place < OPEN_DEVICES && !isAside);
  });
}

function threadsOf(timeline: Timeline, several: boolean): Group[] {
  const groups = new Map<string, PackedRow[]>();
  for (const row of timeline.rows) {
    if (!isHost(row.kind)) continue;
    const key = `cpu${row.pid ?? ''}.${row.tid ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const launches = (rows: readonly PackedRow[]): number =>
    rows.reduce((sum, row) => sum + (row.kind === 'calls' ? row.count : row.count / 1e6), 0);
  return [...groups]
    .sort((a, b) => launches(b[1]) - launches(a[1]))
    .map(([key, rows], place) => {
      const name = threadName(rows[0]!);
      const title = `${name}${ownerOf(rows[0]!, several)}`;
      return groupOf(key, title, 'CPU time', byKind(rows, THREAD_KINDS), place < OPEN_THREADS);
    });
}

export function groupsOf(timeline: Timeline): Group[] {
  const several = new Set(timeline.rows.filter((row) => row.kind === 'ops').map((row) => row.pid)).size > 1;
  const groups: Group[] = [];
  const steps = timeline.rows.filter((row) => row.kind === 'steps');
  if (steps.length > 0) groups.push(groupOf('steps', 'Steps', '', steps, true));
  groups.push(...devicesOf(timeline));
  const ranges = timeline.rows.filter((row) => row.kind === 'ranges');
  if (ranges.length > 0)
    groups.push(
      groupOf('ranges', 'Ranges', 'projected: each from the first to the last GPU op launched in it', ranges, true),
    );
  return [...groups, ...threadsOf(timeline, several)];
}

/** The row that stands for a folded group. */
function mainRow(group: Group): PackedRow | undefined {
  const candidates = group.rows.filter((row) => row.kind !== 'counters' && row.kind !== 'gaps' && !row.level);
  return candidates.reduce<PackedRow | undefined>((a, b) => (!a || b.busy_ns > a.busy_ns ? b : a), undefined);
}

export function arrange(groups: readonly Group[], folds: ReadonlyMap<string, Fold>): Layout {
  const several =
    new Set(groups.flatMap((group) => group.rows.filter((row) => row.kind === 'ops').map((row) => row.pid))).size > 1;
  const lanes: Lane[] = [];
  const heads: Head[] = [];
  const mores: More[] = [];
  let top = 0;
  const laneOf = (row: PackedRow, at: number, height: number): Lane => {
    const lane = { id: row.lane!, packed: row, ...labelOf(row, several), top: at, height };
    lanes.push(lane);
    return lane;
  };
  for (const group of groups) {
    const fold = folds.get(group.id) ?? group.standard;
    const isPlain = group.id === 'steps'; // few rows that need no head
    const main = fold === 'folded' && !isPlain ? mainRow(group) : undefined;
    if (!isPlain) {
      const preview = main ? laneOf(main, top + 5, HEADING - 8) : null;
      heads.push({ group, fold, top, preview });
      top += HEADING;
    }
    if (fold === 'folded' && !isPlain) continue;
    for (const row of fold === 'all' ? group.rows : group.few) {
      const height = HEIGHTS[row.kind];
      laneOf(row, top, height);
      top += height + BETWEEN;
    }
    if (group.few.length === group.rows.length) continue;
    mores.push({ group, top, count: fold === 'all' ? 0 : group.rows.length - group.few.length });
    top += MORE;
  }
  return { lanes, heads, mores, height: top + BETWEEN };
}

export function laneAt(layout: Layout, y: number): Lane | null {
  return layout.lanes.find((lane) => y >= lane.top - BETWEEN / 2 && y < lane.top + lane.height + BETWEEN / 2) ?? null;
}
