// Makes the explorer of a page, and lets tests and scripts look at what it draws: gputime.explorer.model().

import type { Report } from '../data';
import { ExplorerView } from './explorer';
import type { Explorer, Source } from './source';

/** `report` is that of a stored page, whose words on causes are used; null where there is none (yet). */
export function createExplorer(source: Source, report: Report | null = null, only: number | null = null): Explorer {
  if (only !== null) return new ExplorerView(source, report, only);
  const explorer = new ExplorerView(source, report);
  Object.assign(globalThis, { gputime: { explorer: { model: () => explorer.model() } } });
  return explorer;
}
