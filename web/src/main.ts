// The page: reads the report it carries and lays it out, findings first, then a panel for each table.

import { charts } from './charts/index';
import { crossTable } from './cross';
import { readCarried, type Report, type Table } from './data';
import { element } from './dom';
import { createExplorer } from './explore/index';
import { openSource } from './explore/open';
import type { Source } from './explore/source';
import { findingsView } from './findings';
import { headerView } from './header';
import { healthView } from './health';
import { inputsPanel } from './inputs';
import { meaningsView } from './meaning';
import { Navigation } from './navigation';
import { TableView } from './table';
import { followSystem } from './theme';
import { timelineSection, type TimelineSection } from './timeline/index';

function panel(key: string, table: Table, report: Report, tables: Map<string, TableView>): HTMLElement {
  const view = new TableView(key, table);
  tables.set(key, view);
  const cross = crossTable(key, table);
  const shown = cross
    ? element(
        'div',
        {},
        new TableView(key, cross).root,
        element('details', { class: 'all-rows' }, element('summary', {}, 'All columns, by input'), view.root),
      )
    : view.root;
  const chart = charts[key]?.(table, report) ?? null;
  return element(
    'section',
    { class: chart ? 'panel has-chart' : 'panel', id: `table-${key}`, 'aria-labelledby': `title-${key}` },
    element('h2', { id: `title-${key}` }, table.title),
    element('div', { class: 'panel-body' }, chart, shown),
    meaningsView(key, table),
  );
}

function* sections(report: Report): Generator<HTMLElement> {
  const tables = new Map<string, TableView>();
  const point = (key: string, texts: readonly string[]): void => tables.get(key)?.point(texts);
  let timeline: TimelineSection | null = null;
  const look: TimelineSection['look'] = (input, span) => timeline?.look(input, span);
  const findings = findingsView(report, point, report.timelines?.length ? look : undefined);
  if (findings) yield findings;

  const verdicts = report.tables['limits'];
  if (verdicts && report.main_table !== 'limits') yield panel('limits', verdicts, report, tables); // what a gate is read for

  const isMain = ([key]: readonly [string, Table]): number => Number(key === report.main_table);
  const shown = Object.entries(report.tables)
    .filter(([key, table]) => table.rows.length > 0 && key !== 'findings' && !tables.has(key))
    .sort((a, b) => isMain(b) - isMain(a)); // the command's own table first, the others as they come
  for (const [place, [key, table]] of shown.entries()) {
    yield panel(key, table, report, tables);
    if (place > 0) continue;
    timeline = timelineSection(report);
    for (const section of [inputsPanel(report), timeline?.root]) if (section) yield section;
  }
  yield healthView(report);
}

const BUSY_MS = 25;

/** The head is there at once; the rest follows piece by piece, so that the page can already be read and scrolled. */
async function build(report: Report): Promise<void> {
  const page = document.getElementById('page')!;
  const main = element('main', { id: 'content' }, headerView(report));
  const navigation = new Navigation(report);
  page.append(navigation.root, main);
  let since = -Infinity;
  for (const section of sections(report)) {
    main.append(section);
    navigation.add(section);
    if (performance.now() - since < BUSY_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  }
  page.dataset.ready = '';
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

/** Of a running `gputime view`: the timeline asks for what it shows. */
function explore(source: Source): void {
  const explorer = createExplorer(source);
  document.getElementById('page')!.append(element('nav'), element('main', { id: 'content' }, explorer.root));
  document.getElementById('page')!.dataset.ready = '';
}

followSystem();
const carried = readCarried();
const { source, report } = openSource(carried);
if (report) void build(report);
else explore(source);
