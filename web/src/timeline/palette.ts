// Colours of items: ops by category, gaps by cause, what the CPU did by name and paler; and text that fits.

import { colorOf, inkOn, tintOf, type Ink } from '../theme';
import type { Catalog } from './catalog';
import type { Kind } from './rows';

export interface Palette {
  readonly key: string; // the category or cause
  readonly fill: string;
  readonly text: string;
}

const SHARES: Readonly<Partial<Record<Kind, number>>> = { gaps: 0.5, ranges: 0.42 };
const HOST_SHARE = 0.42;

function mix(color: string, back: string, share: number): string {
  const part = (text: string, at: number): number => parseInt(text.slice(at, at + 2), 16);
  const hex = [1, 3, 5].map((at) => Math.round(part(color, at) * share + part(back, at) * (1 - share)));
  return `#${hex.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Made anew for each theme. */
export class Palettes {
  private readonly kinds = new Map<Kind, Palette[]>();

  constructor(
    private readonly catalog: Catalog,
    private readonly ink: Ink,
  ) {}

  of(kind: Kind, name: number): Palette {
    let known = this.kinds.get(kind);
    if (!known) this.kinds.set(kind, (known = []));
    return (known[name] ??= this.make(kind, name));
  }

  private make(kind: Kind, name: number): Palette {
    const category = this.catalog.categories[name];
    const text = this.catalog.names[name] ?? '';
    if (kind === 'ops' || kind === 'collectives') {
      const key = category ?? (kind === 'collectives' ? 'comm' : 'other');
      const fill = colorOf(key);
      return { key, fill, text: inkOn(fill) };
    }
    if (kind === 'steps') return { key: '', fill: this.ink.bar, text: this.ink.text };
    const base = kind === 'gaps' ? colorOf(text) : tintOf(text);
    const fill = mix(base, this.ink.panel, SHARES[kind] ?? HOST_SHARE);
    return { key: text, fill, text: inkOn(fill) };
  }
}

/** Widths of text in one font, without asking the browser each time. */
export class Ruler {
  private readonly widths = new Map<string, number>();
  private readonly cuts = new Map<string, string>();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly font: string,
  ) {}

  width(text: string): number {
    let sum = 0;
    for (const character of text) sum += this.widthOf(character);
    return sum;
  }

  /** Cut in the middle so that it fits, with both ends; nothing where hardly any would. */
  fit(text: string, room: number): string {
    if (text.length * 3 <= room && this.width(text) <= room) return text;
    const key = `${Math.floor(room / 4)}:${text}`;
    const known = this.cuts.get(key);
    if (known !== undefined) return known;
    if (this.cuts.size > 20_000) this.cuts.clear();
    const cut = this.cut(text, Math.floor(room / 4) * 4);
    this.cuts.set(key, cut);
    return cut;
  }

  private cut(text: string, room: number): string {
    const characters = [...text.slice(0, 600)];
    if (this.width(text) <= room) return text;
    let left = room - this.widthOf('\u2026');
    let head = 0;
    let tail = 0;
    // Two of the head for one of the end.
    while (head + tail < characters.length) {
      const isHead = head <= 2 * tail;
      const next = this.widthOf(characters[isHead ? head : characters.length - 1 - tail]!);
      if (next > left) break;
      left -= next;
      if (isHead) head++;
      else tail++;
    }
    if (head + tail < 3) return '';
    return `${characters.slice(0, head).join('')}\u2026${characters.slice(characters.length - tail).join('')}`;
  }

  private widthOf(character: string): number {
    let width = this.widths.get(character);
    if (width === undefined) {
      this.context.font = this.font;
      width = this.context.measureText(character).width;
      this.widths.set(character, width);
    }
    return width;
  }
}
