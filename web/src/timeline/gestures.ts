// What the hands do: wheel, drag, pinch and keys become zooming, panning and choosing.

export interface Actions {
  /** Factors above 1 show more; x in pixels of the drawing, null: its middle. */
  zoom(factor: number, x: number | null, smooth: boolean): void;
  /** By a part of what is shown. */
  pan(share: number, smooth: boolean): void;
  drag(pixels: number): void;
  scroll(pixels: number): void;
  fit(): void;
  /** To the pinned item; all where it fills the view already. */
  focusItem(): void;
  point(x: number, y: number): void;
  choose(x: number, y: number): void;
  enter(x: number, y: number): void;
  leave(): void;
  release(): void;
  step(items: number): void;
  move(lanes: number): void;
  /** Whether a press here chooses a part of the time. */
  isAxis(x: number, y: number): boolean;
  /** Between two places of one drag; not yet done while `isDone` is false. */
  select(fromX: number, toX: number, isDone: boolean): void;
  markItem(): void;
  find(step: number): void;
  openSearch(): void;
  openHelp(): void;
  refuseWheel(y: number): void;
}

type Act = (actions: Actions) => void;

/** Keys, and what the help says of them. */
export const KEYS: Readonly<Record<string, Act>> = {
  w: (actions) => actions.zoom(0.6, null, true),
  s: (actions) => actions.zoom(1 / 0.6, null, true),
  a: (actions) => actions.pan(-0.25, true),
  d: (actions) => actions.pan(0.25, true),
  '+': (actions) => actions.zoom(0.6, null, true),
  '=': (actions) => actions.zoom(0.6, null, true),
  '-': (actions) => actions.zoom(1 / 0.6, null, true),
  f: (actions) => actions.focusItem(),
  '0': (actions) => actions.fit(),
  m: (actions) => actions.markItem(),
  n: (actions) => actions.find(1),
  N: (actions) => actions.find(-1),
  '/': (actions) => actions.openSearch(),
  '?': (actions) => actions.openHelp(),
  ArrowLeft: (actions) => actions.step(-1),
  ArrowRight: (actions) => actions.step(1),
  ArrowUp: (actions) => actions.move(-1),
  ArrowDown: (actions) => actions.move(1),
  '.': (actions) => actions.step(1),
  ',': (actions) => actions.step(-1),
  Home: (actions) => actions.pan(-Infinity, true),
  End: (actions) => actions.pan(Infinity, true),
  Escape: (actions) => actions.release(),
};

const LINE = 16; // pixels that one line of a wheel counts for
const STILL = 5; // pixels a press may move and still be a click

function wheel(target: HTMLElement, surface: HTMLElement, actions: Actions): void {
  target.addEventListener(
    'wheel',
    (event) => {
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        actions.drag(-sideways * unit);
      } else if (event.ctrlKey || event.metaKey) {
        // Pinching a touchpad comes as a wheel with Ctrl and small steps; a wheel has large ones.
        const way = Math.max(-120, Math.min(120, event.deltaY * unit));
        actions.zoom(
          Math.exp(way * (Math.abs(way) < 50 ? 0.01 : 0.004)),
          event.clientX - surface.getBoundingClientRect().left,
          false,
        );
      } else {
        // Rows or the page scroll: a timeline must not be a trap on the way down.
        if (target.scrollHeight <= target.clientHeight)
          actions.refuseWheel(event.clientY - surface.getBoundingClientRect().top);
        return;
      }
      event.preventDefault();
    },
    { passive: false },
  );
}

interface Finger {
  x: number;
  y: number;
  readonly fromX: number;
  readonly fromY: number;
  readonly selects: boolean;
}

function distance(fingers: readonly Finger[]): number {
  return Math.max(Math.abs(fingers[0]!.x - fingers[1]!.x), 10);
}

function isStill({ x, y, fromX, fromY }: Finger): boolean {
  return Math.abs(x - fromX) <= STILL && Math.abs(y - fromY) <= STILL;
}

function pointers(target: HTMLElement, surface: HTMLElement, actions: Actions): void {
  const down = new Map<number, Finger>();
  const place = (event: PointerEvent | MouseEvent): { x: number; y: number } => {
    const box = surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const isNames = (event: Event): boolean => event.target instanceof Element && event.target.closest('button') !== null;
  target.addEventListener('pointerdown', (event) => {
    const { x, y } = place(event);
    if (event.button !== 0 || x > surface.clientWidth || isNames(event)) return;
    const selects = event.pointerType === 'mouse' && (event.shiftKey || actions.isAxis(x, y));
    down.set(event.pointerId, { x, y, fromX: x, fromY: y, selects });
  });
  target.addEventListener('pointermove', (event) => {
    const { x, y } = place(event);
    const finger = down.get(event.pointerId);
    if (!finger) {
      if (event.pointerType === 'mouse') actions.point(x, y);
      return;
    }
    const before = [...down.values()];
    const wide = before.length === 2 ? distance(before) : 0;
    const shift = x - finger.x;
    const rise = finger.y - y;
    finger.x = x;
    finger.y = y;
    if (before.length === 2) {
      actions.zoom(wide / distance(before), (before[0]!.x + before[1]!.x) / 2, false);
      return;
    }
    if (isStill(finger) && !target.hasPointerCapture(event.pointerId)) return;
    if (!target.hasPointerCapture(event.pointerId)) target.setPointerCapture(event.pointerId);
    if (finger.selects) {
      actions.select(finger.fromX, x, false);
      return;
    }
    if (event.pointerType === 'mouse') actions.scroll(rise);
    actions.drag(shift);
  });
  const lift = (event: PointerEvent): void => {
    const finger = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!finger || event.type === 'pointercancel' || down.size > 0) return;
    if (isStill(finger)) actions.choose(finger.x, finger.y);
    else if (finger.selects) actions.select(finger.fromX, finger.x, true);
  };
  target.addEventListener('pointerup', lift);
  target.addEventListener('pointercancel', lift);
  target.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse' && down.size === 0) actions.leave();
  });
  target.addEventListener('dblclick', (event) => {
    const { x, y } = place(event);
    if (!isNames(event)) actions.enter(x, y);
  });
}

export function listen(target: HTMLElement, surface: HTMLElement, actions: Actions): void {
  wheel(target, surface, actions);
  pointers(target, surface, actions);
  target.addEventListener('keydown', (event) => {
    const isButton = event.target instanceof HTMLButtonElement && (event.key === 'Enter' || event.key === ' ');
    const act = event.ctrlKey || event.metaKey || event.altKey || isButton ? undefined : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(actions);
  });
}
