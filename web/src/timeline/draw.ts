// Draws the part of a timeline that is seen: bars where items are wide enough, else columns as high as the row is busy.

import { withUnit } from '../format';
import { visible } from '../dom';
import { colorOf, type Ink } from '../theme';
import { shortName } from './describe';
import { HEADING, type Lane, type Layout } from './lanes';
import { between, type Timeline } from './rows';
import { lengthOf, ticks, type Span } from './span';

export const AXIS = 26;
const NARROW = 1.5; // pixels: what is narrower is added up by column
const TEXT_LEAST = 34; // pixels a bar must have to be labelled
const DIMMED = 0.16;
export const IDLE = 0.5; // gaps are paler than work

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly gutter: number; // for labels, left
  readonly scroll: number;
  readonly timeline: Timeline;
  readonly layout: Layout;
  readonly span: Span;
  readonly ink: Ink;
  readonly chosen: string | null; // the highlighted category
  readonly focus: { readonly lane: Lane; readonly item: number } | null;
}

interface Palette {
  readonly fill: string;
  readonly text: string;
}

const palettes = new Map<string, Palette>();

/** Fill and a colour of text that can be read on it. */
function paletteOf(name: string): Palette {
  let palette = palettes.get(name);
  if (!palette) {
    const fill = colorOf(name);
    const part = (at: number): number => parseInt(fill.slice(at, at + 2), 16) / 255;
    const light = 0.2126 * part(1) ** 2.2 + 0.7152 * part(3) ** 2.2 + 0.0722 * part(5) ** 2.2;
    palette = { fill, text: light > 0.3 ? '#14171b' : '#ffffff' };
    palettes.set(name, palette);
  }
  return palette;
}

function xOf(scene: Scene, time: number): number {
  const { start, end } = scene.span;
  return scene.gutter + ((time - start) / Math.max(end - start, 1)) * (scene.width - scene.gutter);
}

