// One timeline: a drawing that zooms and pans over the tiles of an input, with the names of its rows and a tooltip.

import type { Link } from '../explore/source';
import { arrowsOf, type Arrow } from './arrows';
import { AXIS } from './axis';
import { describeMark } from './describe';
import type { Mark } from './draw';
import { listen, type Actions } from './gestures';
import { arrange, groupsOf, laneAt, type Fold, type Group, type Lane, type Layout } from './lanes';
import { extentOf, itemNear, search, type Row, type Timeline } from './rows';
import { fit, lengthOf, pan, zoom, type Span } from './span';
import { Stage } from './stage';
import type { Tiles } from './tiles';

const NEAR = 3; // pixels between the pointer and an item it means
const MOVE_MS = 140;

const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** What others are told. */
export interface Hooks {
  moved(): void; // the view has come to rest elsewhere
  pinned(mark: Mark | null): void;
  chosen(span: Span | null): void;
  folded(): void;
  say(text: string): void;
  find(step: number): void;
  openSearch(): void;
  openHelp(): void;
}

export class TimelineView implements Actions {
  readonly groups: readonly Group[];
  readonly whole: Span; // all there is
  readonly home: Span; // from the first op to the last
  layout: Layout;
  span: Span; // that is drawn
  pinned: Mark | null = null;
  chosen: Span | null = null;
  readonly folds = new Map<string, Fold>();
  private aim: Span; // that a move goes to, which the next one starts from however quickly it comes
  private focus: Mark | null = null;
  arrows: readonly Arrow[] = [];
  private category: string | null = null;
  private isMatch: ((name: number) => boolean) | null = null;
  private motion = 0;
  private readonly stage: Stage;

  constructor(
    readonly timeline: Timeline,
    readonly tiles: Tiles,
    private readonly meanings: ReadonlyMap<string, string>,
    label: string,
    private readonly hooks: Hooks,
  ) {
    this.groups = groupsOf(timeline);
    this.layout = arrange(this.groups, this.folds);
    this.whole = extentOf(timeline);
    this.home = { start: timeline.start_ns, end: Math.max(timeline.end_ns, timeline.start_ns + 1) };
    this.span = this.aim = this.home;
    const actions = { fold: (group: Group, to: Fold): void => this.fold(group, to) };
    this.stage = new Stage(label, tiles.catalog, actions, () => this.paint());
    listen(this.stage.port, this.stage.canvas, this);
  }

  get root(): HTMLElement {
    return this.stage.root;
  }

  get port(): HTMLElement {
    return this.stage.port;
  }

  // ---- what the hands ask for ----

  zoom(factor: number, x: number | null, smooth: boolean): void {
    const from = smooth ? this.aim : this.span;
    const at = x === null ? this.zoomCenter(from) : this.timeAt(Math.max(x, this.gutterWidth()));
    this.show(zoom(from, factor, at, this.whole), smooth);
  }

  pan(share: number, smooth: boolean): void {
    const from = smooth ? this.aim : this.span;
    const far = this.whole.end - this.whole.start;
    const step = Number.isFinite(share) ? share : (Math.sign(share) * far) / Math.max(lengthOf(from), 1);
    this.show(pan(from, step, this.whole), smooth);
  }

  drag(pixels: number): void {
    this.stage.hideTip();
    this.show(pan(this.span, -pixels / this.room(), this.whole), false);
  }

  scroll(pixels: number): void {
    this.port.scrollTop += pixels;
  }

  /** The ops from the first to the last; again: all there is. */
  fit(): void {
    const { start, end } = this.home;
    this.show(this.aim.start === start && this.aim.end === end ? this.whole : this.home, true);
  }

  focusItem(): void {
    const mark = this.pinned;
    const target = mark && this.around(mark);
    const isThere =
      target && Math.abs(target.start - this.aim.start) + Math.abs(target.end - this.aim.end) < lengthOf(target) * 0.02;
    if (!target || isThere) this.fit();
    else this.show(target, true);
  }

  point(x: number, y: number): void {
    const found = this.markAt(x, y);
    this.port.classList.toggle('is-axis', this.isAxis(x, y));
    this.setFocus(found, x, y);
  }

  choose(x: number, y: number): void {
    if (x >= this.gutterWidth()) this.pin(this.markAt(x, y));
    this.port.focus({ preventScroll: true });
  }

  enter(x: number, y: number): void {
    const found = this.markAt(x, y);
    if (found) this.look(found);
  }

  leave(): void {
    this.setFocus(null);
  }

  /** One thing at a time: the pinned item, then the chosen part. */
  release(): void {
    if (this.pinned) this.pin(null);
    else if (this.chosen) this.setChosen(null);
    this.setFocus(null);
  }

  step(items: number): void {
    const lane = this.laneOf(this.pinned) ?? this.firstLane();
    const row = lane && this.rowOf(lane);
    if (!lane || !row || row.items === 0) return;
    const at = this.pinned?.lane === lane.id ? indexOf(row, this.pinned) + items : this.firstItem(row);
    this.hold(lane, row, Math.min(Math.max(at, 0), row.items - 1));
  }

