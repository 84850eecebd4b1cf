// The page: its views, which one is shown, what is chosen, and how the address says so.

import type { Report } from './data';
import { button, copy, element } from './dom';
import type { Chosen, Destination, Explorer, Source, ViewInfo } from './explore/source';
import { Navigation } from './navigation';
import { Overview } from './overview';
import { ARRIVAL, type Session, type Subject } from './session';
import { views, type ViewKind } from './views/index';

const OVERVIEW = { key: 'overview', title: 'Overview' };

/** Keys of the address that are the page's own; the timeline has others. */
const ADDRESS = ['view', 'name', 'input', 'state'] as const;

function readAddress(): { view: string; subject: Subject } {
  const words = new URLSearchParams(location.hash.includes('=') ? location.hash.slice(1) : '');
  const of = (key: (typeof ADDRESS)[number]): string | undefined => words.get(key) ?? undefined;
  return { view: of('view') ?? OVERVIEW.key, subject: { name: of('name'), input: of('input'), state: of('state') } };
}

function addressOf(view: string, subject: Subject): string {
  const words = new URLSearchParams(location.hash.includes('=') ? location.hash.slice(1) : '');
  for (const key of ADDRESS) words.delete(key);
  if (view !== OVERVIEW.key) words.set('view', view);
  if (subject.name !== undefined) words.set('name', subject.name);
  if (subject.input !== undefined) words.set('input', subject.input);
  if (subject.state !== undefined) words.set('state', subject.state);
  const hash = words.toString();
  return hash === '' ? location.pathname + location.search : `#${hash}`;
}

export class App implements Session {
  report: Report | null = null;
  chosen: Chosen | null = null;
  readonly hasTimeline: boolean;
  private readonly navigation = new Navigation((view) => this.open(view));
  private readonly overview: Overview;
  private readonly stage = element('div', { id: 'stage', hidden: true });
  private readonly banner = element('div', { class: 'banner', role: 'alert', hidden: true });
  private readonly kept = new Map<string, string>(); // what was chosen in views that are left
  private shown = OVERVIEW.key;

  constructor(
    readonly source: Source,
    readonly info: ViewInfo | null,
    private readonly explorer: Explorer | null,
  ) {
    this.hasTimeline = explorer !== null;
    this.overview = new Overview(this, explorer, this.navigation);
    const page = document.getElementById('page')!;
    page.append(this.navigation.root, element('main', { id: 'content' }, this.banner, this.overview.root, this.stage));
    explorer?.onSelect((chosen) => this.choose(chosen));
    explorer?.onOpen((name, input) => this.open('kernel', { name, input }));
    addEventListener('keydown', (event) => this.press(event));
    addEventListener('popstate', () => this.follow());
  }

  /** A page with its report inside. */
  async showStored(report: Report): Promise<void> {
    this.setReport(report);
    this.follow();
    await this.overview.showReport(report);
    this.finish();
  }

  /** A page of a server: frame and timeline first, the rest when it has been analysed. */
  async showLive(info: ViewInfo): Promise<void> {
    this.overview.showWaiting(info);
    this.navigation.setViews(this.tabs());
    this.follow();
    document.getElementById('page')!.dataset.frame = '';
    try {
      const report = await this.source.report({});
      if (!report) return;
      this.setReport(report);
      await this.overview.showReport(report);
      this.refresh();
      this.finish();
    } catch (reason) {
      this.overview.showTrouble(reason, () => void this.showLive(info));
    }
  }

  /** Whether the server of this page answers. */
  heard(isThere: boolean): void {
    this.banner.hidden = isThere;
    const command = this.info?.command ?? 'gputime view TRACE';
    if (isThere || this.banner.firstChild) return;
    this.banner.append(
      element('b', {}, 'The server of this page has ended.'),
      ' What is shown stays, but nothing new can be loaded. To go on: ',
      element('code', {}, command),
      ' ',
      button('Copy', { class: 'quiet' }, () => void copy(command, 'Command copied')),
    );
  }

  go(to: Destination): void {
    if (this.shown !== OVERVIEW.key) {
      history.pushState(ARRIVAL, '', addressOf(OVERVIEW.key, {}));
      this.show(OVERVIEW.key, {});
    }
    this.overview.look();
    this.explorer?.go(to);
  }

  clear(): void {
    this.explorer?.clear();
  }

  private choose(chosen: Chosen | null): void {
    this.chosen = chosen;
    void this.overview.showPart(chosen);
    this.refresh();
  }

  open(view: string, subject: Subject = {}): void {
    const state = subject.state ?? this.kept.get(view);
    const whole = state === undefined ? subject : { ...subject, state };
    history.pushState(null, '', addressOf(view, whole));
    this.show(view, whole);
    scrollTo(0, 0);
  }

  keep(state: string): void {
    const { view, subject } = readAddress();
    if (view !== this.shown) return;
    this.kept.set(view, state);
    history.replaceState(history.state, '', addressOf(view, { ...subject, state }));
  }

  private setReport(report: Report): void {
    this.report = report;
    this.navigation.setVersion(report.tool.version);
    this.navigation.setViews(this.tabs());
    this.navigation.markView(this.shown);
  }

  private tabs(): { key: string; title: string }[] {
    const kinds = views.filter((kind) => kind.isOffered(this));
    return kinds.length > 0 ? [OVERVIEW, ...kinds] : [];
  }

  private finish(): void {
    document.getElementById('page')!.dataset.ready = '';
    const id = location.hash.slice(1);
    if (id && !id.includes('=')) document.getElementById(id)?.scrollIntoView();
  }

  private follow(): void {
    const { view, subject } = readAddress();
    this.show(view, subject);
  }

  /** What is shown depends on what is chosen and known. */
  private refresh(): void {
    if (this.shown !== OVERVIEW.key) this.follow();
  }

  private show(view: string, subject: Subject): void {
    const kind: ViewKind | undefined = views.find((each) => each.key === view && each.isOffered(this));
    const isOther = kind !== undefined && this.shown !== kind.key;
    this.shown = kind?.key ?? OVERVIEW.key;
    this.overview.root.hidden = kind !== undefined;
    this.stage.hidden = kind === undefined;
    this.stage.replaceChildren(...(kind ? [kind.make(this, subject)] : []));
    this.navigation.markView(this.shown);
    document.getElementById('page')!.dataset.view = this.shown;
    if (isOther) scrollTo(0, 0); // however it was opened
  }

  /** Digits open the views. */
  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog')) return;
    const tab = this.tabs()[Number(event.key) - 1];
    if (tab) this.open(tab.key);
  }
}
