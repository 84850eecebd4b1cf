// The section of the page that shows what ran when.

import type { Report } from '../data';
import { createExplorer } from '../explore/index';
import { StoredSource } from '../explore/stored';
import type { Span } from './span';

export interface TimelineSection {
  readonly root: HTMLElement;
  /** Goes to a part of the timeline of an input. */
  look(input: string | undefined, span: Span): void;
}

export function timelineSection(report: Report): TimelineSection | null {
  if (!report.timelines?.length) return null;
  const explorer = createExplorer(new StoredSource(report), report);
  return { root: explorer.root, look: (input, span) => explorer.go({ input, ...span }) };
}
