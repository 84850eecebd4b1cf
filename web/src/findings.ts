// Findings, most severe first, a line each: what it is and what it saves. Opened, they give their evidence, and links to
// the rows that support it and to the timeline.

import type { Finding, Input, Report } from './data';
import { button, element, visible } from './dom';
import { withUnit } from './format';

const SHOWN = 3;

export interface FindingLinks {
  /** Goes to the rows of a table whose names occur in the texts. */
  point(table: string, texts: readonly string[]): void;
  /** Goes to a part of the timeline; null where there is none. */
  readonly look: ((input: string | undefined, start: number, end: number) => void) | null;
}

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
function windowsView(finding: Finding, { look }: FindingLinks): HTMLElement | null {
  const windows = finding.windows ?? [];
  if (windows.length === 0 || !look) return null;
  const links = windows.map(({ start_ns: start, end_ns: end, device }) =>
    button(`${withUnit(end - start, 'ns')} at ${withUnit(start, 'ns')} on GPU ${device}`, { class: 'quiet' }, () =>
      look(finding.input, start, end),
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

function evidenceLink(report: Report, { table, title, evidence }: Finding, links: FindingLinks): HTMLElement | null {
  const target = table ? report.tables[table] : undefined;
  if (!table || !target) return null;
  return button(`See: ${target.title}`, { class: 'quiet' }, () => links.point(table, [title, ...evidence]));
}

/** Goes to the worst place in the timeline, where there is one. */
function titleView(finding: Finding, { look }: FindingLinks): HTMLElement {
  const title = element('bdi', {}, visible(finding.title));
  const first = finding.windows?.[0];
  if (!first || !look) return title;
  const go = button('', { class: 'finding-title', title: 'Show its worst place in the timeline' }, () =>
    look(finding.input, first.start_ns, first.end_ns),
  );
  go.append(title);
  return go;
}

/** Opens and closes what belongs to a line. */
function toggleView(body: HTMLElement): HTMLElement {
  const toggle = button('Evidence', { class: 'quiet finding-toggle', 'aria-expanded': 'false' }, () => {
    body.hidden = !body.hidden;
    toggle.setAttribute('aria-expanded', String(!body.hidden));
    toggle.textContent = body.hidden ? 'Evidence' : 'Close';
  });
  return toggle;
}

function findingView(report: Report, finding: Finding, links: FindingLinks): HTMLElement {
  const gain = worth(finding);
  const body = element(
    'div',
    { class: 'finding-body', hidden: true },
    sentences('Evidence', finding.evidence),
    sentences('Advice', finding.advice),
    evidenceLink(report, finding, links),
    windowsView(finding, links),
    ruleView(finding),
  );
  const line = element(
    'div',
    { class: 'finding-line' },
    element('span', { class: 'severity' }, finding.severity),
    element('h3', {}, titleView(finding, links)),
    report.inputs.length > 1 && finding.input ? element('span', { class: 'whose' }, visible(finding.input)) : null,
    gain && element('span', { class: 'gain' }, gain),
    toggleView(body),
  );
  return element('li', { class: `finding ${finding.severity.replace(/\W/g, '')}` }, line, body);
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

/** Several traces have a sentence each, for which the first screen has no room. */
function verdictsView(verdicts: readonly HTMLElement[]): HTMLElement[] {
  if (verdicts.length < 2) return [...verdicts];
  const words = `In a sentence for each of the ${verdicts.length} traces`;
  return [element('details', { class: 'verdicts' }, element('summary', {}, words), ...verdicts)];
}

export function findingsView(report: Report, links: FindingLinks): HTMLElement | null {
  const verdicts = report.inputs.map((input) => verdictView(report, input)).filter((view) => view !== null);
  const ranked = report.inputs.length > 1 ? rank(report.findings) : report.findings;
  if (ranked.length === 0 && verdicts.length === 0) return null;
  const views = ranked.map((finding) => findingView(report, finding, links));
  const rest = views.slice(SHOWN);
  const view = element(
    'section',
    { class: 'panel', id: 'findings', 'aria-labelledby': 'title-findings' },
    element('h2', { id: 'title-findings' }, 'Findings'),
    ...verdictsView(verdicts),
    views.length > 0 && element('ol', { class: 'findings' }, ...views.slice(0, SHOWN)),
    rest.length > 0 &&
      element(
        'details',
        { class: 'more-findings' },
        element('summary', {}, `${rest.length} more finding${rest.length === 1 ? '' : 's'}`),
        element('ol', { class: 'findings', start: SHOWN + 1 }, ...rest),
      ),
  );
  addEventListener('beforeprint', () => {
    for (const each of view.querySelectorAll('details')) each.open = true;
    for (const each of view.querySelectorAll<HTMLElement>('.finding-body')) each.hidden = false;
  });
  return view;
}
