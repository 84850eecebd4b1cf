// The times along the top, the lines below them, and the part that is chosen.

import { withUnit } from '../format';
import type { Scene } from './draw';
import { ticks } from './span';

export const AXIS = 26;

export function xOf(scene: Pick<Scene, 'span' | 'gutter' | 'width'>, time: number): number {
  const { start, end } = scene.span;
  return scene.gutter + ((time - start) / Math.max(end - start, 1)) * (scene.width - scene.gutter);
}

function ticksOf(scene: Scene): ReturnType<typeof ticks> {
  return ticks(scene.span, (scene.width - scene.gutter) / (scene.width < 600 ? 70 : 110));
}

/** A time with as many decimals as needed to distinguish neighbouring ticks. */
export function tickText(time: number, step: number): string {
  const size = Math.abs(time);
  const [factor, name] =
    size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(Math.log10(factor / Math.max(step, 1)) - 1e-9));
  return time === 0 ? '0' : `${(time / factor).toFixed(decimals).replace('-', '\u2212')} ${name}`;
}

export function drawAxis(scene: Scene): void {
  const { context, ink, width, gutter } = scene;
  const { step, times } = ticksOf(scene);
  context.fillStyle = ink.panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = ink.muted;
  for (const time of times) {
    const x = xOf(scene, time);
    const text = tickText(time, step);
    if (x + scene.ruler.width(text) + 4 < width) context.fillText(text, x + 4, AXIS / 2);
    context.fillRect(Math.round(x), AXIS - 8, 1, 8);
  }
  context.fillStyle = ink.line;
  context.fillRect(gutter, AXIS - 1, width - gutter, 1);
}

export function drawGrid(scene: Scene): void {
  scene.context.fillStyle = scene.ink.line;
  for (const time of ticksOf(scene).times) scene.context.fillRect(Math.round(xOf(scene, time)), AXIS, 1, scene.height);
}

/** The chosen part: what is outside of it is paler; its length above. */
export function drawChosen(scene: Scene): void {
  const { context, ink, width, height, gutter, chosen } = scene;
  if (!chosen) return;
  const left = Math.min(Math.max(xOf(scene, chosen.start), gutter), width);
  const right = Math.min(Math.max(xOf(scene, chosen.end), gutter), width);
  context.fillStyle = ink.panel;
  context.globalAlpha = 0.55;
  context.fillRect(gutter, AXIS, left - gutter, height);
  context.fillRect(right, AXIS, width - right, height);
  context.globalAlpha = 0.16;
  context.fillStyle = ink.accent;
  context.fillRect(left, 0, Math.max(right - left, 1), AXIS);
  context.globalAlpha = 1;
  for (const [x, time] of [
    [left, chosen.start],
    [right, chosen.end],
  ] as const)
    if (time >= scene.span.start && time <= scene.span.end) context.fillRect(Math.round(x) - 0.5, 0, 1, height);
  const text = withUnit(chosen.end - chosen.start, 'ns');
  const room = scene.ruler.width(text) + 12;
  const middle = Math.min(Math.max((left + right) / 2, gutter + room / 2), width - room / 2);
  if (right <= gutter || left >= width) return;
  context.fillRect(middle - room / 2, 4, room, AXIS - 9);
  context.fillStyle = ink.panel;
  context.fillText(text, middle - room / 2 + 6, AXIS / 2);
}
