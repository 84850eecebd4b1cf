// Draws blocks of cells: shades of a value in even columns, or bars of parts on a time axis.

import { label } from '../chart';
import { roundValue, withUnit } from '../format';
import { fit, TEXT_PIXELS, textWidth } from '../room';
import { inkOn, type Ink } from '../theme';
import { ticks } from '../timeline/span';
import type { Block, Blocks, Cells, Measure, Shown } from './blocks';

export const AXIS = 40; // pixels below the rows
const GAP = 8;
const TEXT_LEAST = 16; // pixels that a row must have for text in it

export interface Scale {
  readonly most: number;
  readonly middle: number; // the value with half of the shade
  readonly colorOf: (value: number) => string;
}

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly cells: Cells;
  readonly measure: Measure;
  readonly shown: Shown;
  readonly blocks: Blocks;
  readonly ink: Ink;
  readonly width: number;
  readonly gutter: number; // for names, left
  readonly rowHeight: number;
  readonly span: { readonly start: number; readonly end: number }; // of the time axis
}

/** Between two colours of six digits. */
function mix(from: string, to: string, share: number): string {
  const at = (color: string, place: number): number => parseInt(color.slice(place, place + 2), 16);
  const hex = (place: number): string =>
    Math.round(at(from, place) + (at(to, place) - at(from, place)) * share)
      .toString(16)
      .padStart(2, '0');
  return `#${hex(1)}${hex(3)}${hex(5)}`;
}

const WIDE = 1000; // what is this much smaller than the largest is hardly seen

export function scaleOf(cells: Cells, measure: Measure, ink: Ink): Scale {
  let most = 0;
  for (let cell = 0; cell < cells.row.length; cell++) most = Math.max(most, Math.abs(measure.values[cell]!));
  const least = mix(ink.panel, ink.line, 0.5);
  const shade = (value: number): number => {
    const share = Math.min(Math.abs(value) / (most || 1), 1);
    return measure.isWide ? Math.log1p(WIDE * share) / Math.log1p(WIDE) : share;
  };
  return {
    most,
    middle: measure.isWide ? (most * Math.expm1(Math.log1p(WIDE) / 2)) / WIDE : most / 2,
    colorOf: (value) => mix(least, value < 0 ? ink.accent : ink.high, shade(value)),
  };
}

export function placeOf(scene: Scene, block: Block, row: number, column: number): Place {
  const room = scene.width - scene.gutter;
  const y = row * scene.rowHeight;
  const inset = scene.rowHeight > 6 ? 1 : 0;
  const height = scene.rowHeight - inset;
  if (!scene.cells.bars) {
    const each = room / scene.blocks.columnCount;
    return { x: scene.gutter + column * each, y, width: Math.max(each - (each > 6 ? 1 : 0), 1), height };
  }
  const { start, end } = scene.span;
  const scale = room / Math.max(end - start, 1);
  const x = scene.gutter + (block.start - start) * scale;
  return { x, y, width: Math.max((block.end - block.start) * scale, 1), height };
}

export function eachBlock(scene: Scene, visit: (block: Block, row: number, column: number) => void): void {
  const { columnCount, at } = scene.blocks;
  for (const [place, block] of at) visit(block, Math.floor(place / columnCount), place % columnCount);
}

/** The parts of a bar side by side, as long as the steps that they are of; time between these is left out. */
function paintBar(scene: Scene, block: Block, place: Place): void {
  const { parts } = scene.cells.bars!;
  const sum = block.parts.reduce((total, value) => total + value, 0);
  const edge = place.width > 6 ? 1 : 0;
  let { x } = place;
  parts.forEach(({ color }, part) => {
    const width = sum ? (block.parts[part]! / sum) * (place.width - edge) : 0;
    scene.context.fillStyle = color;
    scene.context.fillRect(x, place.y, width, place.height);
    x += width;
  });
}

/** Values are written into the cells if all of them have room. */
function hasTexts(scene: Scene): boolean {
  const room = (scene.width - scene.gutter) / scene.blocks.columnCount - 6;
  if (scene.cells.bars || scene.rowHeight < TEXT_LEAST || room < TEXT_LEAST) return false;
  return [...scene.blocks.at.values()].every(({ value }) => textWidth(withUnit(value, scene.measure.unit)) <= room);
}

function paintShade(scene: Scene, block: Block, place: Place, scale: Scale, isWritten: boolean): void {
  const { context, measure } = scene;
  const color = scale.colorOf(block.value);
  context.fillStyle = color;
  context.fillRect(place.x, place.y, place.width, place.height);
  if (!isWritten) return;
  context.fillStyle = inkOn(color);
  context.textAlign = 'center';
  context.fillText(withUnit(block.value, measure.unit), place.x + place.width / 2, place.y + place.height / 2 + 1);
}

/** `4`, or `4-7` where a block has several. */
export function spanOf(names: readonly string[], from: number, to: number): string {
  const first = names[from] ?? '';
  return to - from > 1 ? `${first}\u2013${names[to - 1] ?? ''}` : first;
}

function rowName(scene: Scene, row: number): string {
  const from = scene.shown.rows[0] + row * scene.blocks.rowsEach;
  return spanOf(scene.cells.rowNames, from, Math.min(from + scene.blocks.rowsEach, scene.shown.rows[1]));
}

