// Questions in SQL, answered by the server over all events of the traces.

import { numberOf, reader } from '../data';
import { button, element, visible } from '../dom';
import type { Session } from '../session';
import { TableView, type RowLinks } from '../table';
import { exactTableOf, later, missingView, viewFrame } from './parts';
import type { ViewKind } from './index';

const ROWS = 1000;

const EXAMPLES: readonly (readonly [string, string])[] = [
  [
    'Kernels by time',
    "select short_name, count(*) as count, sum(dur_ns) as total_ns, median(dur_ns) as median_ns\nfrom ops where kind in ('kernel', 'graph') group by short_name order by total_ns desc limit 20",
  ],
  [
    'Longest gaps, and what the CPU did',
    'select start_ns, gap_ns, cause, meanwhile, range, operator, next\nfrom gaps order by gap_ns desc limit 20',
  ],
  [
    'GPU time of steps by category',
    'select step, category, sum(dur_ns) as total_ns from ops\nwhere step is not null group by step, category order by step, total_ns desc',
  ],
  [
    'Launch calls and how long their kernels wait',
    'select call, count(*) as count, median(queue_ns) as queue_p50_ns, percentile(queue_ns, 90) as queue_p90_ns\nfrom ops where queue_ns is not null group by call order by count desc',
  ],
  [
    'Copies with bandwidth',
    "select name, count(*) as count, sum(bytes) as total_bytes, sum(dur_ns) as total_ns,\n  sum(bytes) * 1.0 / sum(dur_ns) as GB_per_s\nfrom ops where kind = 'memcpy' group by name order by total_ns desc",
  ],
];

const EVENTS = ['ops', 'gaps', 'calls', 'ranges', 'cpu_ops', 'steps', 'counters'];

/** Tables and their columns, asked for when the list is opened. */
function schemaView(session: Session): HTMLElement {
  const host = element('div');
  const reports = Object.keys(session.report?.tables ?? {}).map((key) => `report_${key}`);
  const lineOf = async (table: string): Promise<HTMLElement | null> => {
    const answer = await session.source.sql(`select * from ${table} limit 0`, 1).catch(() => null);
    if (!answer || answer.error) return null;
    const columns = answer.columns.map((column) =>
      typeof column === 'string' ? column : (column as { key: string }).key,
    );
    return element('p', {}, element('code', {}, table), `: ${columns.join(', ')}`);
  };
  const view = element(
    'details',
    { class: 'sql-schema' },
    element('summary', {}, 'Tables and columns'),
    host,
    reports.length > 0 && element('p', {}, `Tables of the reports: ${reports.join(', ')}`),
  );
  view.addEventListener('toggle', () => {
    if (!view.open || host.firstChild) return;
    host.append(
      later(
        () => Promise.all(EVENTS.map(lineOf)),
        (lines) => element('div', {}, ...lines),
      ),
    );
  });
  return view;
}

/** A row with a start, and an end or a duration, leads to that part of the timeline. */
function placeLinks(session: Session): RowLinks {
  return (_, table, row) => {
    const known = (key: string): number | null => {
      const cell = reader(table, key)(row);
      return cell === null ? null : numberOf(cell);
    };
    const start = known('start_ns');
    const duration = known('dur_ns') ?? known('gap_ns');
    const end = known('end_ns') ?? (start !== null && duration !== null ? start + duration : null);
    if (!session.hasTimeline || start === null || end === null || end < start) return null;
    const input = reader(table, 'input')(row);
    const to = { input: input === null ? undefined : String(input), start, end };
    return { label: 'Show in the timeline', go: () => session.go(to) };
  };
}

class SqlBox {
  readonly root: HTMLElement;
  private readonly field = element('textarea', { rows: 5, spellcheck: 'false', 'aria-label': 'Query' });
  private readonly result = element('div', { class: 'sql-result', 'aria-live': 'polite' });
  private readonly stop: HTMLButtonElement;
  private running: AbortController | null = null;

  constructor(
    private readonly session: Session,
    kept: string | undefined,
  ) {
    this.field.value = kept ?? EXAMPLES[0]![1];
    this.field.addEventListener('change', () => session.keep(this.field.value));
    const examples = element(
      'select',
      { 'aria-label': 'Examples' },
      element('option', { value: '' }, 'Examples\u2026'),
    );
    for (const [place, [title]] of EXAMPLES.entries()) examples.append(element('option', { value: place }, title));
    examples.addEventListener('change', () => {
      if (examples.value !== '') this.field.value = EXAMPLES[Number(examples.value)]![1];
      examples.value = '';
      this.field.focus();
    });
    this.stop = button('Stop', { hidden: true }, () => this.running?.abort());
    this.field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void this.run();
    });
    this.root = element(
      'section',
      { class: 'panel sql' },
      this.field,
      element(
        'div',
        { class: 'tools' },
        button('Run', { class: 'primary', title: 'Ctrl + Enter' }, () => void this.run()),
        this.stop,
        examples,
        element('span', { class: 'counter' }, `Ctrl + Enter runs it; at most ${ROWS.toLocaleString('en-US')} rows`),
      ),
      schemaView(session),
      this.result,
    );
    if (kept !== undefined) void this.run();
  }

  private async run(): Promise<void> {
    this.session.keep(this.field.value);
    this.running?.abort();
    const running = (this.running = new AbortController());
    this.stop.hidden = false;
    this.result.replaceChildren(element('div', { class: 'waiting-bar' }));
    try {
      const answer = await this.session.source.sql(this.field.value, ROWS, running.signal);
      if (running !== this.running) return;
      if (!answer || answer.error) throw new Error(answer?.error ?? 'no answer');
      const notes = (answer.notes ?? []).map((note) => element('p', { class: 'origin' }, visible(note)));
      const table = exactTableOf(answer, 'Result');
      this.result.replaceChildren(new TableView('rows', table, placeLinks(this.session)).root, ...notes);
    } catch (reason) {
      if (running !== this.running) return;
      const words = running.signal.aborted ? 'Stopped.' : reason instanceof Error ? reason.message : String(reason);
      this.result.replaceChildren(element('p', { class: 'trouble-line', role: 'alert' }, visible(words)));
    } finally {
      if (running === this.running) this.stop.hidden = true;
    }
  }
}

export const sqlView: ViewKind = {
  key: 'sql',
  title: 'SQL',
  isOffered: (session) => session.source.inputs.length > 0,
  make: (session, subject) =>
    viewFrame(
      session,
      'sql',
      'SQL',
      'Ask anything of the events: ops, gaps, calls, ranges, cpu_ops, steps, counters and the tables of reports (report_KEY).',
      session.source.isLive
        ? new SqlBox(session, subject.state).root
        : missingView(session, 'A stored page has no events to ask. With the trace at hand:'),
    ),
};
