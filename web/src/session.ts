// What the parts of the page share: where data come from, what has been analysed, what is chosen, and the ways between
// tables, views and the timeline.

import type { Report } from './data';
import type { Chosen, Destination, Source, ViewInfo } from './explore/source';
import { quote } from './explore/words';

/** What a view is about, such as the name of a kernel; kept in the address. */
export interface Subject {
  readonly name?: string | undefined;
  readonly input?: string | undefined;
  readonly state?: string | undefined; // what is chosen in the view, in its own words
}

/** The state of an entry of the history that was made to go to the timeline, which needs none of its own then. */
export const ARRIVAL = 'arrival';

export interface Session {
  readonly source: Source;
  readonly info: ViewInfo | null; // of a live page
  readonly report: Report | null; // null until a server has analysed the traces
  readonly chosen: Chosen | null; // part of the time that is looked at
  readonly hasTimeline: boolean;
  /** Goes to the timeline, there. */
  go(to: Destination): void;
  /** Looks at everything again. */
  clear(): void;
  /** Opens a view. */
  open(view: string, subject?: Subject): void;
  /** Keeps what is chosen in the shown view: in the address, and for the next time that it is opened. */
  keep(state: string): void;
}

/** The place of an input in the source's list; the first where there is no such name. */
export function inputOf(session: Session, name: string | undefined): number {
  return Math.max(
    0,
    session.source.inputs.findIndex(({ input }) => input === name),
  );
}

/** What to type for a page that has everything, where this one has not. */
export function fullCommand(session: Session, input = 0): string {
  const { source, report } = session;
  const paths = report?.inputs.flatMap(({ path, format }) => (path === null || format === 'job' ? [] : [path])) ?? [];
  const named = paths.length > 0 ? paths.map(quote) : ['TRACE'];
  return source.command(input) ?? ['gputime view', ...named].join(' ');
}
