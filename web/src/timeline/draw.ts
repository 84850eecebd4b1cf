// Draws the part of a timeline that is seen: bars where items are wide enough, else columns as high as the row is busy.

import { withUnit } from '../format';
import type { Ink } from '../theme';
import { drawArrows, type Arrow } from './arrows';
import { AXIS, drawAxis, drawChosen, drawGrid, xOf } from './axis';
import type { Catalog } from './catalog';
import { drawCurve } from './curve';
import { HEADING, type Lane, type Layout } from './lanes';
import type { Palette, Palettes, Ruler } from './palette';
import { between, type Row } from './rows';
import { lengthOf, type Span } from './span';

const NARROW = 1.5; // pixels: what is narrower is added up by column
const TEXT_LEAST = 30; // pixels a bar must have to be labelled
const DIMMED = 0.16;

/** An item, wherever its row comes from. */
export interface Mark {
  readonly lane: number;
  readonly start: number;
  readonly end: number;
  readonly name: number; // in the catalog
  readonly count: number;
  readonly busy: number; // of a counter: the lowest value
  readonly high?: number; // the highest
}

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly gutter: number; // for names, left
  readonly scroll: number;
  readonly layout: Layout;
  readonly rows: ReadonlyMap<Lane, Row | null>; // of the lanes in view
  readonly catalog: Catalog;
  readonly palettes: Palettes;
  readonly ruler: Ruler;
  readonly span: Span;
  readonly ink: Ink;
  readonly category: string | null; // the highlighted one
  readonly isMatch: ((name: number) => boolean) | null; // of a search
  readonly focus: Mark | null;
  readonly pinned: Mark | null;
  readonly chosen: Span | null;
  readonly arrows: readonly Arrow[];
}

/** As much as there is room for: of a gap the cause, then how long it is. */
function labelOf(scene: Scene, row: Row, item: number, room: number): string {
  const count = row.count[item]!;
  const several = count > 1 ? `${count}\u00d7 ` : '';
  const text = several + scene.catalog.label(row.name[item]!);
  if (row.kind === 'gaps') {
    const whole = `${text} ${withUnit(row.busy[item]!, 'ns')}`;
    if (scene.ruler.width(whole) <= room) return whole;
  }
  return scene.ruler.fit(text, room);
}

function strength(scene: Scene, row: Row, name: number, palette: Palette): number {
  if (scene.isMatch) return scene.isMatch(name) ? 1 : DIMMED;
  return scene.category && row.kind === 'ops' && scene.category !== palette.key ? DIMMED : 1;
}

function drawBar(scene: Scene, lane: Lane, row: Row, item: number, left: number, right: number): void {
  const { context, ink } = scene;
  const { height } = lane;
  const top = AXIS + lane.top - scene.scroll;
  const palette = scene.palettes.of(row.kind, row.name[item]!);
  const length = row.end[item]! - row.start[item]!;
  const share = row.count[item] === 1 || length <= 0 ? 1 : Math.min(1, row.busy[item]! / length);
  const high = Math.max(3, Math.round(height * share));
  const x = Math.max(left, scene.gutter - 2);
  const width = Math.max(Math.min(right, scene.width + 2) - x - (right - left > 4 ? 1 : 0), 1);
  const alpha = strength(scene, row, row.name[item]!, palette);
  context.globalAlpha = alpha;
  context.fillStyle = palette.fill;
  context.fillRect(x, top + height - high, width, high);
  if (width >= TEXT_LEAST && high > 11) {
    const text = labelOf(scene, row, item, width - 7);
    if (alpha < 1) context.globalAlpha = 0.5;
    context.fillStyle = alpha < 1 ? ink.text : palette.text;
    if (text) context.fillText(text, Math.max(x, scene.gutter) + 4, top + height - high / 2);
  }
  context.globalAlpha = 1;
  if (scene.isMatch && alpha === 1) {
    context.strokeStyle = ink.text;
    context.lineWidth = 1;
    if (width > 3) context.strokeRect(x + 0.5, top + height - high + 0.5, width - 1, high - 1);
  }
}

/** Adds up what is too narrow to be seen alone: the busy time of one column of pixels, by colour. */
class Column {
  private place = -1;
  private total = 0;
  private best: Palette | null = null;
  private bestName = 0;
  private most = 0;
  private isMatch = false;
  private readonly busy = new Map<Palette, number>();

  constructor(
    private readonly scene: Scene,
    private readonly lane: Lane,
    private readonly row: Row,
    private readonly perPixel: number,
  ) {}

