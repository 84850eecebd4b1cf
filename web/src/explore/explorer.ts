// The explorer: one timeline at a time with its tools, what is pinned and chosen below it, and the place in the address.

import type { Report } from '../data';
import { button, copy, element } from '../dom';
import { decimal, withUnit } from '../format';
import { tickText } from '../timeline/axis';
import { causeMeanings, countHidden, summarise } from '../timeline/describe';
import type { Mark } from '../timeline/draw';
import { KEYS } from '../timeline/gestures';
import { Legend } from '../timeline/parts';
import type { Row } from '../timeline/rows';
import type { Span } from '../timeline/span';
import { Tiles } from '../timeline/tiles';
import { TimelineView, type Hooks } from '../timeline/view';
import { tell, type GapShare } from './account';
import { chosenView } from './chosenpane';
import { Frame } from './frame';
import { Help } from './help';
import { itemView } from './itempane';
import { locate } from './locate';
import { modelOf, type Model } from './model';
import { measurePart } from './part';
import { read, write, type Pin, type Place } from './place';
import { SearchBox } from './searchbox';
import type { Chosen, Destination, Explorer, Item, Link, Source } from './source';
import { ARRIVAL } from '../session';
import { tablesView, type Tables } from './tables';

export interface ExplorerOptions {
  readonly report?: Report | null; // that of a stored page, whose words on causes are used
  readonly input?: number; // the only one that is shown
}

export class ExplorerView implements Explorer, Hooks {
  readonly root: HTMLElement;
  private readonly frame: Frame;
  private readonly search: SearchBox;
  private readonly help = new Help();
  private readonly legend: Legend;
  private readonly tables: Tables;
  private readonly views = new Map<number, Promise<TimelineView>>();
  private readonly listeners = new Set<(chosen: Chosen | null) => void>();
  private readonly meanings: ReadonlyMap<string, string>;
  private view: TimelineView | null = null; // the one that is seen
  private input = 0;
  private turning = 0; // counts the turns to another input
  private asking: AbortController | null = null; // about the pinned item
  private measuring: AbortController | null = null; // the chosen part
  private isRestoring = false;
  private opener: ((kernel: string, input: string | undefined) => void) | null = null;
  private waiting = 0; // answers that panes wait for

  constructor(
    private readonly source: Source,
    private readonly options: ExplorerOptions,
  ) {
    this.meanings = causeMeanings(options.report ?? null);
    this.legend = new Legend((category) => this.view?.setCategory(category));
    this.search = new SearchBox(source, () => this.input, {
      current: () => this.view?.pinned ?? null,
      viewStart: () => this.view?.span.start ?? 0,
      mark: (text) => {
        this.view?.setSearch(text);
        this.remember(false);
      },
      go: (match) => this.follow({ kind: '', ...match }),
      done: () => this.view?.port.focus({ preventScroll: true }),
    });
    this.tables = tablesView(() => this.view);
    const parts = {
      search: this.search.root,
      legend: this.legend.root,
      tables: this.tables.root,
      help: this.help.root,
    };
    this.frame = new Frame(source, options.input === undefined, parts, {
      zoom: (factor) => this.view?.zoom(factor, null, true),
      pan: (share) => this.view?.pan(share, true),
      fit: () => this.view?.fit(),
      help: () => this.help.open(),
      turn: (input) => void this.turn(input).then(() => this.remember(true)),
    });
    this.root = this.frame.root;
    this.root.addEventListener('keydown', (event) => this.key(event));
    if (options.input !== undefined) {
      void this.turn(options.input);
      return;
    }
    addEventListener('popstate', () => this.restore());
    addEventListener('keydown', (event) => this.pageKey(event));
    const place = read(location.hash);
    if (place) this.restore();
    else if (source.inputs.length > 0) void this.turn(0);
  }

  // ---- what the page asks for ----

  go({ input, start, end, lane }: Destination): void {
    const named = typeof input === 'number' ? input : this.source.inputs.findIndex((each) => each.input === input);
    const turned = this.turn(this.options.input ?? Math.max(named, 0));
    const turn = this.turning;
    void turned.then((view) => {
      if (this.options.input === undefined) this.root.scrollIntoView({ block: 'nearest' }); // the page's own
      if (!view) return;
      this.leave();
      view.look({ start, end });
      if (lane !== undefined) return this.hold(view, { lane, start_ns: start, end_ns: end });
      void locate(this.source, this.input, view.timeline, { start, end }).then(
        (found) => found && this.view === view && turn === this.turning && this.hold(view, found),
        () => {}, // the timeline says itself what it cannot read
      );
    });
  }

