// Reads what every number means out of docs/measures.md, as plain text: of each table the paragraphs about it and the
// meaning of its columns. A table has a heading that begins with its key, or is named in the text about another; the heading
// that ends in "(facts)" is about the facts.

const HEADING = /^###? (?:`(\w+)`|.*\((facts)\)$)/;
const BORROWED = /((?:`\w+`(?:, | and )?)+) as in `(\w+)`/g;

function plain(markdown) {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/`([^`]*)`/g, '$1')
    .replace(/\*+([^*]+)\*+/g, '$1')
    .replace(/\\\|/g, '|')
    .replace(/\s+/g, ' ')
    .trim();
}

function cellsOf(line) {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** "`min_ns`, `max_ns` (data)" names two columns. */
function keysOf(text) {
  return [...text.matchAll(/`(\w+)`/g)].map((match) => match[1]);
}

function addColumns(table, lines) {
  for (const cells of lines.map(cellsOf))
    for (const key of keysOf(cells[0])) table.columns[key] ??= plain(cells[cells.length - 1]);
}

function addParagraph(table, text, tables) {
  table.about.push(plain(text));
  for (const [, keys, other] of text.matchAll(BORROWED))
    for (const key of keysOf(keys)) table.columns[key] ??= tables[other]?.columns[key];
}

export function readDefinitions(markdown) {
  const tables = {};
  const at = (key) => (tables[key] ??= { about: [], columns: {} });
  let table = null;
  for (const block of markdown.replace(/^#.*$/gm, '\n$&\n').split(/\n{2,}/)) {
    const text = block.trim();
    const heading = HEADING.exec(text);
    if (heading) table = at(heading[1] ?? heading[2]);
    else if (/^#+ /.test(text)) table = null;
    else if (text.startsWith('|') && table) addColumns(table, text.split('\n'));
    else if (table) addParagraph(table, text, tables);
  }
  return tables;
}

/** The paragraphs about a table: its own, else those that name it. */
export function paragraphsAbout(definitions, key) {
  const word = new RegExp(`\\b${key}\\b`);
  return (
    definitions[key]?.about ??
    Object.values(definitions).flatMap(({ about }) => about.filter((text) => word.test(text)))
  );
}
