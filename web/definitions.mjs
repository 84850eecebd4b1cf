// Reads what every number means out of docs/measures.md: for each table (a heading that begins with its key) and for the
// facts the text below the heading and the meaning of each column, as plain text.

const HEADING = /^## (?:`(\w+)`|.*\((facts)\)$)/;
const ROW = /^\|(.+)\|$/;

function plain(markdown) {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/`([^`]*)`/g, '$1')
    .replace(/\*+([^*]+)\*+/g, '$1')
    .replace(/\\\|/g, '|')
    .trim();
}

function cellsOf(line) {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** "`min_ns`, `max_ns` (data)" names two columns. */
function keysOf(cell) {
  return [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1]);
}

export function readDefinitions(markdown) {
  const tables = {};
  let table = null;
  for (const line of markdown.split('\n')) {
    const heading = HEADING.exec(line);
    if (heading) {
      table = tables[heading[1] ?? heading[2]] = { about: '', columns: {} };
    } else if (line.startsWith('## ')) {
      table = null;
    } else if (!table) {
      continue;
    } else if (ROW.test(line)) {
      const cells = cellsOf(line);
      for (const key of keysOf(cells[0])) table.columns[key] = plain(cells[cells.length - 1]);
    } else if (Object.keys(table.columns).length === 0) {
      table.about += line.trim() === '' ? '\n' : `${plain(line)} `;
    }
  }
  for (const each of Object.values(tables)) each.about = each.about.replace(/\s*\n\s*/g, '\n').trim();
  return tables;
}
