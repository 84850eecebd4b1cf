// Where rows lead: kernels to the view about them, what has a start and an end to that part of the timeline.

import { columnIndex, hasFlag, numberOf, reader, type Row, type Table } from './data';
import type { Session } from './session';
import type { RowLink, RowLinks } from './table';

/** Tables with a row for each kernel, by the column with its name. */
const KERNELS: Readonly<Record<string, string>> = { kernels: 'name', kernel_launches: 'name', roofline: 'name' };

function kernelLink(session: Session, key: string, table: Table, row: Row): RowLink | null {
  const name = KERNELS[key] ? reader(table, KERNELS[key])(row) : null;
  if (name === null || columnIndex(table, 'a_name') >= 0) return null; // a row of a comparison stands for several
  const input = reader(table, 'input')(row);
  const subject = { name: String(name), input: input === null ? undefined : String(input) };
  return { label: 'Open the kernel view', go: () => session.open('kernel', subject) };
}

/** Moments count from the first op of the input, as in the timeline. */
function placeLink(session: Session, table: Table, row: Row): RowLink | null {
  const [start, end] = ['start_ns', 'end_ns'].map((key) => columnIndex(table, key)) as [number, number];
  if (start < 0 || end < 0 || !session.hasTimeline || !hasFlag(table.columns[start]!, 'moment')) return null;
  if (row[start] == null || row[end] == null) return null;
  const input = reader(table, 'input')(row);
  const to = {
    input: input === null ? undefined : String(input),
    start: numberOf(row[start]),
    end: numberOf(row[end]),
  };
  return { label: 'Show in the timeline', go: () => session.go(to) };
}

export function rowLinks(session: Session): RowLinks {
  return (key, table, row) => kernelLink(session, key, table, row) ?? placeLink(session, table, row);
}
