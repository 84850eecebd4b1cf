// The source of a page, by what the page carries.

import { unpackReport, type Report } from '../data';
import { ServerSource } from './server';
import type { Source, ViewInfo } from './source';
import { StoredSource } from './stored';

export interface Opened {
  readonly source: Source;
  readonly report: Report | null; // of a stored page
  readonly view: ViewInfo | null; // of a server's
}

/** `carried` is the JSON of the page: a report, or what `gputime view` says of itself. */
export function openSource(carried: unknown): Opened {
  const { view } = carried as { view?: ViewInfo };
  if (view) {
    const source = new ServerSource(view);
    source.stayAlive();
    return { source, report: null, view };
  }
  const report = unpackReport(carried);
  return { source: new StoredSource(report), report, view: null };
}
