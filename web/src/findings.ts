// Findings, most severe first, each with its evidence and a link to the rows that support it and to the timeline.

import type { Finding, Input, Report } from './data';
import { button, element, visible } from './dom';
import { withUnit } from './format';
import type { TimelineSection } from './timeline/index';

const OPEN = 3;

type Look = TimelineSection['look'] | undefined;
type Point = (table: string, texts: readonly string[]) => void;

function sentences(title: string, texts: readonly string[]): HTMLElement | null {
  if (texts.length === 0) return null;
  const items = texts.map((text) => element('li', {}, element('bdi', {}, visible(text))));
  return element('div', {}, element('h4', {}, title), element('ul', {}, ...items));
}

/** As the terminal has it: saves 26.5 ms a step, simulated. */
function worth(finding: Finding): string | null {
  const step = finding.recoverable_step_ns ?? 0;
  const total = finding.recoverable_ns ?? 0;
  if (total <= 0 || finding.share == null) return null;
  const gain = withUnit(step > 0 ? step : total, 'ns');
  const isSimulated = finding.saving_by === 'simulation';
  return `saves ${isSimulated ? '' : 'up to '}${gain}${step > 0 ? ' a step' : ''}${isSimulated ? ', simulated' : ''}`;
}

/** Where most of it is: each goes to that part of the timeline. */
function windowsView(finding: Finding, look: Look): HTMLElement | null {
  const windows = finding.windows ?? [];
  if (windows.length === 0 || !look) return null;
  const links = windows.map(({ start_ns: start, end_ns: end, device }) =>
    button(`${withUnit(end - start, 'ns')} at ${withUnit(start, 'ns')} on GPU ${device}`, { class: 'quiet' }, () =>
      look(finding.input, { start, end }),
    ),
  );
  return element('div', { class: 'windows' }, element('h4', {}, 'In the timeline'), ...links);
}

function ruleView(finding: Finding): HTMLElement | null {
  if (!finding.rule) return null;
  return element(
    'details',
    { class: 'rule' },
    element('summary', {}, `Rule ${finding.id}`),
    element('p', {}, `${finding.rule} `, element('code', {}, `gputime findings --why ${finding.id}`)),
  );
}

/** The first ones are open; more would hide what comes after them. */
function findingView(report: Report, finding: Finding, isOpen: boolean, point: Point, look: Look): HTMLElement {
  const { table } = finding;
  const target = table ? report.tables[table] : undefined;
  const link =
    table &&
    target &&
    button(`See: ${target.title}`, { class: 'quiet' }, () => point(table, [finding.title, ...finding.evidence]));
  const gain = worth(finding);
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
        gain && element('span', { class: 'gain' }, gain),
        report.inputs.length > 1 && finding.input ? element('span', { class: 'gain' }, visible(finding.input)) : null,
      ),
      sentences('Evidence', finding.evidence),
      sentences('Advice', finding.advice),
      link || null,
      windowsView(finding, look),
      ruleView(finding),
    ),
  );
}

/** What is said of an input in which nothing stands out. */
function verdictView(report: Report, input: Input): HTMLElement | null {
  const verdict = input.facts?.['findings_verdict'];
  if (typeof verdict !== 'string') return null;
  return element('p', { class: 'verdict' }, visible(report.inputs.length > 1 ? `${input.input}: ${verdict}` : verdict));
}

const SEVERITIES = ['high', 'medium', 'low'];

/** Over all inputs; those of one are in their order already. */
function rank(findings: readonly Finding[]): Finding[] {
  const severity = (finding: Finding): number => SEVERITIES.indexOf(finding.severity);
  const gain = (finding: Finding): number => finding.recoverable_ns ?? 0;
  return [...findings].sort((a, b) => severity(a) - severity(b) || gain(b) - gain(a));
}

export function findingsView(report: Report, point: Point, look: Look): HTMLElement | null {
  const verdicts = report.inputs.map((input) => verdictView(report, input)).filter((view) => view !== null);
  const ranked = report.inputs.length > 1 ? rank(report.findings) : report.findings;
  if (ranked.length === 0 && verdicts.length === 0) return null;
  const view = element(
    'section',
    { class: 'panel', id: 'findings', 'aria-labelledby': 'title-findings' },
    element('h2', { id: 'title-findings' }, 'Findings'),
    ...verdicts,
    element(
      'ol',
      { class: 'findings' },
      ...ranked.map((finding, place) => findingView(report, finding, place < OPEN, point, look)),
    ),
  );
  addEventListener('beforeprint', () => {
    for (const each of view.querySelectorAll('details')) each.open = true;
  });
  return view;
}
