// The section of the page that shows what ran when; one timeline at a time where there are several inputs.

import type { Report } from '../data';
import { element, visible } from '../dom';
import type { Span } from './span';
import { TimelineView } from './view';

export interface TimelineSection {
  readonly root: HTMLElement;
  /** Goes to a part of the timeline of an input. */
  look(input: string | undefined, span: Span): void;
}

export function timelineSection(report: Report): TimelineSection | null {
  const timelines = report.timelines ?? [];
  const first = timelines[0];
  if (!first) return null;
  const made = new Map<number, TimelineView>();
  const viewOf = (index: number): TimelineView => {
    const view = made.get(index) ?? new TimelineView(report, timelines[index] ?? first);
    made.set(index, view);
    return view;
  };
  const host = element('div', {}, viewOf(0).root);
  const choice = element(
    'select',
    { 'aria-label': 'Trace' },
    ...timelines.map((timeline, i) => element('option', { value: i }, visible(timeline.input))),
  );
  const turnTo = (index: number): void => host.replaceChildren(viewOf(index).root);
  choice.addEventListener('change', () => turnTo(Number(choice.value)));
  const root = element(
    'section',
    { class: 'panel', id: 'timeline', 'aria-labelledby': 'title-timeline' },
    element('h2', { id: 'title-timeline' }, 'Timeline'),
    timelines.length > 1 && choice,
    host,
  );
  const look = (input: string | undefined, span: Span): void => {
    const index = Math.max(
      timelines.findIndex((timeline) => timeline.input === input),
      0,
    );
    choice.value = String(index);
    turnTo(index);
    root.scrollIntoView();
    viewOf(index).look(span);
  };
  return { root, look };
}
