// The report as the page carries it: docs/json.md with packed rows. Types, and how its cells are looked at.

import type { Timeline } from './timeline/rows';

export type Cell = string | number | null;
export type Row = readonly Cell[];
export type Unit = '' | 'count' | 'ns' | 'bytes' | 'share';
export type Flag =
  'name' | 'bar' | 'detail' | 'whole' | 'single' | 'moment' | 'edge' | 'signed' | 'side' | 'sparse' | 'varies';

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly unit: Unit;
  readonly of?: string;
  readonly flags?: readonly Flag[];
}

export interface Table {
  readonly title: string;
  readonly total_rows?: number;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Fact {
  readonly key: string;
  readonly title: string;
  readonly unit: Unit;
  readonly value: Cell;
}

export interface Input {
  readonly input: string;
  readonly path: string | null;
  readonly format: string | null;
  readonly producer: string | null;
  readonly selection: string | null;
  readonly rank?: number | null;
  readonly world_size?: number | null;
  readonly shown: readonly Fact[];
  readonly notes: readonly string[];
  readonly warnings?: readonly string[]; // those of the notes that say what is missing
  readonly facts?: Readonly<Record<string, Cell>>;
}

/** What was read; a comparison is made of others. */
export const isTrace = ({ format }: Input): boolean => format !== 'comparison';

/** Times since the start of the first op. */
export interface TimeWindow {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly device: number;
}

export interface Finding {
  readonly input?: string;
  readonly id: string;
  readonly severity: string;
  readonly title: string;
  readonly evidence: readonly string[];
  readonly advice: readonly string[];
  readonly recoverable_ns: number | null;
  readonly recoverable_step_ns?: number | null;
  readonly saving_by?: string | null;
  readonly share?: number | null;
  readonly rule?: string | null;
  readonly windows?: readonly TimeWindow[];
  readonly table?: string | null;
}

export interface Issue {
  readonly input: string;
  readonly id: string;
  readonly count: number;
  readonly help: string;
  readonly loss: boolean;
}

export interface Report {
  readonly tool: { readonly name: string; readonly version: string };
  readonly command: string;
  readonly heading?: string;
  readonly main_table?: string;
  readonly inputs: readonly Input[];
  readonly tables: Readonly<Record<string, Table>>;
  readonly timelines?: readonly Timeline[];
  readonly findings: readonly Finding[];
  readonly issues: readonly Issue[];
}

type PackedCell = number | string | null | [number];

/** A text is stored once in the page; a cell [n] is text number n. */
function unpack(rows: PackedCell[][], texts: readonly string[]): void {
  for (const row of rows)
    for (let i = 0; i < row.length; i++) {
      const cell = row[i];
      if (Array.isArray(cell)) row[i] = texts[cell[0]] ?? null;
    }
}

/** Sentences and titles are those of the terminal, which has no \u00b5; all numbers of the page have. */
export const spell = (text: string): string => text.replace(/(?<=\d) us\b/g, ' \u00b5s');
const spellAll = (texts: readonly string[]): string[] => texts.map(spell);
const spellCell = (cell: Cell): Cell => (typeof cell === 'string' ? spell(cell) : cell);
const spellTitle = <T extends { readonly title: string }>(each: T): T => ({ ...each, title: spell(each.title) });

function spellInput(input: Input): Input {
  const facts = Object.entries(input.facts ?? {}).map(([key, value]) => [key, spellCell(value)]);
  return {
    ...input,
    shown: input.shown.map((fact) => ({ ...spellTitle(fact), value: spellCell(fact.value) })),
    facts: Object.fromEntries(facts),
    notes: spellAll(input.notes),
    warnings: spellAll(input.warnings ?? []),
  };
}

const spellFinding = (finding: Finding): Finding => ({
  ...spellTitle(finding),
  evidence: spellAll(finding.evidence),
  advice: spellAll(finding.advice),
  rule: finding.rule == null ? null : spell(finding.rule),
});

const spellTable = (table: Table): Table => ({ ...spellTitle(table), columns: table.columns.map(spellTitle) });

/** A report as pages carry it and servers send it, with its texts in place. */
export function unpackReport(packed: unknown): Report {
  const report = packed as Report & { texts: string[] };
  for (const table of Object.values(report.tables)) unpack(table.rows as unknown as PackedCell[][], report.texts);
  return {
    ...report,
    inputs: report.inputs.map(spellInput),
    tables: Object.fromEntries(Object.entries(report.tables).map(([key, table]) => [key, spellTable(table)])),
    findings: report.findings.map(spellFinding),
  };
}

/** The JSON of the page: a report, or what `gputime view` says of itself. */
export function readCarried(): unknown {
  return JSON.parse(document.getElementById('report')?.textContent ?? '');
}

/** Integers beyond 2^53 come as strings, to be shown exactly; other strings are no numbers. */
export function numberOf(cell: Cell | undefined): number {
  if (typeof cell === 'number') return cell;
  return cell != null && /^-?\d+$/.test(cell) ? Number(cell) : 0;
}

export function columnIndex(table: Table, key: string): number {
  return table.columns.findIndex((column) => column.key === key);
}

export function hasColumns(table: Table, ...keys: string[]): boolean {
  return keys.every((key) => columnIndex(table, key) >= 0);
}

/** Reads one column of any row; null where the table has no such column. */
export function reader(table: Table, key: string): (row: Row) => Cell {
  const index = columnIndex(table, key);
  return (row) => row[index] ?? null;
}

export function numbers(table: Table, key: string): (row: Row) => number {
  const cell = reader(table, key);
  return (row) => numberOf(cell(row));
}

/** The device of a row, with its input where there are several. */
export function deviceName(table: Table): (row: Row) => string {
  const input = reader(table, 'input');
  const device = reader(table, 'device');
  const several = new Set(table.rows.map(input)).size > 1;
  return (row) => `${several ? `${String(input(row))} \u00b7 ` : ''}GPU ${String(device(row))}`;
}

export function hasFlag(column: Column, flag: Flag): boolean {
  return column.flags?.includes(flag) ?? false;
}

/** A column of names and ids; numbers among them are names too. */
export function isText(table: Table, column: number): boolean {
  return table.columns[column]?.unit === '' && table.rows.every((row) => typeof row[column] !== 'number');
}
