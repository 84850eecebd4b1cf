// What each number means, in the words of docs/measures.md.

import definitions from 'definitions';
import type { Table } from './data';
import { element } from './dom';

/** Of a column of a table; columns that many tables share are explained with one of them. */
export function meaningOf(table: string, column: string): string | undefined {
  const own = definitions[table]?.columns[column];
  return own ?? Object.values(definitions).find((other) => other.columns[column])?.columns[column];
}

export function meaningsView(key: string, table: Table): HTMLElement | null {
  const list = element('dl', { class: 'definitions' });
  for (const column of table.columns) {
    const meaning = meaningOf(key, column.key);
    if (meaning) list.append(element('dt', {}, element('code', {}, column.key)), element('dd', {}, meaning));
  }
  const about = (definitions[key]?.about ?? '').split('\n').filter(Boolean);
  if (about.length === 0 && !list.firstChild) return null;
  const paragraphs = about.map((text) => element('p', {}, text));
  return element('details', {}, element('summary', {}, 'How these numbers are defined'), ...paragraphs, list);
}
