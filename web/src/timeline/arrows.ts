// Arrows between items that belong together: from a launch to its kernel, from a kernel to the call that waits for it.
// Where an end is outside of what is seen, the arrow goes to the edge.

import type { Link } from '../explore/source';
import { AXIS, xOf } from './axis';
import type { Mark, Scene } from './draw';
import type { Layout } from './lanes';

interface End {
  readonly lane: number;
  readonly time: number;
}

export interface Arrow {
  readonly from: End;
  readonly to: End;
}

/** Kinds of links that are not another part of the same story. */
const NO_ARROW = new Set(['previous', 'next', 'gap', 'meanwhile']);
/** The other end comes first. */
const BACKWARDS = new Set(['launch', 'waits_for', 'cpu']);

export function arrowsOf(mark: Mark, links: readonly Link[]): Arrow[] {
  return links
    .filter(({ kind }) => !NO_ARROW.has(kind))
    .map((link) => {
      const own = { lane: mark.lane, start: mark.start, end: mark.end };
      const other = { lane: link.lane, start: link.start_ns, end: link.end_ns };
      const [from, to] = BACKWARDS.has(link.kind) ? [other, own] : [own, other];
      // A kernel may begin before its launch returns; a wait begins before its kernel ends.
      const leaves = from.end <= to.start ? from.end : from.start <= to.start ? from.start : from.end;
      const enters = to.start >= leaves ? to.start : to.end;
      return { from: { lane: from.lane, time: leaves }, to: { lane: to.lane, time: enters } };
    });
}

/** The middle of a lane, or of the head of the group that it is folded into. */
function yOf(layout: Layout, lane: number): number | null {
  const seen = layout.lanes.find(({ id }) => id === lane);
  if (seen) return seen.top + seen.height / 2;
  const head = layout.heads.find(({ group }) => group.rows.some((row) => row.lane === lane));
  return head ? head.top + 11 : null;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

export function drawArrows(scene: Scene): void {
  const { context, ink, width, height, gutter, scroll } = scene;
  if (scene.arrows.length === 0) return;
  context.save();
  context.beginPath();
  context.rect(gutter, AXIS, width - gutter, height - AXIS);
  context.clip();
  for (const { from, to } of scene.arrows) {
    const fromY = yOf(scene.layout, from.lane);
    const toY = yOf(scene.layout, to.lane);
    if (fromY === null || toY === null) continue;
    const x0 = clamp(xOf(scene, from.time), gutter + 2, width - 2);
    const x1 = clamp(xOf(scene, to.time), gutter + 2, width - 2);
    const y0 = clamp(AXIS + fromY - scroll, AXIS + 3, height - 3);
    const y1 = clamp(AXIS + toY - scroll, AXIS + 3, height - 3);
    const bend = Math.max(24, Math.min(Math.abs(x1 - x0) / 2, 90));
    for (const [color, line] of [
      [ink.panel, 5],
      [ink.high, 2],
    ] as const) {
      context.strokeStyle = color;
      context.lineWidth = line;
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
      context.stroke();
    }
    context.fillStyle = ink.high;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 8, y1 - 4);
    context.lineTo(x1 - 8, y1 + 4);
    context.fill();
  }
  context.restore();
}
