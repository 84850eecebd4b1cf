// The traces of a report: a few side by side, a column for each; many as a table like the others.

import { toCsv } from './csv';
import { isTrace, type Column, type Fact, type Input, type Report, type Row, type Table } from './data';
import { button, copy, element, shorten, visible } from './dom';
import { showFact } from './facts';
import { areJobs } from './notes';
import { sideways } from './sideways';
import { TableView } from './table';

const OWN: readonly Column[] = [
  { key: 'input', title: 'Input', unit: '' },
  { key: 'producer', title: 'Producer', unit: '' },
  { key: 'format', title: 'Format', unit: '' },
  { key: 'selection', title: 'Selection', unit: '' },
];
const LAST: Column = { key: 'path', title: 'Path', unit: '', flags: ['detail'] };

const FEW = 6;
const NAME_LENGTH = 60;

function inputsTable(inputs: readonly Input[]): Table {
  const facts = new Map<string, Fact>();
  for (const input of inputs) for (const fact of input.shown) facts.set(fact.key, fact);
  const rows = inputs.map((input): Row => {
    const known = new Map(input.shown.map((fact) => [fact.key, fact.value]));
    const own = [input.input, input.producer, input.format, input.selection];
    return [...own, ...[...facts.keys()].map((key) => known.get(key) ?? null), input.path];
  });
  const middle = [...facts.values()].map(({ key, title, unit }): Column => ({ key, title, unit }));
  const title = areJobs(inputs) ? 'Jobs' : 'Traces';
  return { title, columns: [...OWN, ...middle, LAST], rows };
}

function line(title: string, facts: readonly (Fact | undefined)[]): HTMLElement {
  const cells = facts.map((fact) => {
    const cell = element('td', { class: fact?.unit ? 'number' : 'text' }, fact ? null : '\u2013');
    if (fact) showFact(cell, fact);
    return cell;
  });
  return element('tr', {}, element('th', { scope: 'row', class: 'text' }, title), ...cells);
}

/** A row for each fact, as the tiles of a single trace. */
function sideBySide(inputs: readonly Input[], table: Table): HTMLElement {
  const rows = table.columns.slice(1).flatMap(({ key, title, unit }, at) => {
    const facts = table.rows.map((row): Fact | undefined =>
      row[at + 1] == null ? undefined : { key, title, unit, value: row[at + 1]! },
    );
    return facts.some(Boolean) ? [line(title, facts)] : [];
  });
  const heads = inputs.map(({ input }) =>
    element('th', { scope: 'col', class: 'number', title: visible(input) }, shorten(visible(input), NAME_LENGTH)),
  );
  const content = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, element('th', { scope: 'col', class: 'text' }, 'Fact'), ...heads)),
    element('tbody', {}, ...rows),
  );
  const port = element(
    'div',
    { class: 'port facts-port', role: 'group', tabindex: 0, 'aria-label': table.title },
    content,
  );
  const csv = button(
    'Copy CSV',
    { class: 'quiet' },
    () => void copy(toCsv(table, table.rows), `${table.title} copied`),
  );
  const tools = element('div', { class: 'tools' }, element('span', { class: 'counter' }), csv);
  return element('div', {}, tools, sideways(port, content));
}

/** Null where there is one trace: the head of the page describes it. */
export function inputsPanel(report: Report): HTMLElement | null {
  const inputs = report.inputs.filter(isTrace);
  if (inputs.length < 2) return null;
  const table = inputsTable(inputs);
  const view = inputs.length > FEW ? new TableView('inputs', table).root : sideBySide(inputs, table);
  return element(
    'section',
    { class: 'panel', id: 'table-inputs', 'aria-labelledby': 'title-inputs' },
    element('h2', { id: 'title-inputs' }, table.title),
    view,
  );
}