/** Cut at its end so that it fits; nothing where hardly any would. */
function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  const wide = context.measureText(text.slice(0, 200)).width;
  if (wide <= width && text.length <= 200) return text;
  const most = Math.floor((Math.min(text.length, 200) * width) / wide) - 1;
  return most < 3 ? '' : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}\u2026`;
}

function colorKey(scene: Scene, lane: Lane, name: number): string {
  return lane.row.kind === 'gaps' ? scene.timeline.names[name]! : (scene.timeline.categories[name] ?? '');
}

function label(scene: Scene, lane: Lane, item: number): string {
  const { row } = lane;
  const name = scene.timeline.names[row.name[item]!]!;
  const several = row.count[item]! > 1 ? `${row.count[item]!} ${row.kind}, ` : '';
  if (row.kind === 'gaps') return `${several}${name} ${withUnit(row.busy[item]!, 'ns')}`;
  return several + visible(row.kind === 'ops' ? shortName(name) : name);
}

function strength(lane: Lane, key: string, chosen: string | null): number {
  if (lane.row.kind === 'gaps') return IDLE;
  return chosen && lane.row.kind === 'ops' && chosen !== key ? DIMMED : 1;
}

function drawBar(scene: Scene, lane: Lane, item: number, left: number, right: number): void {
  const { context, ink, chosen } = scene;
  const { row, top, height } = lane;
  const key = colorKey(scene, lane, row.name[item]!);
  const isRange = row.kind === 'ranges';
  const fill = isRange ? ink.bar : paletteOf(key).fill;
  const textColor = row.kind === 'ops' ? paletteOf(key).text : ink.text;
  const length = row.end[item]! - row.start[item]!;
  const share = row.count[item] === 1 || length <= 0 ? 1 : Math.min(1, row.busy[item]! / length);
  const high = Math.max(3, Math.round(height * share));
  const x = Math.max(left, scene.gutter - 2);
  const width = Math.max(Math.min(right, scene.width + 2) - x - (right - left > 4 ? 1 : 0), 1);
  context.globalAlpha = strength(lane, key, chosen);
  context.fillStyle = fill;
  context.fillRect(x, AXIS + top + height - high - scene.scroll, width, high);
  if (isRange && width > 2) {
    context.fillStyle = ink.accent;
    context.fillRect(x, AXIS + top - scene.scroll, 1, height);
  }
  if (width >= TEXT_LEAST && high > 12) {
    if (row.kind === 'gaps') context.globalAlpha = 1;
    context.fillStyle = textColor;
    const text = fitText(context, label(scene, lane, item), width - 8);
    context.fillText(text, x + 4, AXIS + top + height - high / 2 - scene.scroll);
  }
  context.globalAlpha = 1;
}

/** Adds up what is too narrow to be seen alone: the busy time of one column of pixels, by colour. */
class Column {
  private place = -1;
  private readonly busy = new Map<string, number>();

  constructor(
    private readonly scene: Scene,
    private readonly lane: Lane,
    private readonly perPixel: number,
  ) {}

  add(x: number, key: string, busy: number): void {
    const place = Math.floor(x);
    if (place !== this.place) {
      this.flush();
      this.place = place;
    }
    this.busy.set(key, (this.busy.get(key) ?? 0) + busy);
  }

  flush(): void {
    if (this.busy.size === 0) return;
    let best = '';
    let total = 0;
    for (const [key, busy] of this.busy) {
      total += busy;
      if (best === '' || busy > this.busy.get(best)!) best = key;
    }
    this.busy.clear();
    const { context, ink, chosen, scroll } = this.scene;
    const { row, top, height } = this.lane;
    const high = Math.max(3, Math.round(height * Math.min(1, total / this.perPixel)));
    context.globalAlpha = strength(this.lane, best, chosen);
    context.fillStyle = row.kind === 'ranges' ? ink.bar : paletteOf(best).fill;
    context.fillRect(this.place, AXIS + top + height - high - scroll, 1, high);
    context.globalAlpha = 1;
  }
}

function drawLane(scene: Scene, lane: Lane): void {
  const { row } = lane;
  const { start, end } = scene.span;
  const perPixel = Math.max(end - start, 1) / (scene.width - scene.gutter);
  const column = new Column(scene, lane, perPixel);
  const [first, last] = between(row, start, end);
  for (let i = first; i < last; i++) {
    const left = xOf(scene, row.start[i]!);
    const right = xOf(scene, row.end[i]!);
    if (right < scene.gutter) continue;
    if (right - left >= NARROW) {
      column.flush();
      drawBar(scene, lane, i, left, right);
    } else {
      column.add(Math.max((left + right) / 2, scene.gutter), colorKey(scene, lane, row.name[i]!), row.busy[i]!);
    }
  }
  column.flush();
}

function drawFocus(scene: Scene): void {
  if (!scene.focus) return;
  const { lane, item } = scene.focus;
  const left = Math.max(xOf(scene, lane.row.start[item]!), scene.gutter);
  const right = Math.min(xOf(scene, lane.row.end[item]!), scene.width);
  if (right < scene.gutter || left > scene.width) return;
  scene.context.strokeStyle = scene.ink.text;
  scene.context.lineWidth = 2;
  scene.context.strokeRect(left - 1, AXIS + lane.top - scene.scroll, Math.max(right - left, 1) + 1, lane.height);
}

function drawLabels(scene: Scene): void {
  const { context, ink, scroll, gutter } = scene;
  context.fillStyle = ink.panel;
  context.fillRect(0, AXIS, gutter, scene.height);
  for (const lane of scene.layout.lanes) {
    context.fillStyle = ink.muted;
    context.fillText(fitText(context, lane.label, gutter - 8), 4, AXIS + lane.top + lane.height / 2 - scroll);
  }
  context.font = `600 12px ${ink.font}`;
  for (const heading of scene.layout.headings) {
    context.fillStyle = ink.text;
    context.fillText(heading.label, 4, AXIS + heading.top + HEADING / 2 - scroll);
  }
  context.font = `11px ${ink.font}`;
}

function ticksOf(scene: Scene): ReturnType<typeof ticks> {
  return ticks(scene.span, (scene.width - scene.gutter) / (scene.width < 600 ? 70 : 110));
}

function drawAxis(scene: Scene): void {
  const { context, ink, width, gutter } = scene;
  const { step, times } = ticksOf(scene);
  context.fillStyle = ink.panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = ink.muted;
  for (const time of times) {
    const x = xOf(scene, time);
    const text = tickText(time, step);
    if (x + text.length * 6 < width) context.fillText(text, x + 4, AXIS / 2);
    context.fillRect(Math.round(x), AXIS - 8, 1, 8);
  }
  context.fillStyle = ink.line;
  context.fillRect(gutter, AXIS - 1, width - gutter, 1);
}

/** A time with as many decimals as needed to distinguish neighbouring ticks. */
export function tickText(time: number, step: number): string {
  const [factor, name] =
    time >= 1e9 ? [1e9, 's'] : time >= 1e6 ? [1e6, 'ms'] : time >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(Math.log10(factor / Math.max(step, 1)) - 1e-9));
  return time === 0 ? '0' : `${(time / factor).toFixed(decimals)} ${name}`;
}

function drawGrid(scene: Scene): void {
  scene.context.fillStyle = scene.ink.line;
  for (const time of ticksOf(scene).times) {
    scene.context.fillRect(Math.round(xOf(scene, time)), AXIS, 1, scene.height);
  }
}

export function draw(scene: Scene): void {
  const { context, ink, width, height, scroll, layout } = scene;
  context.fillStyle = ink.panel;
  context.fillRect(0, 0, width, height);
  context.font = `11px ${ink.font}`;
  context.textBaseline = 'middle';
  if (lengthOf(scene.span) > 0) drawGrid(scene);
  for (const lane of layout.lanes) {
    if (lane.top + lane.height >= scroll && lane.top <= scroll + height) drawLane(scene, lane);
  }
  drawFocus(scene);
  drawLabels(scene);
  drawAxis(scene);
}
