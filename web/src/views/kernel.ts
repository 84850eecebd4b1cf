// One kernel: how long it takes, when it runs, what runs before and after it, and how it is launched.

import { chartView } from '../chart';
import { charts } from '../charts/index';
import { durationsChart, overTimeChart } from '../charts/occurrences';
import { columnIndex, reader, type Column, type Row, type Table } from '../data';
import { button, element, visible } from '../dom';
import { withUnit } from '../format';
import { rowLinks } from '../links';
import {
  askOccurrences,
  storedOccurrences,
  whereKernel,
  type Neighbour,
  type Occurrence,
  type Occurrences,
} from '../occurrences';
import { inputOf, type Session, type Subject } from '../session';
import { TableView } from '../table';
import { colorOf } from '../theme';
import { later, missingView, panelView, tableOf, viewFrame } from './parts';
import type { ViewKind } from './index';

const HEAD = ['count', 'total_ns', 'share', 'avg_ns', 'min_ns', 'median_ns', 'p90_ns', 'p99_ns', 'max_ns', 'stddev_ns'];
const OTHER = ['category', 'rule', 'collective', 'launch_share'];

interface Found {
  readonly table: Table;
  readonly row: Row;
  readonly names: readonly string[]; // the same kernel in other words
}

function findKernel(session: Session, { name, input }: Subject): Found | null {
  const table = session.report?.tables['kernels'];
  if (!table || name === undefined) return null;
  const keys = ['name', 'short_name', 'full_name'].filter((key) => columnIndex(table, key) >= 0);
  const row = table.rows.find(
    (each) =>
      (input === undefined || reader(table, 'input')(each) === input) &&
      keys.some((key) => reader(table, key)(each) === name),
  );
  return row ? { table, row, names: keys.map((key) => String(reader(table, key)(row))) } : null;
}

function tileView(column: Column, row: Row, place: number): HTMLElement {
  const cell = row[place];
  const text = typeof cell === 'number' ? withUnit(cell, column.unit) : visible(String(cell));
  return element(
    'div',
    { class: 'fact' },
    element('dt', {}, column.title),
    element('dd', { class: 'fact-value' }, text),
  );
}

function tilesView({ table, row }: Found): HTMLElement {
  const tiles = [...HEAD, ...OTHER].flatMap((key) => {
    const place = columnIndex(table, key);
    return place >= 0 && row[place] != null ? [tileView(table.columns[place]!, row, place)] : [];
  });
  return element('dl', { class: 'facts' }, ...tiles);
}

function neighboursTable(title: string, list: readonly Neighbour[]): HTMLElement {
  const table: Table = {
    title,
    columns: [
      { key: 'name', title: 'Op', unit: '', flags: ['name'] },
      { key: 'count', title: 'Times', unit: 'count', flags: ['bar'] },
      { key: 'gap_ns', title: 'Median gap', unit: 'ns' },
    ],
    rows: list.map(({ name, count, gap }): Row => [name, count, gap]),
  };
  return panelView(
    title,
    list.length > 0
      ? new TableView('neighbours', table).root
      : element('p', { class: 'origin' }, 'Nothing on the same stream.'),
  );
}

function occurrencesView(session: Session, subject: Subject, found: Occurrences, color: string): HTMLElement {
  const go = ({ start, length }: Occurrence): void => session.go({ input: subject.input, start, end: start + length });
  const { list } = found;
  const shown = [durationsChart(list, color), overTimeChart(list, go)].flatMap((chart) =>
    chart ? [element('section', { class: 'panel' }, chartView(chart))] : [],
  );
  const longest = list.reduce<Occurrence | null>(
    (best, each) => (!best || each.length > best.length ? each : best),
    null,
  );
  const links = element('p', { class: 'tools' });
  if (list[0] && session.hasTimeline) links.append(button('First in the timeline', {}, () => go(list[0]!)));
  if (longest && session.hasTimeline) links.append(button('Longest in the timeline', {}, () => go(longest)));
  const note = found.isSample
    ? `${list.length.toLocaleString('en-US')} of the launches are known one by one here.`
    : list.length === 1
      ? 'The only launch.'
      : `All ${list.length.toLocaleString('en-US')} launches.`;
  links.append(element('span', { class: 'counter' }, note));
  return element(
    'div',
    {},
    links,
    element('div', { class: 'pair' }, ...shown),
    element(
      'div',
      { class: 'pair' },
      neighboursTable('Runs before it', found.before),
      neighboursTable('Runs after it', found.after),
    ),
  );
}

