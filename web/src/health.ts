// Data problems of the traces, and what data they lack.

import type { Report } from './data';
import { element, visible } from './dom';

export function healthView(report: Report): HTMLElement {
  const { issues } = report;
  const absent = Object.values(report.tables)
    .filter((table) => table.rows.length === 0)
    .map((table) => table.title);
  const several = report.inputs.length > 1;
  const rows = issues.map((issue) =>
    element(
      'li',
      { class: issue.loss ? 'issue loss' : 'issue' },
      element('span', { class: 'issue-count' }, issue.count.toLocaleString('en-US')),
      element(
        'span',
        {},
        element('code', {}, issue.id),
        ` ${issue.help}`,
        several && element('small', {}, ` (${visible(issue.input)})`),
      ),
    ),
  );
  return element(
    'section',
    { class: 'panel', id: 'health', 'aria-labelledby': 'title-health' },
    element('h2', { id: 'title-health' }, 'Trace health'),
    issues.length === 0 ? element('p', {}, 'No data problems found.') : element('ul', { class: 'issues' }, ...rows),
    absent.length > 0 && element('p', { class: 'origin' }, `No data for: ${absent.join(', ')}.`),
  );
}
