// One timeline on the page: a drawing that zooms and pans, a tooltip, and hints.

import type { Report } from '../data';
import { button, copy, element } from '../dom';
import { decimal, withUnit } from '../format';
import { ink, onTheme } from '../theme';
import { causeMeanings, commandFor, countHidden, describeItem, summarise } from './describe';
import { AXIS, draw, tickText } from './draw';
import { listen, type Actions } from './gestures';
import { arrange, laneAt, type Lane, type Layout } from './lanes';
import { legendView, rowsView } from './parts';
import { itemNear, search, type Timeline } from './rows';
import { fit, lengthOf, pan, zoom, type Span } from './span';

const TALLEST = 560; // pixels: what is higher scrolls
const BORDERS = 2;
const NEAR = 3; // pixels between the pointer and an item it means
const MOVE_MS = 140;

interface Focus {
  readonly lane: Lane;
  readonly item: number;
  readonly others: number;
}

const calm = matchMedia('(prefers-reduced-motion: reduce)');

export class TimelineView implements Actions {
  readonly root: HTMLElement;
  private readonly layout: Layout;
  private readonly whole: Span;
  private span: Span; // that is drawn
  private aim: Span; // that a move goes to, which the next one starts from however quickly it comes
  private focus: Focus | null = null;
  private isPinned = false; // by a tap, a click or the keyboard: it stays when the drawing or the pointer moves
  private chosen: string | null = null;
  private frame = 0;
  private motion = 0;
  private hiding = 0;
  private readonly meanings: ReadonlyMap<string, string>;

  private readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  private readonly port: HTMLElement;
  private readonly tip = element('div', { class: 'timeline-tip', hidden: true, tabindex: -1 });
  private readonly spoken = element('p', { class: 'offscreen', 'aria-live': 'polite' });
  private readonly shown = element('output', { class: 'counter' });
  private readonly more = element('div', { class: 'timeline-more', hidden: true });
  private readonly hint = element('p', { class: 'timeline-hint', 'aria-hidden': 'true' });

  constructor(
    private readonly report: Report,
    private readonly timeline: Timeline,
  ) {
    this.layout = arrange(timeline);
    this.whole = { start: timeline.start_ns, end: Math.max(timeline.end_ns, timeline.start_ns + 1) };
    this.span = this.aim = this.whole;
    this.meanings = causeMeanings(report);
    const summary = summarise(timeline, this.rows());
    const spacer = element('div', { class: 'timeline-spacer' }, this.canvas);
    spacer.style.height = `${this.layout.height + AXIS}px`;
    this.port = element(
      'div',
      {
        class: 'timeline-port',
        tabindex: 0,
        role: 'application',
        'aria-label': `Timeline. ${summary}`,
        'aria-roledescription': 'timeline',
        'aria-keyshortcuts': 'w a s d + - f . ,',
      },
      spacer,
    );
    this.port.style.height = `${Math.min(this.layout.height + AXIS, TALLEST) + BORDERS}px`;
    const frame = element('div', { class: 'timeline-frame' }, this.port, this.tip, this.hint);
    this.root = element(
      'div',
      { class: 'timeline' },
      element('p', { class: 'timeline-summary' }, summary),
      this.tools(),
      frame,
      legendView(timeline, this.rows(), (category) => {
        this.chosen = category;
        this.redraw();
      }),
      this.more,
      this.spoken,
      rowsView(this.layout, lengthOf(this.whole)),
    );
    listen(this.port, this.canvas, this);
    this.port.addEventListener('scroll', () => this.redraw());
    this.tip.addEventListener('keydown', (event) => event.key === 'Escape' && this.release());
    frame.addEventListener('focusout', ({ relatedTarget: to }) => {
      if (!(to instanceof Node && frame.contains(to))) this.release();
    });
    new ResizeObserver(() => this.redraw()).observe(this.port);
    onTheme(() => this.redraw());
  }

  // ---- what others ask for ----