  add(x: number, name: number, busy: number): void {
    const place = Math.floor(x);
    if (place !== this.place) {
      this.flush();
      this.place = place;
    }
    const palette = this.scene.palettes.of(this.row.kind, name);
    const sum = (this.busy.get(palette) ?? 0) + busy;
    this.busy.set(palette, sum);
    this.total += busy;
    const isMatch = this.scene.isMatch?.(name) ?? false;
    if (!this.best || (isMatch && !this.isMatch) || (sum > this.most && isMatch === this.isMatch)) {
      this.best = palette;
      this.bestName = name;
      this.most = sum;
      this.isMatch = isMatch;
    }
  }

  flush(): void {
    if (!this.best) return;
    const { context, scroll, ink } = this.scene;
    const { top, height } = this.lane;
    const high = Math.max(3, Math.round(height * Math.min(1, this.total / this.perPixel)));
    const y = AXIS + top - scroll;
    const alpha = strength(this.scene, this.row, this.bestName, this.best);
    if (alpha < 1) context.globalAlpha = alpha;
    context.fillStyle = this.best.fill;
    context.fillRect(this.place, y + height - high, 1, high);
    if (alpha < 1) context.globalAlpha = 1;
    if (this.isMatch) {
      context.fillStyle = ink.text;
      context.fillRect(this.place - 0.5, y, 2, 3);
    }
    this.best = null;
    this.isMatch = false;
    this.total = this.most = 0;
    this.busy.clear();
  }
}

function drawLane(scene: Scene, lane: Lane, row: Row): void {
  const { start, end } = scene.span;
  const perPixel = Math.max(end - start, 1) / (scene.width - scene.gutter);
  const column = new Column(scene, lane, row, perPixel);
  const [first, last] = between(row, start, end);
  for (let i = first; i < last; i++) {
    const left = xOf(scene, row.start[i]!);
    const right = xOf(scene, row.end[i]!);
    if (right < scene.gutter) continue;
    if (right - left >= NARROW) {
      column.flush();
      drawBar(scene, lane, row, i, left, right);
    } else {
      column.add(Math.max((left + right) / 2, scene.gutter), row.name[i]!, row.busy[i]!);
    }
  }
  column.flush();
}

function drawMark(scene: Scene, mark: Mark | null, line: number): void {
  const lane = mark && scene.layout.lanes.find(({ id }) => id === mark.lane);
  if (!lane) return;
  const left = Math.max(xOf(scene, mark.start), scene.gutter);
  const right = Math.min(xOf(scene, mark.end), scene.width);
  if (right < scene.gutter || left > scene.width) return;
  scene.context.strokeStyle = scene.ink.text;
  scene.context.lineWidth = line;
  scene.context.strokeRect(left - 1, AXIS + lane.top - scene.scroll, Math.max(right - left, 1) + 1, lane.height);
}

/** The line above a group; right of its name, which times its rows show. */
function drawHeads({ context, layout, ink, width, height, scroll, gutter }: Scene): void {
  for (const { top, group, fold } of layout.heads) {
    const y = AXIS + top - scroll;
    if (y < -40 || y > height) continue;
    context.fillStyle = ink.line;
    context.fillRect(0, y, width, 1);
    if (fold === 'folded' || !group.note) continue;
    context.fillStyle = ink.muted;
    context.fillText(group.note, gutter + 6, y + HEADING / 2);
  }
}

export function draw(scene: Scene): void {
  const { context, ink, width, height } = scene;
  context.fillStyle = ink.panel;
  context.fillRect(0, 0, width, height);
  context.font = `11px ${ink.font}`;
  context.textBaseline = 'middle';
  if (lengthOf(scene.span) > 0) drawGrid(scene);
  drawHeads(scene);
  for (const [lane, row] of scene.rows) {
    if (!row) drawWaiting(scene, lane);
    else if (row.kind === 'counters') drawCurve(scene, lane, row);
    else drawLane(scene, lane, row);
  }
  drawMark(scene, scene.focus, 1.5);
  drawChosen(scene);
  drawMark(scene, scene.pinned, 2);
  drawArrows(scene);
  context.fillStyle = ink.panel;
  context.fillRect(0, AXIS, scene.gutter, height); // names are drawn by the page itself
  drawAxis(scene);
  drawChosenAbove(scene);
}

/** Nothing is known of it yet. */
function drawWaiting({ context, ink, gutter, width, scroll }: Scene, lane: Lane): void {
  context.fillStyle = ink.line;
  context.globalAlpha = 0.35;
  context.fillRect(gutter, AXIS + lane.top - scroll, width - gutter, lane.height);
  context.globalAlpha = 1;
}

function drawChosenAbove(scene: Scene): void {
  if (!scene.chosen) return;
  const { context, gutter, width } = scene;
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, AXIS);
  context.clip();
  drawChosen({ ...scene, height: AXIS });
  context.restore();
}
