// The box that looks for names: how many there are, and the next and the one before.

import { button, element } from '../dom';
import { decimal } from '../format';
import type { Found, Match, Source } from './source';

const REST_MS = 120; // without a key before the search begins

export interface SearchActions {
  /** Where to go on from, and where the view begins. */
  current(): { readonly lane: number; readonly start: number } | null;
  viewStart(): number;
  mark(text: string): void; // highlight, in lower case
  go(match: Match): void;
  done(): void; // back to the drawing
}

export class SearchBox {
  readonly root: HTMLElement;
  private readonly field = element('input', {
    type: 'search',
    class: 'explorer-search',
    placeholder: 'Find a name  ( / )',
    'aria-label': 'Find a name in the timeline',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  private readonly count = element('output', { class: 'explorer-count' });
  private timer = 0;
  private control: AbortController | null = null;
  private all: readonly Match[] | null = null; // where they are few
  private asked = Promise.resolve();

  constructor(
    private readonly source: Source,
    private readonly input: () => number,
    private readonly actions: SearchActions,
  ) {
    const back = button('\u2191', { 'aria-label': 'Previous match', title: 'Previous match (Shift+n)' }, () =>
      this.step(-1),
    );
    const next = button('\u2193', { 'aria-label': 'Next match', title: 'Next match (n)' }, () => this.step(1));
    this.root = element('div', { class: 'explorer-find', role: 'search' }, this.field, this.count, back, next);
    this.field.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.root.dataset.state = 'waiting';
      this.timer = window.setTimeout(() => this.look(), REST_MS);
    });
    this.field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') {
        if (this.field.value) this.set('');
        this.actions.done();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  get text(): string {
    return this.field.value.trim();
  }

  open(): void {
    this.field.focus();
    this.field.select();
  }

  /** Looks for a text, as if it had been typed. */
  set(text: string): void {
    if (text === this.text) return;
    this.field.value = text;
    this.look();
  }

  /** The same text in another input. */
  again(): void {
    if (this.text) this.look();
  }

  /** Goes to the next match after the pinned item or the left edge, or to the one before. */
  step(way: number): void {
    if (!this.text) return this.open();
    if (this.timer !== 0) this.look(); // what was typed counts, however quickly Enter comes
    this.asked = this.asked.then(() => this.goOn(way)).catch(() => {});
  }

  private look(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.control?.abort();
    this.all = null;
    const { text } = this;
    this.actions.mark(text.toLowerCase());
    this.count.textContent = '';
    if (text === '') {
      this.root.dataset.state = '';
      return;
    }
    this.root.dataset.state = 'waiting';
    const control = new AbortController();
    this.control = control;
    this.asked = this.source
      .search({ input: this.input(), text }, control.signal)
      .then((found) => {
        if (!control.signal.aborted) this.show(found);
      })
      .catch((error: unknown) => {
        if (control.signal.aborted) return;
        this.count.textContent = error instanceof Error ? error.message : 'failed';
        this.root.dataset.state = 'failed';
      });
  }

  private show({ total, matches }: Found): void {
    this.all = matches.length >= total ? matches : null;
    this.count.textContent = total === 0 ? 'no match' : `${decimal(total, 0)} match${total === 1 ? '' : 'es'}`;
    this.root.dataset.state = 'found';
  }

  private async goOn(way: number): Promise<void> {
    const match = await this.next(way);
    if (!match) return;
    if (this.all) this.count.textContent = `${this.all.indexOf(match) + 1} of ${this.all.length}`;
    this.actions.go(match);
  }

  private async next(way: number): Promise<Match | undefined> {
    const current = this.actions.current();
    const from = current?.start ?? this.actions.viewStart();
    if (this.all) {
      const at = current ? this.all.findIndex((each) => each.start_ns === from && each.lane === current.lane) : -1;
      const after = this.all.findIndex((each) => each.start_ns >= from);
      const place = at >= 0 ? at + way : way > 0 ? after : (after < 0 ? this.all.length : after) - 1;
      return this.all[(place + this.all.length) % this.all.length] ?? this.all[0];
    }
    const ask = async (edge: { from: number } | { before: number }): Promise<Match | undefined> =>
      (await this.source.search({ input: this.input(), text: this.text, limit: 1, ...edge })).matches[0];
    // Where there is none that way, from the other end.
    if (way > 0) return (await ask({ from: current ? from + 1 : from })) ?? ask({ from: -Number.MAX_SAFE_INTEGER });
    return (await ask({ before: from })) ?? ask({ before: Number.MAX_SAFE_INTEGER });
  }
}
