// Rows as CSV for the clipboard, as the program writes them: keys in the header, raw numbers, RFC 4180 quotes, and an
// apostrophe before text that a spreadsheet would run as a formula.

import type { Cell, Row, Table } from './data';

function field(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function toCsv(table: Table, rows: readonly Row[]): string {
  const header = table.columns.map((column) => field(column.key)).join(',');
  return [header, ...rows.map((row) => table.columns.map((_, index) => field(row[index])).join(','))].join('\n') + '\n';
}
