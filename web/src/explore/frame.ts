// What is around the drawing: its tools, the panes below it, full screen, and its height.

import { button, element, visible } from '../dom';
import type { TimelineView } from '../timeline/view';
import type { Source } from './source';

export interface FrameActions {
  zoom(factor: number): void;
  pan(share: number): void;
  fit(): void;
  help(): void;
  turn(input: number): void;
}

/** A part below the drawing that comes and goes. */
class Pane {
  readonly root: HTMLElement;

  constructor(label: string) {
    this.root = element('section', { class: 'explorer-pane', 'aria-label': label, hidden: true, tabindex: 0 });
  }

  show(content: HTMLElement): void {
    this.root.hidden = false;
    this.root.replaceChildren(content);
    this.root.scrollTop = 0;
  }

  hide(): void {
    this.root.hidden = true;
    this.root.replaceChildren();
  }
}

export interface FrameParts {
  readonly search: HTMLElement;
  readonly legend: HTMLElement;
  readonly tables: HTMLElement;
  readonly help: HTMLElement;
}

const LEAST_HEIGHT = 260;
const GRIP_STEP = 40;

/** Four corners. */
function corners(): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  for (const [name, value] of Object.entries({
    viewBox: '0 0 12 12',
    width: '12',
    height: '12',
    'aria-hidden': 'true',
  }))
    made.setAttribute(name, value);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', 'M1 4V1h3M8 1h3v3M11 8v3H8M4 11H1V8');
  path.setAttribute('fill', 'none');
  path.setAttribute('stroke', 'currentColor');
  path.setAttribute('stroke-width', '1.5');
  made.append(path);
  return made;
}

export class Frame {
  readonly root: HTMLElement;
  readonly item = new Pane('Pinned item');
  readonly chosen = new Pane('Selected time');
  readonly range = element('output', { class: 'counter' });
  readonly more = element('div', { class: 'timeline-more', hidden: true });
  readonly spoken = element('p', { class: 'offscreen', 'aria-live': 'polite' });
  private readonly stage = element('div', { class: 'explorer-stage' });
  private readonly panes = element('div', { class: 'explorer-panes' });
  private readonly box: HTMLElement;
  private readonly choice: HTMLSelectElement;
  private readonly problem = element('p', { class: 'explorer-problem', role: 'status', hidden: true });

  constructor(
    source: Source,
    isMain: boolean, // the one of the page: others have no title, and no choice of the trace
    { search, legend, tables, help }: FrameParts,
    private readonly actions: FrameActions,
  ) {
    this.choice = element(
      'select',
      { 'aria-label': 'Trace', hidden: !isMain || source.inputs.length < 2 },
      ...source.inputs.map(({ input }, i) => element('option', { value: i }, visible(input))),
    );
    this.choice.addEventListener('change', () => actions.turn(Number(this.choice.value)));
    this.panes.append(this.item.root, this.chosen.root);
    this.box = element(
      'div',
      { class: 'explorer-box' },
      element(
        'div',
        { class: 'explorer-tools' },
        isMain && element('h2', { id: 'title-timeline' }, 'Timeline'),
        this.choice,
        this.range,
        search,
        this.buttons(),
      ),
      this.problem,
      this.stage,
      this.panes,
      legend,
    );
    this.root = element(
      'section',
      isMain
        ? { class: 'panel explorer', id: 'timeline', 'aria-labelledby': 'title-timeline' }
        : { class: 'explorer', 'aria-label': 'Timeline' },
      this.box,
      this.grip(),
      this.more,
      this.spoken,
      tables,
      help,
    );
  }

  /** While an input is read. */
  wait(input: number): void {
    this.choice.value = String(input);
    this.stage.setAttribute('aria-busy', 'true');
    if (!this.stage.firstChild)
      this.stage.replaceChildren(element('p', { class: 'explorer-wait' }, 'Reading the trace\u2026'));
  }

  show(view: TimelineView, input: number, summary: string): void {
    this.choice.value = String(input);
    this.stage.removeAttribute('aria-busy');
    this.stage.replaceChildren(view.root);
    this.range.title = summary;
    this.problem.hidden = true;
  }

  fail(reason: string): void {
    this.stage.removeAttribute('aria-busy');
    this.stage.replaceChildren(
      element('p', { class: 'explorer-wait' }, `This trace cannot be shown: ${visible(reason)}`),
    );
  }

  complain(reason: string): void {
    this.problem.hidden = false;
    this.problem.textContent = `Part of the timeline could not be read: ${visible(reason)}`;
  }

  /** What a link asks for and is not there. */
  note(text: string): void {
    this.problem.hidden = false;
    this.problem.textContent = text;
  }

  private buttons(): HTMLElement {
    const { actions } = this;
    const full = button('', { 'aria-label': 'Full screen', title: 'Full screen', 'aria-pressed': 'false' }, () =>
      this.toggleFull(full),
    );
    full.append(corners());
    document.addEventListener('fullscreenchange', () => {
      if (!document.fullscreenElement) this.setFull(full, false);
    });
    return element(
      'div',
      { class: 'explorer-buttons', role: 'group', 'aria-label': 'View' },
      button('\u2212', { 'aria-label': 'Zoom out', title: 'Zoom out (s)' }, () => actions.zoom(1 / 0.6)),
      button('+', { 'aria-label': 'Zoom in', title: 'Zoom in (w)' }, () => actions.zoom(0.6)),
      button('\u2190', { 'aria-label': 'Earlier', title: 'Earlier (a)' }, () => actions.pan(-0.25)),
      button('\u2192', { 'aria-label': 'Later', title: 'Later (d)' }, () => actions.pan(0.25)),
      button('Fit', { title: 'Fit all (0)' }, () => actions.fit()),
      full,
      button('?', { 'aria-label': 'Keys', title: 'Keys and pointer (?)' }, () => actions.help()),
    );
  }

  /** The whole window at once; the whole screen where the browser gives it. */
  private toggleFull(full: HTMLElement): void {
    const isOn = !this.root.classList.contains('is-full');
    this.setFull(full, isOn);
    if (isOn) void this.root.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) void document.exitFullscreen().catch(() => {});
  }

  private setFull(full: HTMLElement, isOn: boolean): void {
    this.root.classList.toggle('is-full', isOn);
    full.setAttribute('aria-pressed', String(isOn));
  }

  /** The lower edge, which is dragged or moved with the arrow keys. */
  private grip(): HTMLElement {
    const made = element('div', {
      class: 'explorer-grip',
      role: 'separator',
      tabindex: 0,
      'aria-orientation': 'horizontal',
      'aria-label': 'Height of the timeline',
      'aria-valuenow': 0,
    });
    const set = (height: number): void => {
      const px = Math.round(Math.max(height, LEAST_HEIGHT));
      this.root.style.setProperty('--explorer-height', `${px}px`);
      made.setAttribute('aria-valuenow', String(px));
    };
    made.addEventListener('pointerdown', (event) => {
      made.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    made.addEventListener('pointermove', (event) => {
      if (made.hasPointerCapture(event.pointerId))
        set(event.clientY - this.box.getBoundingClientRect().top - this.panes.offsetHeight);
    });
    made.addEventListener('keydown', (event) => {
      const way = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (way === 0) return;
      event.preventDefault();
      event.stopPropagation();
      set(this.box.offsetHeight - this.panes.offsetHeight + way * GRIP_STEP);
    });
    return made;
  }
}