/** How it was launched, and by what: only the trace has that. */
function launchesView(session: Session, input: string, name: string): HTMLElement {
  const where = whereKernel(input, name, session.chosen);
  const ask = (title: string, columns: string, groups: string): HTMLElement =>
    panelView(
      title,
      later(
        () =>
          session.source.sql(
            `select ${columns}, count(*) as count, sum(dur_ns) as total_ns, median(dur_ns) as median_ns from ops
             where ${where} group by ${groups} order by total_ns desc`,
            100,
          ),
        (answer) => {
          if (!answer || answer.error) throw new Error(answer?.error ?? 'no answer');
          return new TableView('launches', tableOf(answer, title)).root;
        },
      ),
    );
  return element(
    'div',
    { class: 'pair' },
    ask(
      'Launch configurations',
      "grid_x || ' x ' || grid_y || ' x ' || grid_z as grid, block_x || ' x ' || block_y || ' x ' || block_z as block, registers, shared_bytes, occupancy_percent",
      '1, 2, 3, 4, 5',
    ),
    ask('Launched by', 'operator, range', '1, 2'),
  );
}

function kernelContent(session: Session, subject: Subject, found: Found): HTMLElement {
  const { source, report, chosen } = session;
  const color = colorOf(String(reader(found.table, 'category')(found.row) ?? 'other'));
  const input = source.inputs[inputOf(session, subject.input)]?.input ?? '';
  const count = Number(reader(found.table, 'count')(found.row) ?? 0);
  const name = found.names[0]!;
  const show = (all: Occurrences): HTMLElement => occurrencesView(session, { ...subject, input }, all, color);
  const stored = source.isLive || !report ? null : storedOccurrences(report, subject.input, found.names);
  return element(
    'div',
    {},
    tilesView(found),
    source.isLive
      ? later(() => askOccurrences(source, input, name, count, chosen), show)
      : stored && stored.list.length > 0 && show(stored),
    source.isLive
      ? launchesView(session, input, name)
      : missingView(session, 'Launch configurations, shapes and every single launch need the trace itself:'),
  );
}

function listView(session: Session): HTMLElement {
  const { report } = session;
  const table = report?.tables['kernels'];
  if (!report || !table) return element('div', { class: 'later', 'aria-busy': 'true' });
  const chart = charts['kernels']?.(table, report) ?? null;
  return panelView(
    'Choose a kernel',
    element('div', { class: 'panel-body' }, chart, new TableView('kernels', table, rowLinks(session)).root),
  );
}

export const kernelView: ViewKind = {
  key: 'kernel',
  title: 'Kernels',
  isOffered: (session) =>
    session.source.isLive ||
    ((session.report?.tables['kernels']?.rows.length ?? 0) > 0 &&
      columnIndex(session.report!.tables['kernels']!, 'total_ns') >= 0),
  make: (session, subject) => {
    const found = findKernel(session, subject);
    if (!found)
      return viewFrame(session, 'kernel', 'Kernels', 'A row opens the view of that kernel.', listView(session));
    const back = button('All kernels', { class: 'quiet' }, () => session.open('kernel'));
    const short = String(reader(found.table, 'short_name')(found.row) ?? found.names[0]);
    const full = visible(found.names[0]!);
    const about = visible(short) === full ? 'Kernel' : full;
    const view = viewFrame(session, 'kernel', visible(short), about, kernelContent(session, subject, found));
    view.querySelector('.view-head')?.append(back);
    return view;
  },
};
