// What views are made of: a frame with a title, parts that come later, and what is said where data are missing.

import type { Column, Row, Table, Unit } from '../data';
import { button, copy, element, visible } from '../dom';
import type { SqlAnswer } from '../explore/source';
import { withUnit } from '../format';
import { fullCommand, type Session } from '../session';

type Child = HTMLElement | null | false;

export function viewFrame(
  session: Session,
  key: string,
  title: string,
  about: string,
  ...content: Child[]
): HTMLElement {
  return element(
    'div',
    { class: 'view', id: `view-${key}` },
    element('header', { class: 'view-head' }, element('h1', {}, title), element('p', { class: 'origin' }, about)),
    partView(session),
    ...content,
  );
}

/** A part of the time that is looked at, and the way back to everything. */
function partView(session: Session): HTMLElement | null {
  const { chosen } = session;
  if (!chosen || !session.source.isLive) return null;
  const words = `Selected: ${withUnit(chosen.start, 'ns')} to ${withUnit(chosen.end, 'ns')}`;
  const clear = button('\u00d7', { 'aria-label': 'Show everything again' }, () => session.clear());
  return element('p', { class: 'chip' }, element('span', {}, words), clear);
}

export function panelView(title: string, ...content: (Child | string)[]): HTMLElement {
  return element('section', { class: 'panel' }, element('h2', {}, title), ...content);
}

export function commandView(command: string): HTMLElement {
  return element(
    'p',
    { class: 'command' },
    element('code', {}, command),
    button('Copy', { class: 'quiet' }, () => void copy(command, 'Command copied')),
  );
}

/** A page without a server does not have everything: this says what to type. */
export function missingView(session: Session, what: string, command = fullCommand(session)): HTMLElement {
  return element('section', { class: 'panel missing' }, element('p', {}, what), commandView(command));
}

/** Content that is asked for and comes later; what goes wrong is said, with a way to try again. */
export function later<T>(ask: () => Promise<T>, show: (answer: T) => Child): HTMLElement {
  const host = element('div', { class: 'later', 'aria-busy': 'true' }, element('div', { class: 'waiting-bar' }));
  const say = (reason: unknown): void => {
    const words = reason instanceof Error ? reason.message : String(reason);
    const again = button('Try again', { class: 'quiet' }, () => {
      host.replaceChildren(element('div', { class: 'waiting-bar' }));
      load();
    });
    host.replaceChildren(element('p', { class: 'trouble-line', role: 'alert' }, `${visible(words)} `, again));
  };
  const load = (): void =>
    void ask()
      .then((answer) => {
        const shown = show(answer);
        host.replaceChildren(...(shown ? [shown] : []));
      })
      .catch(say)
      .finally(() => host.removeAttribute('aria-busy'));
  load();
  return host;
}

/** Choices side by side, one of which is pressed. */
export function choiceView<T extends string>(
  label: string,
  choices: readonly (readonly [T, string])[],
  chosen: T,
  choose: (value: T) => void,
): HTMLElement {
  const group = element('div', { class: 'choice', role: 'group', 'aria-label': label });
  for (const [value, title] of choices) {
    const made = button(
      title,
      { class: 'quiet', 'aria-pressed': String(value === chosen), 'data-value': value },
      () => {
        for (const each of group.children) each.setAttribute('aria-pressed', String(each === made));
        choose(value);
      },
    );
    group.append(made);
  }
  return group;
}

function unitOf(key: string): Unit {
  return /_ns$/.test(key) ? 'ns' : /bytes$/.test(key) ? 'bytes' : /share$/.test(key) ? 'share' : '';
}

/** The answer to a query as a table; names of columns give units, as on the command line. */
export function tableOf(answer: SqlAnswer, title: string): Table {
  const columns = (answer.columns as readonly (string | { key: string; title?: string; unit?: Unit })[]).map(
    (column, place): Column => {
      const key = typeof column === 'string' ? column : column.key;
      const isCount = answer.rows.every((row) => row[place] === null || typeof row[place] === 'number');
      const given = typeof column === 'string' ? unitOf(key) : (column.unit ?? unitOf(key));
      const unit = given === '' && isCount && answer.rows.length > 0 ? 'count' : given;
      return { key, title: typeof column === 'string' ? key : (column.title ?? key), unit };
    },
  );
  const rows: readonly Row[] = answer.rows;
  return answer.total_rows > rows.length
    ? { title, total_rows: answer.total_rows, columns, rows }
    : { title, columns, rows };
}

/** The same with every cell as the query gave it, whatever its column is called. */
export function exactTableOf(answer: SqlAnswer, title: string): Table {
  const table = tableOf(answer, title);
  return { ...table, columns: table.columns.map((column): Column => ({ ...column, unit: plainUnit(column.unit) })) };
}

const plainUnit = (unit: Unit): Unit => (unit === '' ? '' : 'count');

/** A text of SQL. */
export const sqlText = (text: string): string => `'${text.replace(/'/g, "''")}'`;
