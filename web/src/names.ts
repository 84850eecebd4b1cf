// Names where room is short: of a C++ signature the function's own name matters most, of others both ends, and names
// that would look the same are cut around the place where they differ.

import type { Report } from './data';
import { element, shorten } from './dom';

/** A slash, or words joined by a hyphen, are in names that people give. */
const SIGNATURE =
  /^((?:[\w:]+ )?(?:(?:\(anonymous namespace\)|<unnamed>|\w+)::)*)(\w+)(?!.*[a-z]-[a-z])([<(][^/]*[>)\]]\]?)$/is;

const TAIL = 14; // characters
const INDENT = 14; // pixels for each of a nested name's two spaces

/** A name that gives up its scope and its arguments first where room is short; without these, its middle. Where others look
 * the same up to some place, the arguments begin just before it. */
export function nameView(name: string, from = 0): HTMLElement {
  const parts = SIGNATURE.exec(name);
  if (parts) {
    const [, scope = '', own = '', all = ''] = parts;
    const at = scope.length + own.length;
    const rest = from - at > SEEN ? `\u2026${name.slice(wordBefore(name, from))}` : all;
    return element(
      'bdi',
      { class: 'signature' },
      scope && element('span', { class: 'scope' }, scope),
      element('span', { class: 'own' }, own),
      element('span', { class: 'arguments' }, rest),
    );
  }
  const plain = name.trimStart();
  const at = Math.max(0, [...plain].length - TAIL);
  const head = [...plain].slice(0, at).join('');
  const made = element(
    'bdi',
    { class: 'signature' },
    at > 0 && element('span', { class: 'head' }, head),
    element('span', { class: at > 0 ? 'tail' : 'head' }, plain.slice(head.length)),
  );
  const depth = (name.length - plain.length) / 2;
  if (depth > 0) made.style.paddingLeft = `${depth * INDENT}px`;
  return made;
}

const SEEN = 16; // characters of arguments that any table has room for

/** The start of the word around a place, or a little before it in a long one. */
function wordBefore(name: string, place: number): number {
  return Math.max(place - BEFORE, name.slice(0, place).search(/[^<>(),/ =#;]*$/));
}

/** From where on each name differs from all the others that have its own name. */
export function differences(names: readonly string[]): ReadonlyMap<string, number> {
  const sorted = [...new Set(names)].sort();
  const common = sorted.map((name, place) => (place === 0 ? 0 : commonStart([sorted[place - 1]!, name])));
  return new Map(sorted.map((name, place) => [name, Math.max(common[place]!, common[place + 1] ?? 0)]));
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
