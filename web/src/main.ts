// The page: reads the report it carries and lays it out, findings first, then a panel for each table.

import { charts } from './charts/index';
import { readReport, type Report, type Table } from './data';
import { element } from './dom';
import { findingsView } from './findings';
import { headerView } from './header';
import { healthView } from './health';
import { buildNavigation } from './navigation';
import { meaningsView } from './meaning';
import { TableView } from './table';
import { followSystem } from './theme';
import { timelineSection } from './timeline/index';

function panel(key: string, table: Table, report: Report, tables: Map<string, TableView>): HTMLElement {
  const view = new TableView(key, table);
  tables.set(key, view);
  const chart = charts[key]?.(table, report) ?? null;
  return element(
    'section',
    { class: chart ? 'panel has-chart' : 'panel', id: `table-${key}`, 'aria-labelledby': `title-${key}` },
    element('h2', { id: `title-${key}` }, table.title),
    element('div', { class: 'panel-body' }, chart, view.root),
    meaningsView(key, table),
  );
}

function build(report: Report): void {
  const tables = new Map<string, TableView>();
  const main = element('main', { id: 'content' });
  const isMain = ([key]: readonly [string, Table]): number => Number(key === report.main_table);
  const panels = Object.entries(report.tables)
    .sort((a, b) => isMain(b) - isMain(a)) // the command's own table first, the others as they come
    .filter(([key, table]) => table.rows.length > 0 && key !== 'findings')
    .map(([key, table]) => panel(key, table, report, tables));
  const point = (key: string, texts: readonly string[]): void => tables.get(key)?.point(texts);
  main.append(headerView(report));
  if (report.findings.length > 0) main.append(findingsView(report, point));
  const timeline = timelineSection(report);
  main.append(...panels.slice(0, 1), ...(timeline ? [timeline] : []), ...panels.slice(1), healthView(report));
  const page = document.getElementById('page')!;
  page.append(buildNavigation(report, main), main);
}

followSystem();
build(readReport());