  move(lanes: number): void {
    const all = this.layout.lanes.filter((lane) => lane.packed.kind !== 'counters');
    const current = this.laneOf(this.pinned);
    let at = current ? all.indexOf(current) + lanes : all.indexOf(this.firstLane()!);
    for (; at >= 0 && at < all.length; at += lanes) {
      const row = this.rowOf(all[at]!);
      if (row && row.items > 0) return this.hold(all[at]!, row, this.firstItem(row));
    }
  }

  isAxis(x: number, y: number): boolean {
    return y < AXIS && x >= this.gutterWidth();
  }

  select(fromX: number, toX: number, isDone: boolean): void {
    const edge = this.gutterWidth();
    const times = [fromX, toX].map((x) => this.timeAt(Math.min(Math.max(x, edge), this.port.clientWidth)));
    const start = Math.round(Math.min(...times));
    this.chosen = { start, end: Math.max(Math.round(Math.max(...times)), start + 1) };
    this.redraw();
    if (isDone) this.hooks.chosen(this.chosen);
  }

  markItem(): void {
    if (this.pinned) this.setChosen({ start: this.pinned.start, end: this.pinned.end });
  }

  find(step: number): void {
    this.hooks.find(step);
  }

  openSearch(): void {
    this.hooks.openSearch();
  }

  openHelp(): void {
    this.hooks.openHelp();
  }

  refuseWheel(y: number): void {
    this.stage.showHint('Hold Ctrl to zoom with the wheel', y);
  }

  // ---- what the page asks for ----

  /** Goes to a part, with something around it. */
  look(part: Span): void {
    this.show(this.around(part, 0.05), true);
  }

  /** Goes to a span itself. */
  goTo(span: Span): void {
    this.show(fit(span, this.whole), false);
  }

  pin(mark: Mark | null): void {
    this.pinned = mark;
    this.arrows = [];
    if (mark && this.isNamed(mark)) this.hooks.say(this.words(mark, 0).join(', '));
    this.redraw();
    this.hooks.pinned(mark);
  }

  /** Gives the pinned item its name, where that was not known: a link came before its tile. */
  nameIt(mark: Mark, name: string): Mark {
    if (this.pinned !== mark || this.tiles.catalog.names[mark.name] !== '') return mark;
    this.pinned = { ...mark, name: this.tiles.catalog.add(name, null) };
    this.hooks.say(this.words(this.pinned, 0).join(', '));
    return this.pinned;
  }

  private isNamed(mark: Mark): boolean {
    return mark.high !== undefined || this.tiles.catalog.names[mark.name] !== '';
  }

  setLinks(mark: Mark, links: readonly Link[]): void {
    if (this.pinned !== mark) return;
    this.arrows = arrowsOf(mark, links);
    this.redraw();
  }

  setChosen(span: Span | null): void {
    this.chosen = span;
    this.redraw();
    this.hooks.chosen(span);
  }

  setCategory(category: string | null): void {
    this.category = category;
    this.redraw();
  }

  /** Marks the items whose names contain a text in lower case. */
  setSearch(text: string): void {
    const known: boolean[] = [];
    const { catalog } = this.tiles;
    this.isMatch = text === '' ? null : (name) => (known[name] ??= catalog.has(name, text));
    this.redraw();
  }

  fold(group: Group, to: Fold): void {
    if (to === group.standard) this.folds.delete(group.id);
    else this.folds.set(group.id, to);
    this.refold();
    this.hooks.folded();
  }

  setFolds(folds: ReadonlyMap<string, Fold>): void {
    this.folds.clear();
    for (const [id, fold] of folds) this.folds.set(id, fold);
    this.refold();
  }

  /** Opens the group of a lane if need be, scrolls to it, and goes to the item. */
  reveal(mark: Mark): void {
    if (!this.laneOf(mark)) {
      const group = this.groups.find(({ rows }) => rows.some((row) => row.lane === mark.lane));
      if (!group) return;
      this.fold(group, group.few.some((row) => row.lane === mark.lane) ? 'some' : 'all');
    }
    this.scrollTo(mark);
    const isSeen = mark.start >= this.aim.start && mark.end <= this.aim.end;
    const pixels = ((mark.end - mark.start) / lengthOf(this.aim)) * this.room();
    if (!isSeen || pixels < 6) this.show(this.around(mark, 12), true);
  }

  words(mark: Mark, others: number): readonly string[] {
    const lane = this.laneOf(mark);
    return describeMark(this.tiles.catalog, lane, mark, others, this.meanings);
  }

  laneOf(mark: Pick<Mark, 'lane'> | null): Lane | undefined {
    return mark ? this.layout.lanes.find(({ id }) => id === mark.lane) : undefined;
  }

  rowOf(lane: Lane): Row | null {
    return this.tiles.row(lane.id, this.span, this.room());
  }

  seen(): readonly Lane[] {
    return this.stage.seen(this.layout);
  }

  room(): number {
    return this.stage.room();
  }

  gutterWidth(): number {
    return this.stage.gutterWidth();
  }

  redraw(): void {
    this.stage.redraw();
  }

