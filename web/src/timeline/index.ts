// The section of the page that shows what ran when; one timeline at a time where there are several inputs.

import type { Report } from '../data';
import { element, visible } from '../dom';
import { TimelineView } from './view';

export function timelineSection(report: Report): HTMLElement | null {
  const timelines = report.timelines ?? [];
  const first = timelines[0];
  if (!first) return null;
  const made = new Map<number, HTMLElement>();
  const rootOf = (index: number): HTMLElement => {
    const root = made.get(index) ?? new TimelineView(report, timelines[index] ?? first).root;
    made.set(index, root);
    return root;
  };
  const host = element('div', {}, rootOf(0));
  const choice = element(
    'select',
    { 'aria-label': 'Trace' },
    ...timelines.map((timeline, i) => element('option', { value: i }, visible(timeline.input))),
  );
  choice.addEventListener('change', () => host.replaceChildren(rootOf(Number(choice.value))));
  return element(
    'section',
    { class: 'panel', id: 'timeline', 'aria-labelledby': 'title-timeline' },
    element('h2', { id: 'title-timeline' }, 'Timeline'),
    timelines.length > 1 && choice,
    host,
  );
}
