// Memory of the GPUs over time, and what held it at the peak.

import { charts } from '../charts/index';
import type { Report, Table } from '../data';
import { element, visible } from '../dom';
import { inputOf, type Session } from '../session';
import { TableView } from '../table';
import { rowLinks } from '../links';
import { later, missingView, panelView, viewFrame } from './parts';
import type { ViewKind } from './index';

const TABLES = ['memory_timeline', 'memory_peak', 'memory_owners', 'memory_steps', 'allocator_calls'] as const;

function hasMemory(report: Report): boolean {
  return TABLES.some((key) => (report.tables[key]?.rows.length ?? 0) > 0);
}

function tablePanel(session: Session, key: string, table: Table, report: Report): HTMLElement {
  const chart = charts[key]?.(table, report) ?? null;
  const rows = new TableView(key, table, rowLinks(session)).root;
  return panelView(
    table.title,
    element(
      'div',
      { class: 'panel-body' },
      chart,
      chart ? element('details', {}, element('summary', {}, 'Rows'), rows) : rows,
    ),
  );
}

/** The peak in a sentence, as on the command line; of several traces one for each. */
function headlineView(report: Report): HTMLElement | null {
  const several = report.inputs.length > 1;
  const lines = report.inputs.flatMap(({ input, notes }) =>
    notes
      .filter((note) => /^Peak /.test(note))
      .map((note) => element('p', {}, visible(several ? `${input}: ${note}` : note))),
  );
  return lines.length > 0 ? element('section', { class: 'panel headline' }, ...lines) : null;
}

function memoryPanels(session: Session, report: Report): HTMLElement {
  const panels = TABLES.flatMap((key) => {
    const table = report.tables[key];
    if (key === 'memory_timeline' && table && table.rows.length < 2) return []; // a single point is no curve
    return table && table.rows.length > 0 ? [tablePanel(session, key, table, report)] : [];
  });
  if (panels.length > 0) return element('div', {}, headlineView(report), ...panels);
  const words =
    'This trace has no memory events. PyTorch records them with profile_memory=True, Nsight Systems with --cuda-memory-usage=true.';
  return element('section', { class: 'panel missing' }, element('p', {}, words));
}

function content(session: Session): HTMLElement {
  const { report, source, chosen } = session;
  if (report && hasMemory(report)) return memoryPanels(session, report);
  if (source.isLive) {
    const input = chosen?.input ?? inputOf(session, undefined);
    return later(
      () => source.report({ input, analyses: ['memory_use'] }),
      (answer) => answer && memoryPanels(session, answer),
    );
  }
  const path = report?.inputs.find((input) => input.path !== null)?.path ?? 'TRACE';
  return missingView(
    session,
    'This page was made without memory events. With the trace at hand:',
    `gputime memory ${path}`,
  );
}

export const memoryView: ViewKind = {
  key: 'memory',
  title: 'Memory',
  isOffered: (session) => session.source.inputs.length > 0,
  make: (session) =>
    viewFrame(
      session,
      'memory',
      'Memory',
      'Allocated and reserved memory of the GPUs, and its owners at the peak.',
      content(session),
    ),
};
