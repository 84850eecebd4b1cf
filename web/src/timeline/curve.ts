// A counter over time: between the lowest and the highest value of each column of pixels.

import { decimal, withUnit } from '../format';
import type { Unit } from '../data';
import { AXIS, xOf } from './axis';
import type { Scene } from './draw';
import type { Lane } from './lanes';
import { between, type PackedRow, type Row } from './rows';

const UNITS: readonly string[] = ['count', 'ns', 'bytes', 'share'];
const CLOCKS = [
  { name: 'GHz', factor: 1e9, decimals: 3 },
  { name: 'MHz', factor: 1e6, decimals: 0 },
] as const;

export function counterText(value: number, unit: string | null | undefined): string {
  if (unit && UNITS.includes(unit)) return withUnit(value, unit as Unit);
  const clock = unit === 'Hz' && CLOCKS.find(({ factor }) => Math.abs(value) >= factor);
  if (clock) return `${decimal(value / clock.factor, clock.decimals)} ${clock.name}`;
  const text = decimal(value, Number.isInteger(value) ? 0 : 2);
  return unit ? `${text} ${unit}` : text;
}

/** What the bottom and the top of its row stand for. */
export function scaleOf({ low = 0, high = 0 }: PackedRow): readonly [number, number] {
  const least = Math.min(low, 0);
  return [least, Math.max(high, least + 1e-9)];
}

export function drawCurve(scene: Scene, lane: Lane, row: Row): void {
  const { context, ink, gutter, width } = scene;
  const [least, most] = scaleOf(lane.packed);
  const bottom = AXIS + lane.top + lane.height - scene.scroll;
  const yOf = (value: number): number => bottom - ((value - least) / (most - least)) * (lane.height - 2);
  const [first, last] = between(row, scene.span.start, scene.span.end);
  const area = new Path2D();
  const line = new Path2D();
  let isOpen = false;
  for (let i = first; i < last; i++) {
    const left = Math.max(xOf(scene, row.start[i]!), gutter);
    const right = Math.min(Math.max(xOf(scene, row.end[i]!), left), width);
    const low = yOf(row.busy[i]!);
    const high = yOf(row.high![i]!);
    area.rect(left, high, Math.max(right - left, 0.5), bottom - high);
    if (isOpen) line.lineTo(left, high);
    else line.moveTo(left, high);
    if (low - high > 1 && right - left <= 2) line.lineTo(left, low);
    line.lineTo(right, high);
    isOpen = true;
  }
  context.fillStyle = ink.accent;
  context.globalAlpha = 0.18;
  context.fill(area);
  context.globalAlpha = 1;
  context.strokeStyle = ink.accent;
  context.lineWidth = 1;
  context.stroke(line);
}
