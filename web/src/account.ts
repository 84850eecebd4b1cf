// The account of a span: compute, exposed communication and memory, and idle time by cause, which add up to it. One bar for
// each of a few GPUs, sides or ranks; their mean where there are more.

import { deviceName, hasColumns, isTrace, numbers, reader, type Report, type Row, type Table } from './data';
import { element, setHover, shorten, visible } from './dom';
import { percent, withUnit } from './format';
import { jobsOf } from './jobs';
import { colorOf } from './theme';

export interface AccountPart {
  readonly name: string;
  readonly color: string;
  readonly isIdle: boolean;
}

export interface AccountRow {
  readonly name: string;
  readonly values: readonly number[]; // by part
  readonly isMean?: boolean; // of many
}

export interface Account {
  readonly title: string;
  readonly parts: readonly AccountPart[];
  readonly rows: readonly AccountRow[];
}

const MOST_ROWS = 4;
const NAME_LENGTH = 48; // characters
const WORK = [
  ['compute', 'compute_ns'],
  ['exposed communication', 'exposed_comm_ns'],
  ['exposed memory', 'exposed_memory_ns'],
] as const;
const JOB_WORK = [
  ['compute', 'compute_ns', 'compute'],
  ['exposed transfer', 'exposed_transfer_ns', 'comm'],
  ['waiting for other ranks', 'exposed_wait_ns', 'launch'],
  ['exposed memory', 'exposed_memory_ns', 'exposed memory'],
] as const;
const CAUSES = ['host', 'sync', 'launch', 'dependency', 'unknown', 'end'];
const JOB_CAUSES = CAUSES.slice(0, -1);

const work = (name: string, like = name): AccountPart => ({ name, color: colorOf(like), isIdle: false });
const idle = (cause: string): AccountPart => ({
  name: cause === '' ? 'idle' : `idle: ${cause}`,
  color: colorOf(cause === '' ? 'idle' : cause),
  isIdle: true,
});

/** What is nowhere needs no place in the legend. */
function used(title: string, parts: readonly AccountPart[], rows: readonly AccountRow[]): Account | null {
  const places = parts.map((_, place) => place).filter((place) => rows.some((row) => row.values[place]! > 0));
  if (places.length === 0) return null;
  return {
    title,
    parts: places.map((place) => parts[place]!),
    rows: rows.map(({ values, ...row }) => ({ ...row, values: places.map((place) => values[place]!) })),
  };
}

const meanOf = (rows: readonly AccountRow[]): number[] =>
  rows[0]!.values.map((_, at) => rows.reduce((sum, row) => sum + row.values[at]!, 0) / rows.length);

/** The mean of too many rows, as one. */
function few(rows: readonly AccountRow[], noun: string): readonly AccountRow[] {
  if (rows.length <= MOST_ROWS) return rows;
  return [{ name: `mean of ${rows.length} ${noun}`, values: meanOf(rows), isMean: true }];
}

type Read = (table: Table, key: string) => (row: Row) => number;

/** Idle time of each row of the accounting by cause; what no cause is known for comes last. */
function splitIdle(
  report: Report,
  read: Read,
  keyOf: (table: Table) => (row: Row) => string,
): (key: string) => number[] {
  const sums = new Map<string, number[]>();
  const table = report.tables['idle_causes'];
  if (table && hasColumns(table, 'cause')) {
    const [cause, total, key] = [reader(table, 'cause'), read(table, 'total_ns'), keyOf(table)];
    for (const row of table.rows) {
      const values = sums.get(key(row)) ?? CAUSES.map(() => 0);
      sums.set(key(row), values);
      const place = CAUSES.indexOf(String(cause(row)));
      if (place >= 0) values[place]! += total(row);
    }
  }
  return (key) => sums.get(key) ?? CAUSES.map(() => 0);
}

function rowsOf(table: Table, report: Report, read: Read, nameOf: (row: Row) => string): AccountRow[] {
  const keyOf = (each: Table): ((row: Row) => string) => {
    const [input, device] = [reader(each, 'input'), reader(each, 'device')];
    return (row) => `${String(input(row))}\n${String(device(row))}`;
  };
  const causes = splitIdle(report, read, keyOf);
  const whole = read(table, 'idle_ns');
  return table.rows.map((row) => {
    const known = causes(keyOf(table)(row));
    const rest = whole(row) - known.reduce((sum, ns) => sum + ns, 0);
    return {
      name: nameOf(row),
      values: [...WORK.map(([, key]) => read(table, key)(row)), ...known, rest > 0.5 ? rest : 0],
    };
  });
}

const PARTS = (): AccountPart[] => [...WORK.map(([name]) => work(name)), ...CAUSES.map(idle), idle('')];

function ofTraces(report: Report): Account | null {
  const table = report.tables['accounting'];
  if (!table || !hasColumns(table, 'device', 'span_ns', 'idle_ns', ...WORK.map(([, key]) => key))) return null;
  const rows = few(rowsOf(table, report, numbers, deviceName(table)), 'GPUs');
  return rows.length > 0 ? used('Where the time went', PARTS(), rows) : null;
}

