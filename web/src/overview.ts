// The first view: what the trace is, where its time went, what to do about it, the timeline, then all tables. With a server
// all but the timeline comes when it has been analysed.

import { accountOf, accountView } from './account';
import type { Report } from './data';
import { button, element, visible } from './dom';
import type { Chosen, Explorer, ViewInfo } from './explore/source';
import { findingsView } from './findings';
import { withUnit } from './format';
import { headerView, titleOf } from './header';
import { rowLinks } from './links';
import type { Navigation } from './navigation';
import { Panels } from './panels';
import type { Session } from './session';
import { changePanel, isComparison } from './views/compare';
import { rankLanesView } from './views/rank-lanes';

/** An element whose content comes later, and may change. */
class Slot {
  constructor(private at: HTMLElement) {}

  get shown(): HTMLElement {
    return this.at;
  }

  put(next: HTMLElement | null): void {
    const made = next ?? element('div', { hidden: true });
    this.at.replaceWith(made);
    this.at = made;
  }
}

function waitingHeader(info: ViewInfo): HTMLElement {
  return element(
    'header',
    { id: 'top' },
    element(
      'div',
      { class: 'title-line' },
      element('h1', {}, element('bdi', {}, visible(info.title))),
      element('p', { class: 'origin', role: 'status' }, 'gputime view \u00b7 analysing\u2026'),
    ),
  );
}

function waitingBlock(id: string, title: string): HTMLElement {
  return element(
    'section',
    { class: 'panel waiting', id, 'aria-busy': 'true', 'aria-label': title },
    element('div', { class: 'waiting-bar' }),
  );
}

/** What went wrong at the server, and a way to try again. */
export function troubleView(what: string, reason: unknown, again: () => void): HTMLElement {
  const words = reason instanceof Error ? reason.message : String(reason);
  return element(
    'section',
    { class: 'panel trouble', role: 'alert' },
    element('h2', {}, what),
    element('p', {}, visible(words)),
    button('Try again', {}, again),
  );
}

export class Overview {
  readonly root = element('div', { id: 'overview' });
  private readonly head = new Slot(element('header', { id: 'top' }));
  private readonly verdicts = new Slot(element('div', { hidden: true })); // what a gate is read for
  private readonly account = new Slot(element('div'));
  private readonly change = new Slot(element('div', { hidden: true })); // what a comparison or a job has instead of a timeline
  private readonly findings = new Slot(element('div'));
  private readonly chip = new Slot(element('div', { hidden: true }));
  private readonly body = new Slot(element('div'));
  private readonly timeline: HTMLElement | null;
  private panels: Panels | null = null; // of everything
  private partial: AbortController | null = null;

  constructor(
    private readonly session: Session,
    private readonly explorer: Explorer | null,
    private readonly navigation: Navigation,
  ) {
    this.timeline = explorer?.root ?? null;
    this.root.append(this.head.shown, this.verdicts.shown, this.account.shown, this.change.shown, this.findings.shown);
    if (this.timeline) this.root.append(this.timeline);
    this.root.append(this.chip.shown, this.body.shown);
  }

  /** Before the server has analysed anything. */
  showWaiting(info: ViewInfo): void {
    document.title = `${info.title} \u00b7 gputime view`;
    this.head.put(waitingHeader(info));
    this.account.put(waitingBlock('account', 'Where the time went'));
    this.findings.put(waitingBlock('findings', 'Findings'));
    this.listSections();
  }

  showTrouble(reason: unknown, again: () => void): void {
    this.account.put(troubleView('The traces could not be analysed', reason, again));
    this.findings.put(null);
  }

  async showReport(report: Report): Promise<void> {
    document.title = `${titleOf(report)} \u00b7 gputime ${this.session.info ? 'view' : report.command}`;
    const account = accountOf(report);
    const look = (input: string | undefined, start: number, end: number): void =>
      this.session.go({ input, start, end });
    this.panels = new Panels(report, rowLinks(this.session));
    this.head.put(headerView(report));
    this.verdicts.put(report.main_table === 'limits' ? null : this.panels.take('limits'));
    this.account.put(
      account &&
        element('section', { class: 'panel', id: 'account', 'aria-label': account.title }, accountView(account)),
    );
    this.change.put(isComparison(report) ? changePanel(report) : this.explorer ? null : rankLanesView(report, null));
    this.findings.put(
      findingsView(report, {
        point: (table, texts) => this.panels?.point(table, texts),
        look: this.explorer ? look : null,
      }),
    );
    await this.showPanels(this.panels);
  }

  /** The tables of a part of the time, with a chip that undoes it; of everything for null. */
  async showPart(chosen: Chosen | null): Promise<void> {
    this.partial?.abort();
    const { source } = this.session;
    const name = (chosen && source.inputs[chosen.input]?.input) ?? '';
    if (!source.isLive) this.panels?.limit(name, chosen);
    if (!chosen) {
      this.chip.put(null);
      if (this.panels && this.body.shown !== this.panels.root) this.restore(this.panels);
      return;
    }
    this.chip.put(this.chipView(chosen, source.isLive));
    if (!source.isLive) return;
    const partial = (this.partial = new AbortController());
    try {
      const { input, start, end } = chosen;
      const report = await source.report({ input, from: start, to: end }, partial.signal);
      if (!report || partial.signal.aborted) return;
      this.chip.put(this.chipView(chosen, false));
      await this.showPanels(new Panels(report, rowLinks(this.session)));
    } catch (reason) {
      if (partial.signal.aborted) return;
      const trouble = troubleView('This part could not be analysed', reason, () => void this.showPart(chosen));
      this.chip.shown.append(trouble);
    }
  }

  look(): void {
    const target = this.timeline;
    if (!target) return;
    const { top, bottom } = target.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) target.scrollIntoView();
  }

  private chipView(chosen: Chosen, isWaiting: boolean): HTMLElement {
    const { source } = this.session;
    const { start, end, input } = chosen;
    const several = source.inputs.length > 1 ? ` of ${visible(source.inputs[input]?.input ?? '')}` : '';
    const words = `${withUnit(start, 'ns')} to ${withUnit(end, 'ns')} (${withUnit(end - start, 'ns')})${several}`;
    const clear = button('\u00d7', { 'aria-label': 'Show everything again', title: 'Show everything again' }, () =>
      this.explorer?.clear(),
    );
    return element(
      'section',
      { class: 'panel selection', id: 'selection', 'aria-label': 'Selected part' },
      element(
        'p',
        { class: 'chip', role: 'status' },
        element('span', {}, `Tables below: ${words}`),
        clear,
        isWaiting && element('span', { class: 'origin' }, 'analysing\u2026'),
        !source.isLive &&
          element('span', { class: 'origin' }, 'Only tables whose rows have times are limited to it on a stored page.'),
      ),
    );
  }

  private async showPanels(panels: Panels): Promise<void> {
    this.body.put(panels.root);
    this.listSections();
    await panels.fill((section) => {
      if (this.body.shown === panels.root) this.navigation.add(section);
    });
  }

  private restore(panels: Panels): void {
    this.body.put(panels.root);
    this.listSections();
    for (const section of panels.sections) this.navigation.add(section);
  }

  private listSections(): void {
    this.navigation.clear();
    for (const section of [this.verdicts.shown, this.findings.shown, this.timeline])
      if (section?.id && !section.hidden) this.navigation.add(section);
  }
}
