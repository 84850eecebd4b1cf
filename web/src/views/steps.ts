// Steps side by side: the account of each, and how it differs from the median step.

import { columnIndex, hasColumns, numberOf, numbers, reader, type Row, type Table } from '../data';
import { judge } from '../better';
import { button, element, setHover, visible } from '../dom';
import { percent, withUnit } from '../format';
import type { Session } from '../session';
import { colorOf } from '../theme';
import { choiceView, missingView, panelView, viewFrame } from './parts';
import type { ViewKind } from './index';

const PARTS = [
  ['compute', 'compute_ns'],
  ['exposed communication', 'exposed_comm_ns'],
  ['exposed memory', 'exposed_memory_ns'],
  ['idle', 'idle_ns'],
] as const;
const MOST = 400; // lines; of more steps those that differ most

interface Step {
  readonly row: Row;
  readonly label: string;
  readonly state: string;
  readonly parts: readonly number[];
  readonly total: number;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

function stepsOf(table: Table): Step[] {
  const [step, state, device, input] = ['step', 'state', 'device', 'input'].map((key) => reader(table, key));
  const varies = (of: (row: Row) => unknown): boolean => new Set(table.rows.map(of)).size > 1;
  const [severalDevices, severalInputs] = [varies(device!), varies(input!)];
  return table.rows.flatMap((row) => {
    if (device!(row) === null) return [];
    const words = [`step ${String(step!(row))}`];
    if (severalDevices) words.push(`GPU ${String(device!(row))}`);
    if (severalInputs) words.push(String(input!(row)));
    const parts = PARTS.map(([, key]) => numbers(table, key)(row));
    const total = parts.reduce((sum, ns) => sum + ns, 0);
    return [{ row, label: words.join(' \u00b7 '), state: String(state!(row) ?? ''), parts, total }];
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

function stepsList(session: Session, table: Table): HTMLElement {
  const steps = stepsOf(table);
  const steady = steps.filter(({ state }) => state === 'steady' || state === '');
  const base = steady.length > 0 ? steady : steps;
  const usual = PARTS.map((_, place) => median(base.map(({ parts }) => parts[place]!)));
  const whole = usual.reduce((sum, ns) => sum + ns, 0);
  const longest = Math.max(...steps.map(({ total }) => total), 1);
  const [start, end, input] = ['start_ns', 'end_ns', 'input'].map((key) => columnIndex(table, key)) as [
    number,
    number,
    number,
  ];
  const openerOf = ({ row }: Step): (() => void) | null =>
    session.hasTimeline && start >= 0 && row[start] != null
      ? () =>
          session.go({
            input: row[input] == null ? undefined : String(row[input]),
            start: numberOf(row[start]),
            end: numberOf(row[end]),
          })
      : null;
  const list = element('ol', { class: 'step-list' });
  const show = (order: 'time' | 'difference'): void => {
    const by = (step: Step): number => Math.abs(step.total - whole);
    const most = [...steps].sort((a, b) => by(b) - by(a)).slice(0, MOST);
    const shown =
      order === 'difference' ? most : steps.length > MOST ? steps.filter((step) => most.includes(step)) : steps;
    list.replaceChildren(...shown.map((step) => lineView(step, usual, longest, openerOf(step))));
  };
  show('time');
  const counter =
    steps.length > MOST
      ? `the ${MOST} of ${steps.length} that differ most`
      : `${steps.length} step${steps.length === 1 ? '' : 's'}`;
  return panelView(
    `Median ${base.length === steps.length ? 'step' : 'steady step'}: ${withUnit(whole, 'ns')}`,
    element(
      'div',
      { class: 'tools' },
      choiceView(
        'Order',
        [
          ['time', 'In order'],
          ['difference', 'Most different first'],
        ] as const,
        'time',
        show,
      ),
      element('span', { class: 'counter' }, counter),
    ),
    legendView(usual),
    list,
  );
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
      'Each step on each GPU, against the median of each part. A click shows it in the timeline.',
      content,
    );
  },
};