  /** Whether all that is seen is as fine as it can be, and drawn. */
  get isSettled(): boolean {
    return (
      this.stage.isDrawn &&
      this.span.start === this.aim.start &&
      this.span.end === this.aim.end &&
      !this.tiles.isBusy &&
      this.seen().every((lane) => this.tiles.isExact(lane.id, this.span, this.room()))
    );
  }

  // ---- places ----

  private timeAt(x: number): number {
    return this.span.start + ((x - this.gutterWidth()) / this.room()) * lengthOf(this.span);
  }

  /** Where a lane begins in the drawing. */
  yOf(lane: Lane): number {
    return AXIS + lane.top - this.port.scrollTop;
  }

  private zoomCenter(from: Span): number {
    const { pinned } = this;
    const middle = pinned ? (pinned.start + pinned.end) / 2 : NaN;
    return middle >= from.start && middle <= from.end ? middle : (from.start + from.end) / 2;
  }

  private around({ start, end }: Span, factor = 0.4): Span {
    const margin = Math.max(end - start, 1) * factor;
    const { whole } = this;
    return fit({ start: Math.max(start - margin, whole.start), end: Math.min(end + margin, whole.end) }, whole);
  }

  private markAt(x: number, y: number): (Mark & { readonly others: number }) | null {
    const lane = y < AXIS || x < this.gutterWidth() ? null : laneAt(this.layout, y - AXIS + this.port.scrollTop);
    const row = lane && this.rowOf(lane);
    const tolerance = row?.kind === 'counters' ? 0 : (NEAR * lengthOf(this.span)) / this.room();
    const near = row && itemNear(row, this.timeAt(x), tolerance);
    return near && { ...markOf(lane!, row, near.item), others: near.others };
  }

  private firstLane(): Lane | undefined {
    const of = (lanes: readonly Lane[]): Lane | undefined => lanes.find((lane) => lane.packed.kind === 'ops');
    return of(this.seen()) ?? of(this.layout.lanes) ?? this.layout.lanes[0];
  }

  /** The first that is seen, or the last before. */
  private firstItem(row: Row): number {
    const at = this.pinned?.start ?? this.span.start;
    return Math.min(search(row.start, at), row.items - 1);
  }

  // ---- showing ----

  private hold(lane: Lane, row: Row, item: number): void {
    const mark = markOf(lane, row, item);
    if (mark.end < this.span.start || mark.start > this.span.end) {
      const half = lengthOf(this.span) / 2;
      const middle = (mark.start + mark.end) / 2;
      this.show(fit({ start: middle - half, end: middle + half }, this.whole), false);
    }
    this.scrollTo(mark);
    this.pin(mark);
  }

  scrollTo(mark: Pick<Mark, 'lane'>): void {
    const lane = this.laneOf(mark);
    if (lane) this.stage.scrollTo(lane, this.layout);
  }

  private setFocus(focus: (Mark & { readonly others: number }) | null, x = 0, y = 0): void {
    this.focus = focus;
    this.redraw();
    if (focus) this.stage.showTip(this.words(focus, focus.others), this.laneOf(focus), x, y);
    else this.stage.hideTip();
  }

  private refold(): void {
    this.layout = arrange(this.groups, this.folds);
    this.redraw();
  }

  /** Goes to another part, at once or in a short move. */
  private show(to: Span, smooth: boolean): void {
    cancelAnimationFrame(this.motion);
    this.aim = to;
    const from = this.span;
    const began = performance.now();
    const go = (): void => {
      const done = smooth && !calm.matches ? Math.min(1, (performance.now() - began) / MOVE_MS) : 1;
      const ease = done * (2 - done);
      const mix = (a: number, b: number): number => (done === 1 ? b : a + (b - a) * ease);
      this.span = { start: mix(from.start, to.start), end: mix(from.end, to.end) };
      this.redraw();
      if (done < 1) this.motion = requestAnimationFrame(go);
      else {
        this.stage.hideTip();
        this.hooks.moved();
      }
    };
    go();
  }

  private paint(): void {
    const seen = this.seen();
    this.tiles.want(
      this.aim,
      this.room(),
      seen.map(({ id }) => id),
    );
    this.stage.draw({
      layout: this.layout,
      rows: new Map(seen.map((lane) => [lane, this.rowOf(lane)])),
      span: this.span,
      category: this.category,
      isMatch: this.isMatch,
      focus: this.focus,
      pinned: this.pinned,
      chosen: this.chosen,
      arrows: this.arrows,
    });
  }
}

export function markOf(lane: Pick<Lane, 'id'>, row: Row, item: number): Mark {
  return {
    lane: lane.id,
    start: row.start[item]!,
    end: row.end[item]!,
    name: row.name[item]!,
    count: row.count[item]!,
    busy: row.busy[item]!,
    ...(row.high ? { high: row.high[item]! } : {}),
  };
}

/** Where an item is in a row; where it would be if it is not there. */
function indexOf(row: Row, mark: Mark): number {
  let at = search(row.start, mark.start);
  while (
    at + 1 < row.items &&
    row.start[at] === mark.start &&
    row.end[at] !== mark.end &&
    row.start[at + 1] === mark.start
  )
    at++;
  return at;
}
