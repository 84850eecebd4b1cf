// The tables of a report with their charts, a panel each, the command's own first.

import { charts } from './charts/index';
import { crossTable } from './cross';
import type { Report, Table } from './data';
import { element } from './dom';
import { healthView } from './health';
import { inputsPanel } from './inputs';
import { meaningsView } from './meaning';
import { TableView, type RowLinks } from './table';

const BUSY_MS = 25;
const DRAWN = new Set(['drawn_steps', 'drawn_ranks']); // what a picture is made of, part of other tables

export class Panels {
  readonly root = element('div', { class: 'panels' });
  readonly sections: HTMLElement[] = [];
  private readonly tables = new Map<string, TableView>();

  constructor(
    private readonly report: Report,
    private readonly links: RowLinks,
  ) {}

  /** Piece by piece, so that the page can already be read and scrolled. */
  async fill(added: (section: HTMLElement) => void): Promise<void> {
    let since = -Infinity;
    for (const section of this.make()) {
      this.root.append(section);
      this.sections.push(section);
      added(section);
      if (performance.now() - since < BUSY_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
  }

  /** Goes to the rows of a table whose names occur in the texts. */
  point(key: string, texts: readonly string[]): void {
    this.tables.get(key)?.point(texts);
  }

  /** Shows only rows that touch a part of the time, of tables whose rows have one; null shows all again. */
  limit(input: string, part: { readonly start: number; readonly end: number } | null): void {
    for (const table of this.tables.values()) table.limit(part && { input, ...part });
  }

  /** One panel that is shown elsewhere; null where the report has no such rows. */
  take(key: string): HTMLElement | null {
    const table = this.report.tables[key];
    return table && table.rows.length > 0 ? this.panel(key, table) : null;
  }

  private panel(key: string, table: Table): HTMLElement {
    const view = new TableView(key, table, this.links);
    this.tables.set(key, view);
    const cross = crossTable(key, table);
    const shown = cross
      ? element(
          'div',
          {},
          new TableView(key, cross).root,
          element('details', { class: 'all-rows' }, element('summary', {}, 'All columns, by input'), view.root),
        )
      : view.root;
    const chart = charts[key]?.(table, this.report) ?? null;
    return element(
      'section',
      { class: chart ? 'panel has-chart' : 'panel', id: `table-${key}`, 'aria-labelledby': `title-${key}` },
      element('h2', { id: `title-${key}` }, table.title),
      element('div', { class: 'panel-body' }, chart, shown),
      meaningsView(key, table),
    );
  }

  private *make(): Generator<HTMLElement> {
    const { report } = this;
    const isMain = ([key]: readonly [string, Table]): number => Number(key === report.main_table);
    const shown = Object.entries(report.tables)
      .filter(([key, table]) => table.rows.length > 0 && key !== 'findings' && !DRAWN.has(key) && !this.tables.has(key))
      .sort((a, b) => isMain(b) - isMain(a)); // the command's own table first, the others as they come
    for (const [place, [key, table]] of shown.entries()) {
      yield this.panel(key, table);
      const inputs = place === 0 ? inputsPanel(report) : null;
      if (inputs) yield inputs;
    }
    yield healthView(report);
  }
}
