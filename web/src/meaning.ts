// What each number means, in the words of docs/measures.md, which the program writes into the page.

import { paragraphsAbout, readDefinitions } from '../definitions.mjs';
import { spell, type Table } from './data';
import { element } from './dom';

const markdown: unknown = JSON.parse(document.getElementById('definitions')?.textContent ?? '""');
const definitions = readDefinitions(spell(String(markdown)));

export function meaningOf(table: string, column: string): string | undefined {
  return definitions[table]?.columns[column];
}

export function meaningsView(key: string, table: Table): HTMLElement | null {
  const list = element('dl', { class: 'definitions' });
  for (const column of table.columns) {
    const meaning = meaningOf(key, column.key);
    if (meaning) list.append(element('dt', {}, element('code', {}, column.key)), element('dd', {}, meaning));
  }
  const about = paragraphsAbout(definitions, key);
  if (about.length === 0 && !list.firstChild) return null;
  const paragraphs = about.map((text) => element('p', {}, text));
  return element('details', {}, element('summary', {}, 'Definitions'), ...paragraphs, list);
}
