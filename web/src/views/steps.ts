// Steps side by side, trace by trace: the account of each, and how it differs from the median step of its trace.

import { columnIndex, hasColumns, numberOf, numbers, reader, type Row, type Table } from '../data';
import { judge } from '../better';
import { button, element, setHover, visible } from '../dom';
import { percent, withUnit } from '../format';
import { tellApart } from '../inputnames';
import type { Session } from '../session';
import { colorOf } from '../theme';
import { choiceView, missingView, viewFrame } from './parts';
import type { ViewKind } from './index';

const PARTS = [
  ['compute', 'compute_ns'],
  ['exposed communication', 'exposed_comm_ns'],
  ['exposed memory', 'exposed_memory_ns'],
  ['idle', 'idle_ns'],
] as const;
const MOST = 400; // lines; of more steps those that differ most
const LEAST = 8; // lines of a trace among many

interface Step {
  readonly row: Row;
  readonly input: string | undefined;
  readonly label: string;
  readonly state: string;
  readonly parts: readonly number[];
  readonly total: number; // GPU span
  readonly cpu: number; // CPU time, 0 where it is unknown
}

/** The median step by its GPU span, of an even number the mean of the two in the middle: its parts add up to that median. */
function middleOf(steps: readonly Step[]): number[] {
  const sorted = [...steps].sort((a, b) => a.total - b.total);
  const two = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
  return PARTS.map((_, place) => (two[0]!.parts[place]! + two[1]!.parts[place]!) / 2);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}

function stepsOf(table: Table): Step[] {
  const [step, state, device, input] = ['step', 'state', 'device', 'input'].map((key) => reader(table, key));
  const varies = (of: (row: Row) => unknown): boolean => new Set(table.rows.map(of)).size > 1;
  const severalDevices = varies(device!);
  return table.rows.flatMap((row) => {
    if (device!(row) === null) return [];
    const words = [`step ${String(step!(row))}`];
    if (severalDevices) words.push(`GPU ${String(device!(row))}`);
    const parts = PARTS.map(([, key]) => numbers(table, key)(row));
    const total = parts.reduce((sum, ns) => sum + ns, 0);
    const of = input!(row);
    return [
      {
        row,
        input: of === null ? undefined : String(of),
        label: words.join(' \u00b7 '),
        state: String(state!(row) ?? ''),
        parts,
        total,
        cpu: numbers(table, 'cpu_ns')(row),
      },
    ];
  });
}

function differenceView(ns: number, usual: number): HTMLElement {
  const small = Math.abs(ns) < usual * 0.005;
  const made = element(
    'span',
    { class: `step-difference ${small ? 'is-same' : `is-${judge('less', ns)}`}` },
    small ? '\u2248 median' : `${ns > 0 ? '+' : '\u2212'}${withUnit(Math.abs(ns), 'ns')}`,
  );
  return made;
}

/** Which part makes most of the difference. */
function reason(step: Step, usual: readonly number[]): string {
  const differences = step.parts.map((ns, place) => ns - usual[place]!);
  const place = differences.reduce((best, ns, at) => (Math.abs(ns) > Math.abs(differences[best]!) ? at : best), 0);
  const ns = differences[place]!;
  return `${PARTS[place]![0]} ${ns > 0 ? '+' : '\u2212'}${withUnit(Math.abs(ns), 'ns')}`;
}

function lineView(step: Step, usual: readonly number[], longest: number, open: (() => void) | null): HTMLElement {
  const whole = usual.reduce((sum, ns) => sum + ns, 0);
  const bar = element('span', { class: 'account-bar' });
  step.parts.forEach((ns, place) => {
    if (ns <= 0) return;
    const name = PARTS[place]![0];
    const box = element('span', { class: name === 'idle' ? 'account-part is-idle' : 'account-part' });
    box.style.flexGrow = String(ns / step.total);
    box.style.setProperty('--color', colorOf(name));
    setHover(box, `${name}: ${withUnit(ns, 'ns')}, ${percent(ns / step.total)}`);
    bar.append(box);
  });
  bar.style.width = `${(100 * step.total) / longest}%`;
  const difference = step.total - whole;
  const isUsual = Math.abs(difference) < whole * 0.005;
  const content = [
    element('span', { class: 'step-name' }, visible(step.label)),
    element('span', { class: 'account-track' }, bar),
    element('span', { class: 'account-total' }, withUnit(step.total, 'ns')),
    differenceView(difference, whole),
    element(
      'span',
      { class: 'step-reason' },
      isUsual ? step.state : `${reason(step, usual)}${step.state ? ` \u00b7 ${step.state}` : ''}`,
    ),
  ];
  const line = open
    ? button('', { class: 'step-line', title: 'Show in the timeline' }, open)
    : element('div', { class: 'step-line' });
  line.append(...content);
  return element('li', {}, line);
}

