// Makes the explorer of a page, and lets tests and scripts look at what it draws: gputime.explorer.model().

import { ExplorerView, type ExplorerOptions } from './explorer';
import type { Explorer, Source } from './source';

/** The explorer of the page, whose place is in the address; one of a fixed `input` is a plain timeline of that. */
export function createExplorer(source: Source, options: ExplorerOptions = {}): Explorer {
  const explorer = new ExplorerView(source, options);
  if (options.input === undefined)
    Object.assign(globalThis, { gputime: { explorer: { model: () => explorer.model() } } });
  return explorer;
}