/** Both sides of a comparison, the mean over their GPUs. */
function ofSides(report: Report): Account | null {
  const table = report.tables['accounting'];
  if (!table || !hasColumns(table, 'a_span_ns', 'b_span_ns', 'a_idle_ns')) return null;
  const sides = report.inputs.filter(isTrace);
  const rows = (['a', 'b'] as const).flatMap((side, place) => {
    const read: Read = (each, key) => numbers(each, `${side}_${key}`);
    const name = sides[place]?.input ?? side.toUpperCase();
    const each = rowsOf(table, report, read, () => name).filter(({ values }) => values.some((value) => value > 0));
    return each.length === 0 ? [] : [{ name, values: meanOf(each) }];
  });
  return rows.length === 2 ? used('Where the time went, before and after', PARTS(), rows) : null;
}

function rankRows(report: Report): AccountRow[] {
  const table = report.tables['ranks'];
  const keys = JOB_WORK.map(([, key]) => key);
  const causes = JOB_CAUSES.map((cause) => `idle_${cause}_ns`);
  if (!table || !hasColumns(table, 'rank', 'idle_ns', ...keys, ...causes)) return [];
  const rank = reader(table, 'rank');
  return table.rows.map((row) => {
    const known = causes.map((key) => numbers(table, key)(row));
    const rest = numbers(table, 'idle_ns')(row) - known.reduce((sum, ns) => sum + ns, 0);
    return {
      name: `rank ${String(rank(row))}`,
      values: [...keys.map((key) => numbers(table, key)(row)), ...known, rest > 0.5 ? rest : 0],
    };
  });
}

/** Of several jobs each is a row: the mean over its ranks. */
function ofRanks(report: Report): Account | null {
  const parts = [...JOB_WORK.map(([name, , like]) => work(name, like)), ...JOB_CAUSES.map(idle), idle('')];
  const jobs = jobsOf(report).map((job) => ({ name: job.name, rows: rankRows(job.report) }));
  if (jobs.length > 1) {
    const means = jobs.flatMap(({ name, rows }) => (rows.length > 0 ? [{ name: name!, values: meanOf(rows) }] : []));
    return means.length > 0 ? used('Where the time of the ranks went, mean of each job', parts, means) : null;
  }
  const rows = jobs[0]!.rows;
  return rows.length > 0 ? used('Where the time of the ranks went', parts, few(rows, 'ranks')) : null;
}

export function accountOf(report: Report): Account | null {
  return ofSides(report) ?? ofTraces(report) ?? ofRanks(report);
}

const sumOf = (row: AccountRow): number => row.values.reduce((sum, ns) => sum + ns, 0);

function barView(account: Account, row: AccountRow, longest: number): HTMLElement {
  const total = sumOf(row);
  const bar = element('div', { class: 'account-bar' });
  account.parts.forEach((part, place) => {
    const ns = row.values[place]!;
    if (ns <= 0) return;
    const share = percent(total > 0 ? ns / total : 0);
    const box = element('div', { class: part.isIdle ? 'account-part is-idle' : 'account-part' });
    box.style.flexGrow = String(ns / (total || 1));
    box.style.setProperty('--color', part.color);
    if (ns / (total || 1) > 0.05) box.append(element('span', {}, share)); // else there is no room for it
    setHover(box, `${part.name}: ${withUnit(ns, 'ns')}, ${share}`);
    bar.append(box);
  });
  bar.style.width = `${longest > 0 ? (100 * total) / longest : 100}%`;
  return bar;
}

function legendView(account: Account): HTMLElement {
  const only = account.rows.length === 1 ? account.rows[0] : undefined;
  const total = only ? sumOf(only) : 0;
  const items = account.parts.map((part, place) => {
    const swatch = element('span', { class: part.isIdle ? 'account-swatch is-idle' : 'account-swatch' });
    swatch.style.setProperty('--color', part.color);
    const ns = only?.values[place] ?? 0;
    const value = only && element('b', {}, withUnit(ns, 'ns'));
    const share = only && element('span', { class: 'share' }, percent(total > 0 ? ns / total : 0));
    return element('li', {}, swatch, element('span', {}, part.name), value || null, share || null);
  });
  return element('ul', { class: 'account-legend' }, ...items);
}

/** In words, for those who do not see the bar. */
function summary(account: Account, row: AccountRow): string {
  const total = sumOf(row);
  const parts = account.parts.flatMap((part, place) => {
    const ns = row.values[place]!;
    return ns > 0 ? [`${part.name} ${withUnit(ns, 'ns')} (${percent(total > 0 ? ns / total : 0)})`] : [];
  });
  return `${row.name}: ${withUnit(total, 'ns')}, of which ${parts.join(', ')}`;
}

export function accountView(account: Account, title = account.title): HTMLElement {
  const several = account.rows.length > 1;
  const longest = Math.max(...account.rows.map(sumOf));
  const lines = account.rows.map((row) => {
    const name = element('span', { class: 'account-name' }, shorten(visible(row.name), NAME_LENGTH));
    setHover(name, visible(row.name));
    const track = element('div', { class: 'account-track', role: 'img', 'aria-label': summary(account, row) });
    track.append(barView(account, row, longest));
    const total = element('span', { class: 'account-total' }, withUnit(sumOf(row), 'ns'));
    return element('div', { class: 'account-line' }, several && name, track, several && total);
  });
  const head = element('h2', {}, title);
  if (!several && account.rows[0]?.isMean) head.append(`, ${account.rows[0].name}`);
  if (!several) head.append(element('span', { class: 'account-whole' }, withUnit(longest, 'ns')));
  return element('div', { class: several ? 'account is-several' : 'account' }, head, ...lines, legendView(account));
}