  onOpen(listener: (kernel: string, input: string | undefined) => void): void {
    this.opener = listener;
  }

  onSelect(listener: (chosen: Chosen | null) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  clear(): void {
    if (this.view?.chosen) this.view.setChosen(null);
  }

  /** What is drawn, for tests and for the curious. */
  model(): Model | null {
    return this.view && modelOf(this.view, this.input, this.waiting > 0);
  }

  // ---- what the timeline tells ----

  moved(): void {
    this.tell();
    this.remember(false);
  }

  folded(): void {
    this.tables.changed();
    this.remember(false);
  }

  say(text: string): void {
    this.frame.spoken.textContent = text;
  }

  find(step: number): void {
    this.search.step(step);
  }

  openSearch(): void {
    this.search.open();
  }

  openHelp(): void {
    this.help.open();
  }

  pinned(mark: Mark | null): void {
    this.asking?.abort();
    this.asking = null;
    const { view } = this;
    if (!view || !mark || mark.high !== undefined) {
      this.frame.item.hide();
    } else {
      const control = new AbortController();
      this.asking = control;
      void this.describe(view, mark, control.signal);
    }
    this.remember(false);
  }

  chosen(span: Span | null): void {
    this.measuring?.abort();
    this.measuring = null;
    if (span && this.view) {
      const control = new AbortController();
      this.measuring = control;
      this.say(`Selected ${withUnit(span.end - span.start, 'ns')}`);
      void this.measure(this.view, span, control.signal);
    } else this.frame.chosen.hide();
    for (const listener of this.listeners) listener(span && { input: this.input, ...span });
    this.remember(true);
  }

  // ---- inputs ----

  private open(input: number): Promise<TimelineView> {
    const known = this.views.get(input);
    if (known) return known;
    const made = this.source.lanes(input).then((timeline) => {
      const changed = (): void => {
        if (this.view?.tiles === tiles) this.arrived();
      };
      const tiles = new Tiles(this.source, input, timeline, changed, (reason) => this.frame.complain(reason));
      const label = `Timeline. ${summarise(timeline)}`;
      return new TimelineView(timeline, tiles, this.meanings, label, this);
    });
    this.views.set(input, made);
    made.catch(() => this.views.delete(input));
    return made;
  }

  /** Shows an input; null where another has been asked for meanwhile, or it cannot be read. */
  private async turn(input: number): Promise<TimelineView | null> {
    const turn = ++this.turning;
    if (this.view && this.input === input) return this.view;
    this.frame.wait(input);
    try {
      const view = await this.open(input);
      if (turn !== this.turning) return null;
      this.view = view;
      this.input = input;
      this.frame.show(view, input, summarise(view.timeline));
      this.root.hidden = view.timeline.rows.length === 0 && this.source.inputs.length === 1; // nothing to draw
      view.setSearch(this.search.text.toLowerCase());
      this.search.again();
      this.tables.changed();
      this.frame.item.hide();
      this.frame.chosen.hide();
      if (view.pinned) this.pinned(view.pinned);
      if (view.chosen) this.chosen(view.chosen);
      this.arrived();
      return view;
    } catch (error) {
      if (turn === this.turning) this.frame.fail(wordsOf(error));
      return null;
    }
  }

  /** There is more to draw. */
  private arrived(): void {
    const { view } = this;
    if (!view) return;
    view.redraw();
    this.legend.show(view.tiles.catalog, this.overview(view));
    this.tell();
  }

  private overview(view: TimelineView): Row[] {
    return view.timeline.rows
      .filter(({ kind }) => kind === 'ops' || kind === 'gaps')
      .map(({ lane }) => view.tiles.overview(lane!))
      .filter((row) => row !== null);
  }

  private tell(): void {
    const { view } = this;
    if (!view) return;
    const { start, end } = view.span;
    const step = (end - start) / 100;
    this.frame.range.textContent = `${tickText(start, step)} to ${tickText(end, step)} (${withUnit(end - start, 'ns')})`;
    this.tables.changed();
    const { more } = this.frame;
    const rows = this.source.isLive
      ? []
      : view.layout.lanes.map((lane) => view.rowOf(lane)).filter((row) => row !== null);
    const hidden = countHidden(rows, view.span, view.room());
    more.hidden = hidden === 0;
    if (hidden > 0) this.offer(hidden, view.span);
  }

  /** Says how to see what the page has no room for. */
  private offer(hidden: number, span: Span): void {
    const all = this.source.command(this.input);
    const part = this.source.command(this.input, span.start, span.end);
    const line = (command: string): HTMLElement =>
      element(
        'div',
        {},
        element('code', {}, command),
        button('Copy', { class: 'quiet' }, () => void copy(command, 'Command copied')),
      );
    this.frame.more.replaceChildren(
      element('p', {}, `No more detail on this page: ${decimal(hidden, 0)} items are merged here. To see all of them:`),
      ...(all ? [line(all)] : []),
      ...(part ? [line(`${part} --html -o part.html`)] : []),
    );
  }

  // ---- panes ----

  private async describe(view: TimelineView, pinned: Mark, signal: AbortSignal): Promise<void> {
    this.waiting++;
    try {
      const { lane, start, end } = pinned;
      const isMerged = pinned.count > 1 && this.source.isLive;
      const item = isMerged ? null : await this.source.item(this.input, lane, start, end, 0, signal);
      if (signal.aborted) return;
      const mark = item ? view.nameIt(pinned, item.name) : pinned;
      view.setLinks(mark, item?.links ?? []);
      this.frame.item.show(this.itemBody(view, mark, item));
    } catch (error) {
      if (!signal.aborted) this.frame.item.show(element('p', {}, wordsOf(error)));
    } finally {
      this.waiting--;
    }
  }

  private itemBody(view: TimelineView, mark: Mark, item: Item | null): HTMLElement {
    const kind = view.timeline.rows.find(({ lane }) => lane === mark.lane)?.kind;
    const name = view.tiles.catalog.names[mark.name] ?? '';
    const shown = item ?? { name, lines: [], stack: [], links: [] };
    const body = itemView(shown, view.words(mark, 0), kind === 'gaps', (to) => {
      view.port.focus({ preventScroll: true }); // what was clicked goes away
      this.follow(to);
    });
    const hint = (...words: (string | HTMLElement)[]): void => body.append(element('p', { class: 'hint' }, ...words));
    if (mark.count > 1) hint('Several items are drawn as one here: zoom in to tell them apart.');
    const command = this.source.command(this.input);
    if (command && kind === 'ops') hint('Launch, stack and arrows: ', element('code', {}, command));
    return body;
  }

  private async measure(view: TimelineView, span: Span, signal: AbortSignal): Promise<void> {
    const actions = {
      go: ({ lane, start, end, name }: GapShare) =>
        this.follow({ kind: '', name, lane: lane ?? -1, start_ns: start, end_ns: end }),
      open: this.opener && ((name: string) => this.opener?.(name, this.source.inputs[this.input]?.input)),
      zoom: () => view.look(span),
      clear: () => view.setChosen(null),
    };
    const command = this.source.command(this.input, span.start, span.end);
    const show = (told: Parameters<typeof chosenView>[1]): void =>
      this.frame.chosen.show(chosenView(span, told, command, actions));
    this.waiting++;
    try {
      if (this.source.isLive) {
        show('waiting');
        const told = await measurePart(this.source, this.input, view.timeline, span, signal);
        if (!signal.aborted) show(told);
      } else {
        const rows = view.timeline.rows.map(({ lane }) => view.tiles.overview(lane!)).filter((row) => row !== null);
        show(tell(rows, view.tiles.catalog, span));
      }
    } catch (error) {
      if (!signal.aborted) this.frame.chosen.show(element('p', {}, wordsOf(error)));
    } finally {
      this.waiting--;
    }
  }

  /** Goes to something else in this timeline, and pins it if it has a lane. */
  private follow({ lane, start_ns: start, end_ns: end, name }: Link): void {
    const { view } = this;
    if (!view) return;
    this.leave();
    if (lane < 0) view.look({ start, end });
    else this.hold(view, { lane, start_ns: start, end_ns: end, name });
  }

  private hold(view: TimelineView, to: Omit<Link, 'kind' | 'name'> & { readonly name?: string }): void {
    const mark = this.markOf(view, { lane: to.lane, start: to.start_ns, end: to.end_ns }, to.name);
    view.reveal(mark);
    view.pin(mark);
  }

  /** The item itself where it is known, else as much of it as is. */
  private markOf(view: TimelineView, { lane, start, end }: Pin, name?: string): Mark {
    const row = view.tiles.row(lane, view.span, view.room());
    let place = name === undefined ? undefined : view.tiles.catalog.add(name, null);
    let count = 1;
    let busy = end - start;
    for (let i = 0; row && i < row.items; i++)
      if (row.start[i] === start && row.end[i] === end) {
        if (name === undefined || view.tiles.catalog.names[row.name[i]!] === name) place = row.name[i]!;
        count = row.count[i]!;
        busy = row.busy[i]!;
      }
    return { lane, start, end, name: place ?? view.tiles.catalog.add('', null), count, busy };
  }

  // ---- the address ----

  private place(view: TimelineView): Place {
    const { start, end } = view.home;
    const isWhole = view.span.start === start && view.span.end === end;
    return {
      input: this.input,
      span: isWhole ? null : view.span,
      pin: view.pinned,
      chosen: view.chosen,
      find: this.search.text,
      folds: view.folds,
    };
  }

  /** What follows can be taken back: it changes an entry of its own. */
  private leave(): void {
    if (this.options.input !== undefined) return;
    if (history.state === ARRIVAL)
      history.replaceState(null, '', location.href); // it has one already
    else history.pushState(null, '', location.href);
  }

  /** A step can be taken back; other changes are only kept. */
  private remember(isStep: boolean): void {
    if (!this.view || this.isRestoring || this.options.input !== undefined) return;
    const hash = write(this.place(this.view));
    if (hash === location.hash) return;
    if (hash === '' && !read(location.hash)) return; // the name of a section stays
    const url = hash || location.pathname + location.search;
    if (isStep) history.pushState(null, '', url);
    else history.replaceState(null, '', url);
  }

  private restore(): void {
    const place = read(location.hash);
    if (!place && location.hash !== '') return;
    const { input, span, pin, chosen, find, folds } = place ?? NOWHERE;
    if (!this.source.inputs[input]) return void (this.view ?? this.turn(0));
    this.isRestoring = true;
    void this.turn(input)
      .then((view) => {
        if (!view) return;
        view.setFolds(folds);
        view.goTo(span ?? view.home);
        this.search.set(find);
        const part = this.inside(chosen, view);
        if (!same(part, view.chosen)) view.setChosen(part);
        const isThere = pin && view.timeline.rows.some(({ lane }) => lane === pin.lane);
        if (same(pin, view.pinned)) return;
        view.pin(isThere ? this.markOf(view, pin) : null);
        if (isThere) view.scrollTo(pin);
      })
      .finally(() => (this.isRestoring = false));
  }

  /** Of a chosen part, what lies in the trace. */
  private inside(chosen: Span | null, { whole }: TimelineView): Span | null {
    if (!chosen) return null;
    const start = Math.max(Math.round(chosen.start), whole.start);
    const end = Math.min(Math.round(chosen.end), whole.end);
    const isCut = start > chosen.start + 1 || end < chosen.end - 1;
    if (isCut || end <= start)
      this.frame.note(
        `The selection of this link reaches beyond the trace: ${end > start ? 'only what is inside is selected.' : 'nothing is selected.'}`,
      );
    return end > start ? { start, end } : null;
  }

  /** Keys of the page, wherever the focus is, while the timeline is shown and no text is typed. */
  private pageKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.view) return;
    const { target } = event;
    const isTaken = target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]');
    if (isTaken || !this.root.checkVisibility() || document.querySelector('dialog[open]')) return;
    const act = PAGE_KEYS.includes(event.key) ? KEYS[event.key] : undefined;
    if (!act) return;
    event.preventDefault();
    act(this.view);
  }

  private key(event: KeyboardEvent): void {
    // Keys work on all of it, except where text is typed.
    if (event.defaultPrevented || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement)
      return;
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : ANYWHERE[event.key];
    if (!act || !this.view) return;
    event.preventDefault();
    act(this, this.view);
  }
}

const ANYWHERE: Readonly<Record<string, (explorer: ExplorerView, view: TimelineView) => void>> = {
  '/': (explorer) => explorer.openSearch(),
  '?': (explorer) => explorer.openHelp(),
  n: (explorer) => explorer.find(1),
  N: (explorer) => explorer.find(-1),
  Escape: (_, view) => view.release(),
};

const PAGE_KEYS = ['w', 'a', 's', 'd', 'f', 'm', 'n', 'N', '0', '/', '?', '+', '=', '-'];

const NOWHERE: Place = { input: 0, span: null, pin: null, chosen: null, find: '', folds: new Map() };

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function same(a: Span | null, b: Span | null): boolean {
  const lane = (span: Span): unknown => (span as Partial<Pin>).lane;
  return a === b || (!!a && !!b && a.start === b.start && a.end === b.end && lane(a) === lane(b));
}
