// Two traces: what changed, as a waterfall and in every table, and their timelines one above the other, aligned by step.

import { accountOf, accountView } from '../account';
import { chartView } from '../chart';
import { changeChart } from '../charts/change';
import { isTrace, numberOf, reader, type Report } from '../data';
import { button, element, shorten, visible } from '../dom';
import { createExplorer } from '../explore/index';
import type { Explorer } from '../explore/source';
import { rowLinks } from '../links';
import { Panels } from '../panels';
import { inputOf, type Session, type Subject } from '../session';
import { later, missingView, panelView, viewFrame } from './parts';
import type { ViewKind } from './index';

const NAME_LENGTH = 60;

export function isComparison(report: Report | null): boolean {
  return report?.tables['accounting']?.columns.some(({ key }) => key === 'a_span_ns') ?? false;
}

export function sidesOf(report: Report): readonly [string, string] {
  const [a, b] = report.inputs.filter(isTrace);
  return [visible(a?.input ?? 'A'), visible(b?.input ?? 'B')];
}

export function changePanel(report: Report): HTMLElement | null {
  const chart = changeChart(report, sidesOf(report));
  return (
    chart && element('section', { class: 'panel', id: 'change' }, element('h2', {}, 'What changed'), chartView(chart))
  );
}

/** Sentences of the comparison as a whole. */
function verdictView(report: Report): HTMLElement | null {
  const notes = report.inputs.find((input) => !isTrace(input))?.notes ?? [];
  return notes.length > 0
    ? element('section', { class: 'panel' }, ...notes.map((note) => element('p', {}, visible(note))))
    : null;
}

function changesView(report: Report): HTMLElement {
  const account = accountOf(report);
  return element(
    'div',
    {},
    verdictView(report),
    account && element('section', { class: 'panel' }, accountView(account)),
    changePanel(report),
  );
}

function tablesView(session: Session, report: Report): HTMLElement {
  const panels = new Panels(report, rowLinks(session));
  void panels.fill(() => {});
  return panels.root;
}

interface Steps {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** The steps of an input in order, on its first GPU. */
function stepsOf(report: Report | null, input: string): Steps[] {
  const table = report?.tables['steps'];
  if (!table) return [];
  const [of, step, start, end] = ['input', 'step', 'start_ns', 'end_ns'].map((key) => reader(table, key));
  const found = new Map<number, Steps>();
  for (const row of table.rows) {
    const number = numberOf(step!(row));
    if (of!(row) !== input || start!(row) === null || found.has(number)) continue;
    found.set(number, { number, start: numberOf(start!(row)), end: numberOf(end!(row)) });
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

/** Both timelines at the same step, and at the same scale. */
class Aligned {
  readonly root: HTMLElement;
  private readonly explorers: readonly Explorer[];
  private readonly steps: readonly (readonly Steps[])[];
  private readonly words = element('span', { class: 'counter', role: 'status' });
  private at = 0;

  constructor(session: Session, inputs: readonly [number, number]) {
    const { source, report } = session;
    const names = inputs.map((input) => source.inputs[input]?.input ?? '');
    this.explorers = inputs.map((input) => createExplorer(source, { report, input }));
    this.steps = names.map((name) => stepsOf(report, name));
    const count = Math.min(...this.steps.map(({ length }) => length));
    const tools =
      count > 0 &&
      element(
        'div',
        { class: 'tools' },
        button('\u2190', { 'aria-label': 'Step before' }, () => this.show(this.at - 1)),
        button('\u2192', { 'aria-label': 'Next step' }, () => this.show(this.at + 1)),
        this.words,
      );
    const parts = this.explorers.flatMap((explorer, place) => [
      element(
        'h3',
        { class: 'side-name' },
        `${place === 0 ? 'A' : 'B'}: ${shorten(visible(names[place]!), NAME_LENGTH)}`,
      ),
      explorer.root,
    ]);
    this.root = panelView('Timelines, aligned by step', tools, ...parts);
    if (count > 0) this.show(0);
  }

  private show(place: number): void {
    const count = Math.min(...this.steps.map(({ length }) => length));
    this.at = Math.min(Math.max(place, 0), count - 1);
    const pair = this.steps.map((steps) => steps[this.at]!);
    const length = Math.max(...pair.map(({ start, end }) => end - start));
    this.explorers.forEach((explorer, side) => {
      const { start } = pair[side]!;
      explorer.go({ start, end: start + length });
    });
    this.words.textContent = `Step ${pair[0]!.number} of A and step ${pair[1]!.number} of B (${this.at + 1} of ${count})`;
  }
}

function chooser(session: Session, a: number, b: number, choose: (a: number, b: number) => void): HTMLElement {
  const list = (label: string, chosen: number, changed: (value: number) => void): HTMLElement => {
    const made = element('select', { 'aria-label': label });
    session.source.inputs.forEach(({ input }, place) => {
      const option = element('option', { value: place }, shorten(visible(input), NAME_LENGTH));
      option.selected = place === chosen;
      made.append(option);
    });
    made.addEventListener('change', () => changed(Number(made.value)));
    return element('label', { class: 'chart-field' }, label, made);
  };
  return element(
    'div',
    { class: 'choices' },
    list('A', a, (next) => choose(next, b)),
    list('B', b, (next) => choose(a, next)),
    button('Swap', { class: 'quiet' }, () => choose(b, a)),
  );
}

function liveView(session: Session, subject: Subject): HTMLElement {
  const { source } = session;
  const host = element('div');
  const show = (a: number, b: number): void => {
    let answer: Promise<Report | null> | null = null;
    const ask = (): Promise<Report | null> => {
      answer ??= source.diff(a, b).catch((reason: unknown) => {
        answer = null; // may be asked for again
        throw reason;
      });
      return answer;
    };
    const then = (view: (report: Report) => HTMLElement): HTMLElement => later(ask, (report) => report && view(report));
    host.replaceChildren(
      chooser(session, a, b, (nextA, nextB) => {
        session.keep(`${nextA},${nextB}`);
        show(nextA, nextB);
      }),
      then(changesView),
      new Aligned(session, [a, b]).root,
      then((report) => tablesView(session, report)),
    );
  };
  const kept = (subject.state ?? '').split(',').map(Number);
  const isKept = kept.length === 2 && kept.every((input) => source.inputs[input] !== undefined);
  const first = inputOf(session, subject.input);
  const [a, b] = isKept ? kept : [first, first === 0 ? 1 : 0];
  show(a!, b!);
  return host;
}

function storedView(session: Session): HTMLElement {
  const { report } = session;
  const paths = report?.inputs.flatMap(({ path }) => (path === null ? [] : [path])) ?? [];
  const command = ['gputime view', ...paths].join(' ');
  if (!report || !isComparison(report))
    return missingView(session, 'A comparison needs the traces themselves:', command);
  return element(
    'div',
    {},
    verdictView(report),
    changePanel(report),
    missingView(session, 'Both timelines, aligned by step, need the traces themselves:', command),
  );
}

export const compareView: ViewKind = {
  key: 'compare',
  title: 'Compare',
  isOffered: (session) => isComparison(session.report) || session.source.inputs.length > 1,
  make: (session, subject) =>
    viewFrame(
      session,
      'compare',
      'Compare',
      'What changed from A to B. Blue is better, orange is worse.',
      session.source.isLive && session.source.inputs.length > 1 ? liveView(session, subject) : storedView(session),
    ),
};