function columnName(scene: Scene, column: number): string {
  const from = scene.shown.columns[0] + column * scene.blocks.columnsEach;
  return spanOf(scene.cells.columnNames, from, Math.min(from + scene.blocks.columnsEach, scene.shown.columns[1]));
}

/** What the names of rows need at their left, at most a third of the drawing. */
export function gutterOf(cells: Cells, shown: Shown, rowsEach: number, width: number): number {
  let longest = textWidth(cells.rowWord);
  for (let row = shown.rows[0]; row < shown.rows[1]; row += rowsEach)
    longest = Math.max(longest, textWidth(label(spanOf(cells.rowNames, row, Math.min(row + rowsEach, shown.rows[1])))));
  return Math.ceil(Math.min(longest, width / 3)) + GAP;
}

function paintRowNames(scene: Scene, bottom: number): void {
  const { context } = scene;
  const every = Math.max(1, Math.ceil((TEXT_PIXELS + 2) / scene.rowHeight));
  context.textAlign = 'right';
  context.fillStyle = scene.ink.text;
  for (let row = 0; row < scene.blocks.rowCount; row += every) {
    const name = fit(label(rowName(scene, row)), scene.gutter - GAP);
    const y = every > 1 ? row * scene.rowHeight + TEXT_PIXELS / 2 : (row + 0.5) * scene.rowHeight;
    context.fillText(name, scene.gutter - GAP, y + 1);
  }
  context.fillStyle = scene.ink.muted;
  context.fillText(fit(scene.cells.rowWord, scene.gutter - GAP), scene.gutter - GAP, bottom + 12);
}

/** Names at their places from left to right, as many as have room. */
function paintNames(scene: Scene, names: readonly (readonly [text: string, x: number])[], bottom: number): void {
  const { context, width } = scene;
  let free = scene.gutter;
  context.textAlign = 'center';
  context.fillStyle = scene.ink.muted;
  for (const [text, x] of names) {
    const half = textWidth(text) / 2;
    const at = Math.min(Math.max(x, scene.gutter + half), width - half);
    if (at - half < free) continue;
    context.fillText(text, at, bottom + 12);
    free = at + half + 2 * GAP;
  }
}

/** A round number of columns between two names, so that these have room. */
function namedEvery(scene: Scene): number {
  const { columnCount } = scene.blocks;
  const longest = Math.max(
    ...[0, columnCount - 1].map((column) => textWidth(fit(label(columnName(scene, column)), 120))),
  );
  const needed = ((longest + 2 * GAP) * columnCount) / Math.max(scene.width - scene.gutter, 1);
  return [1, 2, 5, 10, 20, 50, 100, 200, 500].find((every) => every >= needed) ?? columnCount;
}

function columnNames(scene: Scene, room: number): [string, number][] {
  const { columnCount } = scene.blocks;
  const names: [string, number][] = [];
  for (let column = 0; column < columnCount; column += namedEvery(scene))
    names.push([fit(label(columnName(scene, column)), 120), scene.gutter + ((column + 0.5) / columnCount) * room]);
  return names;
}

function timeNames(scene: Scene, room: number): [string, number][] {
  const { start, end } = scene.span;
  const { times } = ticks(scene.span, Math.max(2, room / 110));
  return times.map((time) => [
    roundValue(time, 'ns'),
    scene.gutter + ((time - start) / Math.max(end - start, 1)) * room,
  ]);
}

function paintColumns(scene: Scene, bottom: number): void {
  const { context } = scene;
  const room = scene.width - scene.gutter;
  const isTime = scene.cells.bars !== undefined;
  const names = isTime ? timeNames(scene, room) : columnNames(scene, room);
  context.fillStyle = scene.ink.line;
  for (const [, x] of names) if (isTime) context.fillRect(Math.round(x), 0, 1, bottom);
  paintNames(scene, names, bottom);
  const axis = isTime ? 'since the first GPU op, on aligned clocks' : scene.cells.columnWord;
  context.fillText(fit(axis, room), scene.gutter + room / 2, bottom + 29);
}

export function paint(scene: Scene, scale: Scale, marked: number | null): void {
  const { context, ink, blocks } = scene;
  const bottom = blocks.rowCount * scene.rowHeight;
  context.fillStyle = ink.panel;
  context.fillRect(0, 0, scene.width, bottom + AXIS);
  context.font = `${TEXT_PIXELS}px ${ink.font}`;
  context.textBaseline = 'middle';
  paintColumns(scene, bottom);
  const isWritten = hasTexts(scene);
  eachBlock(scene, (block, row, column) => {
    const place = placeOf(scene, block, row, column);
    if (scene.cells.bars) paintBar(scene, block, place);
    else paintShade(scene, block, place, scale, isWritten);
  });
  paintRowNames(scene, bottom);
  const focused = marked === null ? undefined : blocks.at.get(marked);
  if (!focused) return;
  const { x, y, width, height } = placeOf(
    scene,
    focused,
    Math.floor(marked! / blocks.columnCount),
    marked! % blocks.columnCount,
  );
  context.strokeStyle = ink.text;
  context.lineWidth = 2;
  context.strokeRect(x, y, width, height);
}
