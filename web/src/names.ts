// Names where room is short: of a C++ signature the function's own name matters most, of others both ends, and names
// that would look the same are cut around the place where they differ.

import type { Report } from './data';
import { element, shorten } from './dom';

/** A slash, or words joined by a hyphen, are in names that people give. */
const SIGNATURE =
  /^((?:[\w:]+ )?(?:(?:\(anonymous namespace\)|<unnamed>|\w+)::)*)(\w+)(?!.*[a-z]-[a-z])([<(][^/]*[>)\]]\]?)$/is;

const TAIL = 14; // characters
const REST = 180; // characters of arguments, which no table has room for
const INDENT = 14; // pixels for each of a nested name's two spaces

/** How a name is told from others. */
export interface Difference {
  readonly from: number; // characters after its scope that others begin with, too
  readonly isScope: boolean; // others have all that is after the scope
}

const NONE: Difference = { from: 0, isScope: false };

/** A name that gives up its scope and its arguments first where room is short; without these, its middle. Where others look
 * the same up to some place, the arguments begin just before it. */
export function nameView(name: string, { from, isScope }: Difference = NONE): HTMLElement {
  const parts = SIGNATURE.exec(name);
  if (parts) {
    const [, scope = '', own = '', all = ''] = parts;
    const hidden = from - own.length > SEEN ? wordBefore(own + all, from) - own.length : 0;
    const rest = shorten(hidden > 0 ? `\u2026${all.slice(hidden)}` : all, REST);
    return element(
      'bdi',
      { class: 'signature' },
      scope && element('span', { class: isScope ? 'scope is-kept' : 'scope' }, scope),
      element('span', { class: 'own' }, own),
      element('span', { class: 'arguments' }, rest),
    );
  }
  const plain = shorten(name.trimStart(), REST);
  const at = Math.max(0, [...plain].length - TAIL);
  const head = [...plain].slice(0, at).join('');
  const made = element(
    'bdi',
    { class: 'signature' },
    at > 0 && element('span', { class: 'head' }, head),
    element('span', { class: at > 0 ? 'tail' : 'head' }, plain.slice(head.length)),
  );
  const depth = (name.length - name.trimStart().length) / 2;
  if (depth > 0) made.style.paddingLeft = `${depth * INDENT}px`;
  return made;
}

const SEEN = 16; // characters of arguments that any table has room for

/** The start of the word around a place, or a little before it in a long one. */
function wordBefore(name: string, place: number): number {
  return Math.max(place - BEFORE, name.slice(0, place).search(/[^<>(),/ =#;]*$/));
}

/** A name without what qualifies it. */
function tailOf(name: string): string {
  const parts = SIGNATURE.exec(name);
  return parts ? parts[2]! + parts[3]! : name;
}

/** From where on each name differs from all others, of what is after its scope, and whether only the scope does. */
export function differences(names: readonly string[]): ReadonlyMap<string, Difference> {
  const tails = new Map([...new Set(names)].map((name) => [name, tailOf(name)]));
  const sorted = [...new Set(tails.values())].sort();
  const common = sorted.map((tail, place) => (place === 0 ? 0 : commonStart([sorted[place - 1]!, tail])));
  const from = new Map(sorted.map((tail, place) => [tail, Math.max(common[place]!, common[place + 1] ?? 0)]));
  const counts = new Map<string, number>();
  for (const tail of tails.values()) counts.set(tail, (counts.get(tail) ?? 0) + 1);
  return new Map([...tails].map(([name, tail]) => [name, { from: from.get(tail)!, isScope: counts.get(tail)! > 1 }]));
}

/** Simplified names by full name, if the report has them. */
function shortNames(report: Report): (name: string) => string {
  const kernels = report.tables['kernels'];
  const name = kernels?.columns.findIndex((column) => column.key === 'name') ?? -1;
  const short = kernels?.columns.findIndex((column) => column.key === 'short_name') ?? -1;
  const known = new Map(kernels?.rows.map((row) => [row[name], row[short]]));
  return (full) => String(known.get(full) ?? SIGNATURE.exec(full)?.[2] ?? full);
}

const ROOM = 56; // characters that a chart on a desk has for a name
const COMMON = 30; // of these for what names have in common where they must be distinguishable
const DIFFERENT = 22;
const BEFORE = 8; // of a long word before the place where names differ

function commonStart(names: readonly string[]): number {
  const [first = '', ...others] = names;
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < length && first[same] === other[same]) same++;
    length = same;
  }
  return length;
}

/** From the word in which the names begin to differ, without the scopes of what is named there. */
function difference(name: string, from: number): string {
  const rest = name.slice(wordBefore(name, from)).replace(/(?:\w+::)+|\bvoid /g, '');
  return rest.length > DIFFERENT ? `${rest.slice(0, DIFFERENT)}\u2026` : rest;
}

function tellApart(names: readonly string[], labels: Map<string, string>, short: (name: string) => string): void {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const seen = shorten(labels.get(name)!, ROOM);
    groups.set(seen, [...(groups.get(seen) ?? []), name]);
  }
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const from = commonStart(group);
    for (const name of group) labels.set(name, `${shorten(short(name), COMMON)} \u00b7 ${difference(name, from)}`);
    if (new Set(group.map((name) => labels.get(name))).size > 1) tellApart(group, labels, short);
  }
}

/** The names of a chart as it shows them: short, and no two the same. */
export function chartNames(report: Report, names: readonly string[]): string[] {
  const short = shortNames(report);
  const different = [...new Set(names)];
  const labels = new Map(different.map((name) => [name, short(name)]));
  tellApart(different, labels, short);
  return names.map((name) => labels.get(name)!);
}
