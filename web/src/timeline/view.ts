// One timeline: a drawing that zooms and pans over the tiles of an input, with the names of its rows and a tooltip.

import { element } from '../dom';
import { ink, onTheme } from '../theme';
import { arrowsOf, type Arrow } from './arrows';
import { AXIS } from './axis';
import { describeMark } from './describe';
import { draw, type Mark } from './draw';
import { listen, type Actions } from './gestures';
import { Gutter } from './gutter';
import { arrange, groupsOf, laneAt, type Fold, type Group, type Lane, type Layout } from './lanes';
import { Palettes, Ruler } from './palette';
import { itemNear, search, type Row, type Timeline } from './rows';
import { fit, lengthOf, pan, zoom, type Span } from './span';
import type { Link } from '../explore/source';
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
  readonly root: HTMLElement;
  readonly groups: readonly Group[];
  readonly whole: Span;
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
  private frame = 0;
  private motion = 0;
  private hiding = 0;
  private palettes: Palettes | null = null;
  private ruler: Ruler | null = null;
  private laid = ''; // what the gutter shows

  private readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  private readonly spacer: HTMLElement;
  readonly port: HTMLElement;
  private readonly gutter: Gutter;
  private readonly tip = element('div', { class: 'explorer-tip', hidden: true, role: 'tooltip' });
  private readonly hint = element('p', { class: 'timeline-hint', 'aria-hidden': 'true' });

  constructor(
    readonly timeline: Timeline,
    readonly tiles: Tiles,
    private readonly meanings: ReadonlyMap<string, string>,
    label: string,
    private readonly hooks: Hooks,
  ) {
    this.groups = groupsOf(timeline);
    this.layout = arrange(this.groups, this.folds);
    this.whole = { start: timeline.start_ns, end: Math.max(timeline.end_ns, timeline.start_ns + 1) };
    this.span = this.aim = this.whole;
    this.gutter = new Gutter({ fold: (group, to) => this.fold(group, to) });
    const corner = element('div', { class: 'timeline-corner', 'aria-hidden': 'true' });
    this.spacer = element('div', { class: 'timeline-spacer' }, corner, this.canvas, this.gutter.root);
    this.port = element(
      'div',
      {
        class: 'timeline-port',
        tabindex: 0,
        role: 'application',
        'aria-label': label,
        'aria-roledescription': 'timeline',
        'aria-keyshortcuts': 'w a s d f m n 0 / ?',
      },
      this.spacer,
    );
    this.root = element('div', { class: 'timeline-frame' }, this.port, this.tip, this.hint);
    listen(this.port, this.canvas, this);
    this.port.addEventListener('scroll', () => {
      this.hideTip();
      this.redraw();
    });
    new ResizeObserver(() => this.redraw()).observe(this.port);
    onTheme(() => {
      this.palettes = this.ruler = null;
      this.redraw();
    });
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
    this.hideTip();
    this.show(pan(this.span, -pixels / this.room(), this.whole), false);
  }

  scroll(pixels: number): void {
    this.port.scrollTop += pixels;
  }

  fit(): void {
    this.show(this.whole, true);
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
    this.hint.textContent = 'Hold Ctrl to zoom with the wheel';
    this.hint.style.top = `${y + 16}px`;
    this.hint.classList.add('is-shown');
    clearTimeout(this.hiding);
    this.hiding = window.setTimeout(() => this.hint.classList.remove('is-shown'), 1200);
  }

  // ---- what the page asks for ----

  /** Goes to a part, with something around it. */
  look(part: Span): void {
    this.show(this.around(part), true);
  }

  /** Goes to a span itself. */
  goTo(span: Span): void {
    this.show(fit(span, this.whole), false);
  }

  pin(mark: Mark | null): void {
    this.pinned = mark;
    this.arrows = [];
    if (mark) this.hooks.say(this.words(mark, 0).join(', '));
    this.redraw();
    this.hooks.pinned(mark);
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

  /** The lanes that are seen now. */
  seen(): readonly Lane[] {
    const top = this.port.scrollTop;
    const bottom = top + this.port.clientHeight - AXIS;
    return this.layout.lanes.filter((lane) => lane.top + lane.height >= top && lane.top <= bottom);
  }

  room(): number {
    return Math.max(this.port.clientWidth - this.gutterWidth(), 1);
  }

  redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  /** Whether all that is seen is as fine as it can be, and drawn. */
  get isSettled(): boolean {
    return (
      this.frame === 0 &&
      this.span.start === this.aim.start &&
      this.span.end === this.aim.end &&
      !this.tiles.isBusy &&
      this.seen().every((lane) => this.tiles.isExact(lane.id, this.span, this.room()))
    );
  }

  // ---- places ----

  gutterWidth(): number {
    const width = this.port.clientWidth;
    return width < 600 ? 92 : width < 1600 ? 168 : 220;
  }

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
    return fit({ start: start - margin, end: end + margin }, this.whole);
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

  private scrollTo(mark: Pick<Mark, 'lane'>): void {
    const lane = this.laneOf(mark);
    if (!lane) return;
    const low = lane.top + lane.height + AXIS - this.port.clientHeight;
    this.port.scrollTop = Math.min(Math.max(this.port.scrollTop, low), lane.top);
  }

  private setFocus(focus: (Mark & { readonly others: number }) | null, x = 0, y = 0): void {
    this.focus = focus;
    this.redraw();
    if (!focus) return this.hideTip();
    this.tip.replaceChildren(...this.words(focus, focus.others).map((line) => element('p', {}, line)));
    this.tip.hidden = false;
    const lane = this.laneOf(focus);
    const box = this.port.getBoundingClientRect();
    const below = box.top + AXIS + (lane ? lane.top + lane.height - this.port.scrollTop : y) + 10;
    const left = Math.min(box.left + x + 12, innerWidth - this.tip.offsetWidth - 8);
    const isHigh = below + this.tip.offsetHeight > innerHeight - 8;
    const top = isHigh ? box.top + y - this.tip.offsetHeight - 14 : below;
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${Math.max(8, top)}px`;
  }

  private hideTip(): void {
    this.tip.hidden = true;
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
        this.hideTip();
        this.hooks.moved();
      }
    };
    go();
  }

  private resize(width: number, height: number): CanvasRenderingContext2D | null {
    const context = this.canvas.getContext('2d');
    const scale = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    context?.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
  }

  private showGutter(): void {
    const width = this.gutterWidth();
    const key = `${width}:${this.groups.map(({ id, standard }) => this.folds.get(id) ?? standard).join()}`;
    if (key === this.laid) return;
    this.laid = key;
    this.spacer.style.height = `${this.layout.height + AXIS}px`;
    this.port.style.setProperty('--gutter', `${width}px`);
    this.gutter.show(this.layout, width);
  }

  private paint(): void {
    this.frame = 0;
    const width = this.port.clientWidth;
    const height = this.port.clientHeight;
    if (width === 0) return;
    this.showGutter();
    const context = this.resize(width, height);
    if (!context) return;
    const colors = ink();
    this.palettes ??= new Palettes(this.tiles.catalog, colors);
    this.ruler ??= new Ruler(context, `11px ${colors.font}`);
    const seen = this.seen();
    this.tiles.want(
      this.aim,
      this.room(),
      seen.map(({ id }) => id),
    );
    draw({
      context,
      width,
      height,
      gutter: this.gutterWidth(),
      scroll: this.port.scrollTop,
      layout: this.layout,
      rows: new Map(seen.map((lane) => [lane, this.rowOf(lane)])),
      catalog: this.tiles.catalog,
      palettes: this.palettes,
      ruler: this.ruler,
      span: this.span,
      ink: colors,
      category: this.category,
      isMatch: this.isMatch,
      focus: this.focus,
      pinned: this.pinned,
      chosen: this.chosen,
      arrows: this.arrows,
    });
    this.port.dataset.start = String(this.span.start);
    this.port.dataset.end = String(this.span.end);
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
