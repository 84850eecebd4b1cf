// The page: reads the report it carries and lays it out, findings first, then a panel for each table.

import definitions from 'definitions';
import { chartView } from './chart';
import { charts } from './charts/index';
import { readReport, type Report, type Table } from './data';
import { element } from './dom';
import { findingsView } from './findings';
import { headerView } from './header';
import { healthView } from './health';
import { buildNavigation } from './navigation';
import { definitionOf, TableView } from './table';
import { followSystem } from './theme';

function definitionsView(key: string, table: Table): HTMLElement | null {
  const about = definitions[key]?.about;
  const list = element('dl', { class: 'definitions' });
  for (const column of table.columns) {
    const meaning = definitionOf(key, column.key);
    if (meaning) list.append(element('dt', {}, element('code', {}, column.key)), element('dd', {}, meaning));
  }
  if (!about && !list.firstChild) return null;
  const paragraphs = (about ?? '').split('\n').filter(Boolean).map((text) => element('p', {}, text));
  return element('details', {}, element('summary', {}, 'How these numbers are defined'), ...paragraphs, list);
}

function panel(key: string, table: Table, tables: Map<string, TableView>): HTMLElement {
  const view = new TableView(key, table);
  tables.set(key, view);
  const chart = charts[key]?.(table) ?? null;
  return element(
    'section',
    { class: chart ? 'panel has-chart' : 'panel', id: `table-${key}`, 'aria-labelledby': `title-${key}` },
    element('h2', { id: `title-${key}` }, table.title),
    element('div', { class: 'panel-body' }, chart && chartView(chart), view.root),
    definitionsView(key, table),
  );
}

function build(report: Report): void {
  const tables = new Map<string, TableView>();
  const main = element('main', { id: 'content' });
  const panels = Object.entries(report.tables)
    .filter(([, table]) => table.rows.length > 0)
    .map(([key, table]) => panel(key, table, tables));
  const find = (key: string, text: string): void => tables.get(key)?.find(text);
  main.append(headerView(report));
  if (report.findings.length > 0) main.append(findingsView(report, find));
  main.append(...panels, healthView(report));
  const page = document.getElementById('page')!;
  page.append(buildNavigation(report, main), main);
}

followSystem();
build(readReport());
