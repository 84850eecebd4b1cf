// Where the explorer's data come from: a server that has the whole trace (`gputime view`), or the report inside the page.
// Both answer the same questions; what a stored page does not have is null, and `command` says how to see it.

import type { Report, Unit } from '../data';
import type { Timeline } from '../timeline/rows';

/** A trace that can be looked at; its place in the list is what the other calls name it by. */
export interface SourceInput {
  readonly input: string;
  readonly path: string | null;
  readonly format?: string | null;
  readonly rank?: number | null;
}

/** What `gputime view` puts into the page in place of a report. */
export interface ViewInfo {
  readonly version: number;
  readonly title: string;
  readonly inputs: readonly SourceInput[];
  readonly command: string;
}

export interface ItemLine {
  readonly key: string;
  readonly title: string;
  readonly value: string | number | null;
  readonly unit: Unit | '%' | 'bytes/s';
}

/** Something elsewhere in the timeline that belongs to an item: its launch, its kernel, the call that waits for it. */
export interface Link {
  readonly kind: string;
  readonly lane: number;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly name: string;
}

/** An operator, range or Python function around the launch. */
export interface Frame {
  readonly kind: string;
  readonly name: string;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly lane: number | null;
}

export interface Item {
  readonly name: string;
  readonly lines: readonly ItemLine[];
  readonly stack: readonly Frame[]; // outermost first
  readonly links: readonly Link[];
  readonly others?: number; // more at the same place: `nth`
}

export interface Match {
  readonly lane: number;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly name: string;
}

export interface Found {
  readonly total: number;
  readonly matches: readonly Match[];
}

export interface SearchQuery {
  readonly input: number;
  readonly text: string;
  readonly from?: number; // from that time on
  readonly before?: number; // or backwards from there
  readonly limit?: number;
}

/** A part of the trace or traces; what is absent is not restricted. */
export interface Selection {
  readonly analyses?: readonly string[];
  readonly input?: number;
  readonly from?: number;
  readonly to?: number;
  readonly device?: number;
  readonly stream?: number;
  readonly pid?: number;
  readonly step?: string;
  readonly range?: string;
  readonly name?: string;
}

export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  readonly total_rows: number;
  readonly notes?: readonly string[];
  readonly error?: string | null;
}

export interface FlameQuery {
  readonly input: number;
  readonly of: 'operators' | 'python' | 'ranges';
  readonly by: 'gpu' | 'idle';
  readonly from?: number;
  readonly to?: number;
}

export interface FlameNode {
  readonly name: string;
  readonly parent: number | null;
  readonly ns: number;
  readonly own_ns: number;
  readonly count: number;
}

export interface Flame {
  readonly nodes: readonly FlameNode[];
}

/** Times are nanoseconds since the first op of the input. Every call may be abandoned through its signal. */
export interface Source {
  readonly isLive: boolean;
  readonly inputs: readonly SourceInput[];
  /** Every lane, without items. */
  lanes(input: number, signal?: AbortSignal): Promise<Timeline>;
  /** The items of some lanes (null: all) that touch a window, joined where smaller than its `width`th part. */
  window(
    input: number,
    from: number,
    to: number,
    width: number,
    lanes: readonly number[] | null,
    signal?: AbortSignal,
  ): Promise<Timeline>;
  item(
    input: number,
    lane: number,
    start: number,
    end: number,
    nth?: number,
    signal?: AbortSignal,
  ): Promise<Item | null>;
  search(query: SearchQuery, signal?: AbortSignal): Promise<Found>;
  report(selection: Selection, signal?: AbortSignal): Promise<Report | null>;
  diff(a: number, b: number, analyses?: readonly string[], signal?: AbortSignal): Promise<Report | null>;
  ranks(signal?: AbortSignal): Promise<Report | null>;
  sql(query: string, limit?: number, signal?: AbortSignal): Promise<SqlAnswer | null>;
  flame(query: FlameQuery, signal?: AbortSignal): Promise<Flame | null>;
  /** What to type for full detail, or for a part of it; null where this is it already. */
  command(input: number, from?: number, to?: number): string | null;
}

/** A part of an input's time, as chosen in the explorer. */
export interface Chosen {
  readonly input: number;
  readonly start: number;
  readonly end: number;
}

export interface Destination {
  readonly input?: number | string | undefined;
  readonly start: number;
  readonly end: number;
  readonly lane?: number;
}

/** The timeline on the page: `createExplorer(source)` of ./index makes it. */
export interface Explorer {
  readonly root: HTMLElement;
  /** Goes to a part, with something around it; pins the item of that lane, or the one that has these ends. */
  go(to: Destination): void;
  /** Calls back when a part of the time has been chosen, null when no longer; returns what ends that. */
  onSelect(listener: (chosen: Chosen | null) => void): () => void;
  /** Calls back when a kernel is to be looked at. */
  onOpen(listener: (kernel: string, input: string | undefined) => void): void;
  /** Ends what is chosen. */
  clear(): void;
}
