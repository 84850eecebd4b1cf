// Findings, largest potential saving first, each with its evidence and a link to the rows that support it.

import type { Finding, Report } from './data';
import { button, element, visible } from './dom';
import { withUnit } from './format';

const OPEN = 3;

type Point = (table: string, texts: readonly string[]) => void;

function sentences(title: string, texts: readonly string[]): HTMLElement | null {
  if (texts.length === 0) return null;
  const items = texts.map((text) => element('li', {}, element('bdi', {}, visible(text))));
  return element('div', {}, element('h4', {}, title), element('ul', {}, ...items));
}

/** The first ones are open; more would hide what comes after them. */
function findingView(report: Report, finding: Finding, isOpen: boolean, point: Point): HTMLElement {
  const { table } = finding;
  const target = table ? report.tables[table] : undefined;
  const link =
    table &&
    target &&
    button(`See: ${target.title}`, { class: 'quiet' }, () => point(table, [finding.title, ...finding.evidence]));
  const gain = finding.recoverable_ns != null && finding.recoverable_ns > 0;
  return element(
    'li',
    { class: `finding ${finding.severity.replace(/\W/g, '')}` },
    element(
      'details',
      { open: isOpen },
      element(
        'summary',
        {},
        element('span', { class: 'severity' }, finding.severity),
        element('h3', {}, element('bdi', {}, visible(finding.title))),
        gain && element('span', { class: 'gain' }, `potential saving ${withUnit(finding.recoverable_ns ?? 0, 'ns')}`),
        report.inputs.length > 1 && finding.input ? element('span', { class: 'gain' }, visible(finding.input)) : null,
      ),
      sentences('Evidence', finding.evidence),
      sentences('Advice', finding.advice),
      link || null,
    ),
  );
}

export function findingsView(report: Report, point: Point): HTMLElement {
  const gain = (finding: Finding): number => finding.recoverable_ns ?? -1;
  const ranked = [...report.findings].sort((a, b) => gain(b) - gain(a)); // over all inputs; within one they are already
  const view = element(
    'section',
    { class: 'panel', id: 'findings', 'aria-labelledby': 'title-findings' },
    element('h2', { id: 'title-findings' }, 'Findings'),
    element(
      'ol',
      { class: 'findings' },
      ...ranked.map((finding, place) => findingView(report, finding, place < OPEN, point)),
    ),
  );
  addEventListener('beforeprint', () => {
    for (const each of view.querySelectorAll('details')) each.open = true;
  });
  return view;
}
