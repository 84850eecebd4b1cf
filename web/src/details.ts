// One row of a table whole: every column with its exact value and what it means.

import type { Row, Table } from './data';
import { button, copy, element } from './dom';
import { exact } from './format';
import { toCsv } from './csv';
import { meaningOf } from './meaning';
import type { RowLink } from './table';

export function showRow(key: string, table: Table, row: Row, link: RowLink | null = null): void {
  const before = document.activeElement;
  const list = element('dl', { class: 'details' });
  table.columns.forEach((column, index) => {
    const cell = row[index] ?? null;
    if (cell === null) return;
    const help = meaningOf(key, column.key);
    list.append(
      element('dt', {}, column.title, element('code', {}, column.key)),
      element('dd', {}, element('bdi', {}, exact(cell, column)), help && element('small', {}, help)),
    );
  });
  const dialog = element('dialog', { 'aria-label': `A row of ${table.title}` });
  const close = button('Close', { autofocus: true }, () => dialog.close());
  const csv = button('Copy CSV', { class: 'quiet' }, () => void copy(toCsv(table, [row]), 'Row copied'));
  const go =
    link &&
    button(link.label, { class: 'quiet' }, () => {
      dialog.close();
      link.go();
    });
  dialog.append(element('h2', {}, table.title), list, element('div', { class: 'tools' }, go, csv, close));
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
}
