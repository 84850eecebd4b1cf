// The elements of one timeline: a canvas that stays while the rows scroll, their names, a tooltip and a hint.

import { element } from '../dom';
import { ink, onTheme, type Ink } from '../theme';
import { AXIS } from './axis';
import type { Catalog } from './catalog';
import { draw, type Scene } from './draw';
import { Gutter, type GutterActions } from './gutter';
import type { Lane, Layout } from './lanes';
import { Palettes, Ruler } from './palette';

/** What a scene has besides the canvas itself. */
export type Picture = Pick<
  Scene,
  'layout' | 'rows' | 'span' | 'category' | 'isMatch' | 'focus' | 'pinned' | 'chosen' | 'arrows'
>;

const HINT_MS = 1200;

export class Stage {
  readonly root: HTMLElement;
  readonly port: HTMLElement;
  readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  private readonly spacer: HTMLElement;
  private readonly gutter: Gutter;
  private readonly tip = element('div', { class: 'explorer-tip', hidden: true, role: 'tooltip' });
  private readonly hint = element('p', { class: 'timeline-hint', 'aria-hidden': 'true' });
  private colors: Ink | null = null;
  private palettes: Palettes | null = null;
  private ruler: Ruler | null = null;
  private laid: Layout | null = null; // what the gutter shows
  private laidWidth = 0;
  private frame = 0;
  private hiding = 0;

  constructor(
    label: string,
    private readonly catalog: Catalog,
    actions: GutterActions,
    private readonly paint: () => void,
  ) {
    this.gutter = new Gutter(actions);
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
    this.port.addEventListener('scroll', () => {
      this.hideTip();
      this.redraw();
    });
    new ResizeObserver(() => this.redraw()).observe(this.port);
    onTheme(() => {
      this.colors = this.palettes = this.ruler = null;
      this.redraw();
    });
  }

  get isDrawn(): boolean {
    return this.frame === 0;
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.port.clientWidth > 0) this.paint();
    });
  }

  gutterWidth(): number {
    const width = this.port.clientWidth;
    return width < 600 ? 92 : width < 1600 ? 176 : 240;
  }

  room(): number {
    return Math.max(this.port.clientWidth - this.gutterWidth(), 1);
  }

  /** The lanes that are seen now. */
  seen(layout: Layout): Lane[] {
    const top = this.port.scrollTop;
    const bottom = top + this.port.clientHeight - AXIS;
    return layout.lanes.filter((lane) => lane.top + lane.height >= top && lane.top <= bottom);
  }

  scrollTo(lane: Lane, layout: Layout): void {
    this.showGutter(layout); // it may have grown since it was drawn
    const low = lane.top + lane.height + AXIS - this.port.clientHeight;
    this.port.scrollTop = Math.min(Math.max(this.port.scrollTop, low), lane.top);
  }

  draw(picture: Picture): void {
    const width = this.port.clientWidth;
    const height = this.port.clientHeight;
    this.showGutter(picture.layout);
    const context = this.resize(width, height);
    if (!context) return;
    const colors = (this.colors ??= ink());
    this.palettes ??= new Palettes(this.catalog, colors);
    this.ruler ??= new Ruler(context, `11px ${colors.font}`);
    draw({
      ...picture,
      context,
      width,
      height,
      gutter: this.gutterWidth(),
      scroll: this.port.scrollTop,
      catalog: this.catalog,
      palettes: this.palettes,
      ruler: this.ruler,
      ink: colors,
    });
    this.port.dataset.start = String(picture.span.start);
    this.port.dataset.end = String(picture.span.end);
  }

  /** Below a lane, next to the pointer; above it where there is no room. */
  showTip(lines: readonly string[], lane: Lane | undefined, x: number, y: number): void {
    this.tip.replaceChildren(...lines.map((line) => element('p', {}, line)));
    this.tip.hidden = false;
    const box = this.port.getBoundingClientRect();
    const below = box.top + AXIS + (lane ? lane.top + lane.height - this.port.scrollTop : y) + 10;
    const left = Math.min(box.left + x + 12, innerWidth - this.tip.offsetWidth - 8);
    const isHigh = below + this.tip.offsetHeight > innerHeight - 8;
    const top = isHigh ? box.top + y - this.tip.offsetHeight - 14 : below;
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${Math.max(8, top)}px`;
  }

  hideTip(): void {
    this.tip.hidden = true;
  }

  showHint(text: string, y: number): void {
    this.hint.textContent = text;
    this.hint.style.top = `${y + 16}px`;
    this.hint.classList.add('is-shown');
    clearTimeout(this.hiding);
    this.hiding = window.setTimeout(() => this.hint.classList.remove('is-shown'), HINT_MS);
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

  private showGutter(layout: Layout): void {
    const width = this.gutterWidth();
    if (layout === this.laid && width === this.laidWidth) return;
    this.laid = layout;
    this.laidWidth = width;
    this.spacer.style.height = `${layout.height + AXIS}px`;
    this.port.style.setProperty('--gutter', `${width}px`);
    this.gutter.show(layout, width);
  }
}