  zoom(factor: number, x: number | null, smooth: boolean): void {
    const from = smooth ? this.aim : this.span;
    const at = x === null ? (from.start + from.end) / 2 : this.timeAt(x);
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

  point(x: number, y: number): void {
    if (!this.isPinned) this.setFocus(this.itemAt(x, y), x);
  }

  choose(x: number, y: number): void {
    const found = this.itemAt(x, y);
    this.isPinned = found !== null;
    this.setFocus(found, x);
    if (found) this.spoken.textContent = this.words(found).join(', ');
    this.port.focus({ preventScroll: true });
  }

  enter(x: number, y: number): void {
    const found = this.itemAt(x, y);
    if (!found) return;
    this.look(this.ends(found));
  }

  /** Goes to a part, with something around it. */
  look({ start, end }: Span): void {
    const margin = Math.max(end - start, 1) * 0.4;
    this.show(fit({ start: start - margin, end: end + margin }, this.whole), true);
  }

  leave(): void {
    if (!this.isPinned) this.setFocus(null);
  }

  release(): void {
    this.isPinned = false;
    this.setFocus(null);
  }

  step(items: number): void {
    const lane = this.focus?.lane ?? this.firstLane();
    if (!lane || lane.row.items === 0) return;
    const next = this.focus ? this.focus.item + items : this.firstItem(lane);
    this.hold(lane, Math.min(Math.max(next, 0), lane.row.items - 1));
  }

  move(lanes: number): void {
    const all = this.layout.lanes;
    const at = this.focus ? all.indexOf(this.focus.lane) + lanes : all.indexOf(this.firstLane()!);
    const lane = all[Math.min(Math.max(at, 0), all.length - 1)];
    if (lane && lane.row.items > 0) this.hold(lane, this.firstItem(lane));
  }

  refuseWheel(y: number): void {
    this.hint.textContent = 'Click the timeline or hold Ctrl to zoom with the wheel';
    this.hint.style.top = `${y + 16}px`;
    this.hint.classList.add('is-shown');
    clearTimeout(this.hiding);
    this.hiding = window.setTimeout(() => this.hint.classList.remove('is-shown'), 1200);
  }

  // ---- parts ----

  private rows(): readonly Lane['row'][] {
    return this.layout.lanes.map((lane) => lane.row);
  }

  private tools(): HTMLElement {
    return element(
      'div',
      { class: 'tools' },
      this.shown,
      element('span', { class: 'hint' }, 'Ctrl + wheel to zoom, drag to pan, click to pin'),
      button('\u2212', { 'aria-label': 'Zoom out', title: 'Zoom out (s)' }, () => this.zoom(1 / 0.6, null, true)),
      button('+', { 'aria-label': 'Zoom in', title: 'Zoom in (w)' }, () => this.zoom(0.6, null, true)),
      button('\u2190', { 'aria-label': 'Earlier', title: 'Earlier (a)' }, () => this.pan(-0.25, true)),
      button('\u2192', { 'aria-label': 'Later', title: 'Later (d)' }, () => this.pan(0.25, true)),
      button('Fit', { title: 'Fit all (f)' }, () => this.fit()),
    );
  }

  // ---- places ----

  private gutter(): number {
    return this.port.clientWidth < 600 ? 76 : 150;
  }

  private room(): number {
    return Math.max(this.port.clientWidth - this.gutter(), 1);
  }

  private timeAt(x: number): number {
    return this.span.start + ((x - this.gutter()) / this.room()) * lengthOf(this.span);
  }

  private itemAt(x: number, y: number): Focus | null {
    const lane = y < AXIS || x < this.gutter() ? null : laneAt(this.layout, y - AXIS + this.port.scrollTop);
    const near = lane && itemNear(lane.row, this.timeAt(x), (NEAR * lengthOf(this.span)) / this.room());
    return near && { lane: lane!, ...near };
  }

  private ends({ lane, item }: Focus): Span {
    return { start: lane.row.start[item]!, end: lane.row.end[item]! };
  }

  private firstLane(): Lane | undefined {
    return this.layout.lanes.find((lane) => lane.row.kind === 'ops') ?? this.layout.lanes[0];
  }

  /** The first that is seen, or the last before. */
  private firstItem(lane: Lane): number {
    const at = this.focus ? this.ends(this.focus).start : this.span.start;
    return Math.min(search(lane.row.start, at), lane.row.items - 1);
  }

  // ---- showing ----

  private hold(lane: Lane, item: number): void {
    const focus = { lane, item, others: 0 };
    const { start, end } = this.ends(focus);
    this.isPinned = true;
    if (end < this.span.start || start > this.span.end) {
      const half = lengthOf(this.span) / 2;
      const middle = (start + end) / 2;
      this.show(fit({ start: middle - half, end: middle + half }, this.whole), false);
    }
    const low = lane.top + lane.height + AXIS - this.port.clientHeight;
    this.port.scrollTop = Math.min(Math.max(this.port.scrollTop, low), lane.top);
    this.setFocus(focus);
    this.spoken.textContent = this.words(focus).join(', ');
  }

  private words(focus: Focus): readonly string[] {
    return describeItem(this.timeline, focus.lane, focus.item, focus.others, this.meanings);
  }

  private setFocus(focus: Focus | null, x?: number): void {
    this.focus = focus;
    this.tip.classList.toggle('is-pinned', this.isPinned);
    this.redraw();
    if (!focus) {
      this.hideTip();
      return;
    }
    this.tip.replaceChildren(...this.words(focus).map((line) => element('p', {}, line)));
    this.tip.hidden = false;
    const { start } = this.ends(focus);
    const middle = this.gutter() + ((start - this.span.start) / lengthOf(this.span)) * this.room();
    const left = Math.max(this.gutter(), x ?? middle) + 12;
    const top = AXIS + focus.lane.top + focus.lane.height - this.port.scrollTop + 8;
    const width = this.port.clientWidth;
    this.tip.style.left = `${Math.max(0, Math.min(left, width - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${top}px`;
  }

  private hideTip(): void {
    this.tip.hidden = true;
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
      else this.settle();
    };
    go();
  }

  private settle(): void {
    if (this.focus && this.isPinned) this.setFocus({ ...this.focus, others: 0 });
    else this.hideTip();
    this.offerCommand();
  }

  /** Says how to see what the page has no room for. */
  private offerCommand(): void {
    const hidden = countHidden(this.rows(), this.span, this.room());
    this.more.hidden = hidden === 0;
    if (hidden === 0) return;
    const command = commandFor(this.report, this.timeline, this.span);
    this.more.replaceChildren(
      element('p', {}, `No more detail on this page: ${decimal(hidden, 0)} items are merged here. To see all of them:`),
      element('code', {}, command),
      button('Copy', { class: 'quiet' }, () => void copy(command, 'Command copied')),
    );
  }

  private redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    const width = this.port.clientWidth;
    const height = this.port.clientHeight;
    const context = this.canvas.getContext('2d');
    if (width === 0 || !context) return;
    const scale = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw({
      context,
      width,
      height,
      gutter: this.gutter(),
      scroll: this.port.scrollTop,
      timeline: this.timeline,
      layout: this.layout,
      span: this.span,
      ink: ink(),
      chosen: this.chosen,
      focus: this.focus,
    });
    const { start, end } = this.span;
    const step = (end - start) / 100;
    this.shown.textContent = `${tickText(start, step)} to ${tickText(end, step)} (${withUnit(end - start, 'ns')})`;
    this.port.dataset.start = String(start);
    this.port.dataset.end = String(end);
  }
}
