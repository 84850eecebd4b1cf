// The traces of a report side by side, as a table like the others.

import type { Column, Fact, Report, Row, Table } from './data';

const OWN: readonly Column[] = [
  { key: 'input', title: 'Input', unit: '' },
  { key: 'producer', title: 'Producer', unit: '' },
  { key: 'format', title: 'Format', unit: '' },
  { key: 'selection', title: 'Selection', unit: '' },
];
const LAST: Column = { key: 'path', title: 'Path', unit: '', flags: ['detail'] };

/** Null where there is one trace: the head of the page tells all about it. */
export function inputsTable(report: Report): Table | null {
  if (report.inputs.length < 2) return null;
  const facts = new Map<string, Fact>();
  for (const input of report.inputs) for (const fact of input.shown) facts.set(fact.key, fact);
  const rows = report.inputs.map((input): Row => {
    const known = new Map(input.shown.map((fact) => [fact.key, fact.value]));
    const own = [input.input, input.producer, input.format, input.selection];
    return [...own, ...[...facts.keys()].map((key) => known.get(key) ?? null), input.path];
  });
  const middle = [...facts.values()].map(({ key, title, unit }): Column => ({ key, title, unit }));
  return { title: 'Traces', columns: [...OWN, ...middle, LAST], rows };
}