function legendView(usual: readonly number[]): HTMLElement {
  const items = PARTS.flatMap(([name], place) => {
    if (usual[place] === 0) return [];
    const swatch = element('span', { class: name === 'idle' ? 'account-swatch is-idle' : 'account-swatch' });
    swatch.style.setProperty('--color', colorOf(name));
    return [element('li', {}, swatch, element('span', {}, name), element('b', {}, withUnit(usual[place]!, 'ns')))];
  });
  return element('ul', { class: 'account-legend' }, ...items);
}

type Order = 'time' | 'difference';

/** As the head of the page has it: the CPU time of a step, beside what is drawn. */
function medianWords(base: readonly Step[], isAll: boolean, whole: number): string {
  const cpu = median(base.map((step) => step.cpu).filter((ns) => ns > 0));
  const kind = isAll ? 'step' : 'steady step';
  const beside = cpu > 0 ? ` (CPU time of a step: median ${withUnit(cpu, 'ns')})` : '';
  return `Median GPU span of a ${kind}: ${withUnit(whole, 'ns')}${beside}`;
}

/** The steps of one trace. */
function traceView(
  steps: readonly Step[],
  name: string | null,
  most: number,
  longest: number,
  order: Order,
  openerOf: (step: Step) => (() => void) | null,
): HTMLElement {
  const steady = steps.filter(({ state }) => state === 'steady' || state === '');
  const base = steady.length > 0 ? steady : steps;
  const usual = middleOf(base);
  const whole = usual.reduce((sum, ns) => sum + ns, 0);
  const by = (step: Step): number => Math.abs(step.total - whole);
  const far = [...steps].sort((a, b) => by(b) - by(a)).slice(0, most);
  const shown = order === 'difference' ? far : far.length < steps.length ? steps.filter((s) => far.includes(s)) : steps;
  const counter =
    steps.length > most
      ? `the ${most} of ${steps.length} that differ most`
      : `${steps.length} step${steps.length === 1 ? '' : 's'}`;
  const words = medianWords(base, base.length === steps.length, whole);
  const head = element('h2', {}, name === null ? words : visible(name));
  return element(
    'section',
    { class: 'panel step-trace' },
    head,
    element('p', { class: 'counter' }, name === null ? counter : `${words} \u00b7 ${counter}`),
    legendView(usual),
    element('ol', { class: 'step-list' }, ...shown.map((step) => lineView(step, usual, longest, openerOf(step)))),
  );
}

function stepsList(session: Session, table: Table): HTMLElement {
  const steps = stepsOf(table);
  const longest = Math.max(...steps.map(({ total }) => total), 1);
  const traces = new Map<string | undefined, Step[]>();
  for (const step of steps) traces.set(step.input, [...(traces.get(step.input) ?? []), step]);
  const names = tellApart([...traces.keys()].map((input) => input ?? ''));
  const [start, end] = ['start_ns', 'end_ns'].map((key) => columnIndex(table, key)) as [number, number];
  const openerOf = ({ row, input }: Step): (() => void) | null =>
    session.hasTimeline && start >= 0 && row[start] != null
      ? () => session.go({ input, start: numberOf(row[start]), end: numberOf(row[end]) })
      : null;
  const most = Math.max(LEAST, Math.floor(MOST / Math.max(traces.size, 1)));
  const host = element('div');
  const show = (order: Order): void =>
    host.replaceChildren(
      ...[...traces.values()].map((each, place) =>
        traceView(each, traces.size > 1 ? names[place]! : null, most, longest, order, openerOf),
      ),
    );
  show('time');
  const choice = choiceView(
    'Order',
    [
      ['time', 'In order'],
      ['difference', 'Most different first'],
    ] as const,
    'time',
    show,
  );
  return element('div', {}, element('div', { class: 'tools' }, choice), host);
}

function usable(table: Table | undefined): table is Table {
  return (
    table !== undefined && table.rows.length > 0 && hasColumns(table, 'step', 'gpu_ns', ...PARTS.map(([, key]) => key))
  );
}

export const stepsView: ViewKind = {
  key: 'steps',
  title: 'Steps',
  isOffered: (session) => session.source.isLive || usable(session.report?.tables['steps']),
  make: (session) => {
    const table = session.report?.tables['steps'];
    const content = usable(table)
      ? stepsList(session, table)
      : session.report
        ? element('section', { class: 'panel missing' }, element('p', {}, 'This trace has no steps with GPU work.'))
        : session.source.isLive
          ? element('div', { class: 'later', 'aria-busy': 'true' }, element('div', { class: 'waiting-bar' }))
          : missingView(session, 'This page has no steps.');
    return viewFrame(
      session,
      'steps',
      'Steps',
      'The GPU span of each step, from its first GPU op to the end of its last, on each GPU, against the median step of its trace. A click shows it in the timeline.',
      content,
    );
  },
};
