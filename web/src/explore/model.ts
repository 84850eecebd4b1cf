// What is drawn, as plain data: tests compare it with what the program says of the same trace.

import type { Lane } from '../timeline/lanes';
import { between } from '../timeline/rows';
import type { TimelineView } from '../timeline/view';

export interface ModelItem {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly category: string | null;
  readonly count: number;
  readonly busy: number;
}

export interface ModelLane {
  readonly lane: number;
  readonly kind: string;
  readonly device: number | null;
  readonly stream: number | null;
  readonly pid: number | null;
  readonly tid: number | null;
  readonly level: number | null;
  readonly label: string;
  readonly detail: string;
  readonly top: number; // pixels, in the drawing
  readonly height: number;
  readonly isExact: boolean;
  readonly items: readonly ModelItem[];
}

export interface Model {
  readonly input: number;
  readonly start: number;
  readonly end: number;
  readonly gutter: number;
  readonly isSettled: boolean;
  readonly pinned: {
    readonly lane: number;
    readonly start: number;
    readonly end: number;
    readonly name: string;
  } | null;
  readonly chosen: { readonly start: number; readonly end: number } | null;
  readonly arrows: number;
  readonly lanes: readonly ModelLane[]; // those that are seen
}

function itemsOf(view: TimelineView, lane: Lane): ModelItem[] {
  const row = view.rowOf(lane);
  if (!row) return [];
  const { names, categories } = view.tiles.catalog;
  const [first, last] = between(row, view.span.start, view.span.end);
  const items: ModelItem[] = [];
  for (let i = first; i < last; i++) {
    if (row.end[i]! < view.span.start) continue;
    items.push({
      start: row.start[i]!,
      end: row.end[i]!,
      name: row.high ? '' : names[row.name[i]!]!,
      category: categories[row.name[i]!] ?? null,
      count: row.count[i]!,
      busy: row.busy[i]!,
    });
  }
  return items;
}

function laneModel(view: TimelineView, lane: Lane): ModelLane {
  const { kind, device, stream, pid, tid, level } = lane.packed;
  return {
    lane: lane.id,
    kind,
    device,
    stream,
    pid,
    tid,
    level,
    label: lane.label,
    detail: lane.detail,
    top: view.yOf(lane),
    height: lane.height,
    isExact: view.tiles.isExact(lane.id, view.span, view.room()),
    items: itemsOf(view, lane),
  };
}

/** Lanes are made when they are asked for: who waits for a state looks at the rest many times. */
export function modelOf(view: TimelineView, input: number, isWaiting: boolean): Model {
  const { start, end } = view.span;
  const { pinned, chosen } = view;
  return {
    input,
    start,
    end,
    gutter: view.gutterWidth(),
    isSettled: view.isSettled && !isWaiting,
    pinned: pinned && {
      lane: pinned.lane,
      start: pinned.start,
      end: pinned.end,
      name: view.tiles.catalog.names[pinned.name]!,
    },
    chosen,
    arrows: view.arrows.length,
    get lanes() {
      return view.seen().map((lane) => laneModel(view, lane));
    },
  };
}
