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

/** `carried` is the JSON of the page: a report, or what `gputime view` says of itself. A server that ends is `heard` of. */
export function openSource(carried: unknown, heard: (isThere: boolean) => void): Opened {
  const { view } = carried as { view?: ViewInfo };
  if (view) {
    const source = new ServerSource(view);
    source.stayAlive(heard);
    return { source, report: null, view };
  }
  const report = unpackReport(carried);
  return { source: new StoredSource(report), report, view: null };
}
