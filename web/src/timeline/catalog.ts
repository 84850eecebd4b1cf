// Every name that has been seen, once: items of all windows refer to it. Short labels tell names apart that begin alike.

import { shorten, visible } from '../dom';

const COMMON = 30; // characters for what names have in common
const BEFORE = 8; // of a long word before the place where names differ
const DIFFERENT = 40;

/** A kernel's own name, for where there is little room: no return type, namespaces, template arguments or parameters. */
export function shortName(name: string): string {
  const plain = name.replace(/\((?:anonymous namespace|unnamed)\)::/g, '').replace(/^void /, '');
  const wrapped = /^cutlass::Kernel2?<(\w+)>/.exec(plain);
  if (wrapped) return wrapped[1]!;
  const end = plain.search(/[<(]/);
  const head = end > 0 ? plain.slice(0, end) : plain;
  const space = head.lastIndexOf('::');
  return head.slice(space < 0 ? 0 : space + 2).trim() || name;
}

/** Where two names begin to differ, from the start of that word on, without scopes. */
function difference(name: string, others: readonly string[]): string {
  let from = 0;
  for (const other of others) {
    let same = 0;
    while (same < name.length && name[same] === other[same]) same++;
    from = Math.max(from, same);
  }
  const word = Math.max(from - BEFORE, name.slice(0, from).search(/[^<>(),/ =#;]*$/));
  const rest = name.slice(word).replace(/\((?:anonymous namespace|unnamed)\)::|(?:\w+::)+|\bvoid /g, '');
  return rest.length > DIFFERENT ? `${rest.slice(0, DIFFERENT)}\u2026` : rest;
}

export class Catalog {
  readonly names: string[] = [];
  readonly categories: (string | null)[] = [];
  private readonly places = new Map<string, number>();
  private readonly groups = new Map<string, number[]>(); // by short name
  private readonly labels: (string | undefined)[] = [];
  private readonly lower: (string | undefined)[] = [];

  add(name: string, category: string | null): number {
    const key = `${category ?? ''}\n${name}`;
    const known = this.places.get(key);
    if (known !== undefined) return known;
    const place = this.names.length;
    this.places.set(key, place);
    this.names.push(name);
    this.categories.push(category);
    this.join(shortName(name), place);
    return place;
  }

  /** Short, and different from that of every other name. */
  label(place: number): string {
    const known = this.labels[place];
    if (known !== undefined) return known;
    const name = this.names[place]!;
    const short = shortName(name);
    const others = this.groups.get(short)!.filter((each) => this.names[each] !== name);
    const alike = others.slice(0, 64).map((each) => this.names[each]!);
    const plain = others.length === 0 ? short : `${shorten(short, COMMON)} \u00b7 ${difference(name, alike)}`;
    const label = visible(plain);
    this.labels[place] = label;
    return label;
  }

  /** Whether a name contains a text, which is in lower case. */
  has(place: number, text: string): boolean {
    const lower = (this.lower[place] ??= this.names[place]!.toLowerCase());
    return lower.includes(text);
  }

  private join(short: string, place: number): void {
    const group = this.groups.get(short);
    if (!group) {
      this.groups.set(short, [place]);
      return;
    }
    for (const each of group) this.labels[each] = undefined; // to be told apart from the new one
    group.push(place);
  }
}
