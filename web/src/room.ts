// How much room text takes when it is drawn, and names cut to fit.

import { shorten } from './dom';
import { ink } from './theme';

export const TEXT_PIXELS = 12;

const context = document.createElement('canvas').getContext('2d')!;

export function textWidth(text: string): number {
  context.font = `${TEXT_PIXELS}px ${ink().font}`;
  return context.measureText(text).width;
}

const LONGEST = 120; // characters: no chart has room for more

/** Cut in the middle, to at most so many pixels. */
export function fit(text: string, room: number): string {
  const whole = shorten(text, LONGEST);
  if (textWidth(whole) <= room) return whole;
  let least = 3;
  let most = Math.min(text.length, LONGEST);
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (textWidth(shorten(text, middle)) <= room) least = middle;
    else most = middle - 1;
  }
  return shorten(text, least);
}

/** How many lines names take side by side, each with so many pixels around it. */
export function linesOf(names: readonly string[], around: number, room: number): number {
  let lines = 1;
  let used = 0;
  for (const name of names) {
    const width = textWidth(name) + around;
    if (used > 0 && used + width > room) {
      lines++;
      used = 0;
    }
    used += width;
  }
  return lines;
}
