// The place in the address: which input and window, what is folded, pinned, chosen and looked for. A link with it opens
// the same view again.

import type { Fold } from '../timeline/lanes';
import type { Span } from '../timeline/span';

export interface Pin extends Span {
  readonly lane: number;
}

export interface Place {
  readonly input: number;
  readonly span: Span | null; // null: the whole
  readonly pin: Pin | null;
  readonly chosen: Span | null;
  readonly find: string;
  readonly folds: ReadonlyMap<string, Fold>;
}

const START = '#at=';
const LETTERS: Readonly<Record<Fold, string>> = { folded: '-', some: '~', all: '*' };
const FOLDS = new Map(Object.entries(LETTERS).map(([fold, letter]) => [letter, fold as Fold]));

function numbersOf(text: string | null, count: number): number[] | null {
  const numbers = (text ?? '').split(',').map(Number);
  return text && numbers.length === count && numbers.every((number) => Number.isFinite(number)) ? numbers : null;
}

function spanOf(text: string | null): Span | null {
  const numbers = numbersOf(text, 2);
  return numbers && numbers[1]! > numbers[0]! ? { start: numbers[0]!, end: numbers[1]! } : null;
}

export function write({ input, span, pin, chosen, find, folds }: Place): string {
  const words = [`${START}${input}`];
  if (span) words.push(`window=${Math.round(span.start)},${Math.round(span.end)}`);
  if (pin) words.push(`pin=${pin.lane},${pin.start},${pin.end}`);
  if (chosen) words.push(`chosen=${chosen.start},${chosen.end}`);
  if (find) words.push(`find=${encodeURIComponent(find)}`);
  if (folds.size > 0)
    words.push(`fold=${[...folds].map(([id, fold]) => encodeURIComponent(id) + LETTERS[fold]).join(',')}`);
  return words.length === 1 && input === 0 ? '' : words.join('&');
}

/** Null where an address has no place of this kind. */
export function read(hash: string): Place | null {
  if (!hash.startsWith(START)) return null;
  const words = new URLSearchParams(hash.slice(1));
  const input = Number(words.get('at'));
  if (!Number.isInteger(input) || input < 0) return null;
  const numbers = numbersOf(words.get('pin'), 3);
  const pin = numbers?.every((number) => Number.isSafeInteger(number)) ? numbers : null;
  const folds = new Map<string, Fold>();
  for (const word of (words.get('fold') ?? '').split(',')) {
    const fold = FOLDS.get(word.slice(-1));
    if (fold && word.length > 1) folds.set(word.slice(0, -1), fold);
  }
  return {
    input,
    span: spanOf(words.get('window')),
    pin: pin && { lane: pin[0]!, start: pin[1]!, end: pin[2]! },
    chosen: spanOf(words.get('chosen')),
    find: words.get('find') ?? '',
    folds,
  };
}
