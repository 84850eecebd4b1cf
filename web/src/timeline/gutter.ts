// The names of rows, left of the drawing: real text and buttons, which fold groups.

import { button, element, setHover, shorten, visible } from '../dom';
import { AXIS } from './axis';
import { counterText, scaleOf } from './curve';
import { BETWEEN, HEADING, type Fold, type Group, type Layout } from './lanes';

const CHARACTER = 6.4; // pixels of one, about

export interface GutterActions {
  fold(group: Group, to: Fold): void;
}

export class Gutter {
  readonly root = element('div', { class: 'timeline-names' });

  constructor(private readonly actions: GutterActions) {}

  show(layout: Layout, width: number): void {
    this.root.style.width = `${width}px`;
    this.root.style.height = `${layout.height}px`;
    this.root.style.top = `${AXIS}px`;
    const focused = this.root.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    const key = focused?.dataset.group;
    const room = Math.floor((width - 18) / CHARACTER);
    this.root.replaceChildren(...this.heads(layout, width), ...this.lanes(layout, room), ...this.mores(layout));
    if (key) [...this.root.querySelectorAll('button')].find((each) => each.dataset.group === key)?.focus();
  }

  private heads(layout: Layout, width: number): HTMLElement[] {
    return layout.heads.map(({ group, fold, top }) => {
      const isOpen = fold !== 'folded';
      const made = button('', { class: 'timeline-head', 'aria-expanded': String(isOpen) }, () =>
        this.actions.fold(group, isOpen ? 'folded' : 'some'),
      );
      made.dataset.group = group.id;
      const title = visible(group.title);
      const room = Math.floor((width - 26) / 6.8);
      made.append(
        element('span', { class: 'timeline-fold', 'aria-hidden': 'true' }, isOpen ? '\u25be' : '\u25b8'),
        ...this.headText(title, Math.max(room, 8)),
      );
      setHover(made, group.note ? `${title}: ${group.note}` : title);
      made.style.top = `${top}px`;
      made.style.height = `${HEADING}px`;
      return made;
    });
  }

  /** Of a thread its name comes first, and its number where there is room for it. */
  private headText(title: string, room: number): HTMLElement[] {
    const [, number = '', name = ''] = /^(thread \d+) \((.*)\)$/.exec(title) ?? [];
    if (!name) return [element('span', {}, shorten(title, room))];
    const made = [element('span', {}, shorten(name, room))];
    if (name.length + number.length < room) made.push(element('small', {}, ` ${number}`));
    return made;
  }

  private lanes(layout: Layout, room: number): HTMLElement[] {
    const previews = new Set(layout.heads.map(({ preview }) => preview));
    return layout.lanes
      .filter((lane) => !previews.has(lane))
      .map((lane) => {
        const made = element('div', { class: 'timeline-name' });
        made.append(element('span', {}, ...this.headText(visible(lane.label), room)));
        if (lane.packed.kind === 'counters') {
          const [low, high] = scaleOf(lane.packed);
          const { unit } = lane.packed;
          const text = `${low < 0 ? `${counterText(low, unit)} to ` : 'up to '}${counterText(high, unit)}`;
          made.append(element('small', {}, shorten(text, room)));
        }
        setHover(made, visible(lane.detail));
        made.style.top = `${lane.top}px`;
        made.style.height = `${lane.height + BETWEEN}px`;
        return made;
      });
  }

  private mores(layout: Layout): HTMLElement[] {
    return layout.mores.map(({ group, top, count }) => {
      const text = count > 0 ? `${count} more row${count === 1 ? '' : 's'}` : 'fewer rows';
      const made = button(text, { class: 'timeline-other', 'aria-label': `${visible(group.title)}: ${text}` }, () =>
        this.actions.fold(group, count > 0 ? 'all' : 'some'),
      );
      made.dataset.group = `${group.id}+`;
      made.style.top = `${top}px`;
      return made;
    });
  }
}
