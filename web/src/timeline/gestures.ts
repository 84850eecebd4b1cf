// What the hands do: wheel, drag, pinch and keys become zooming, panning and choosing.

export interface Actions {
  /** Factors above 1 show more; x in pixels of the drawing, null: its middle. */
  zoom(factor: number, x: number | null, smooth: boolean): void;
  /** By a part of what is shown. */
  pan(share: number, smooth: boolean): void;
  drag(pixels: number): void;
  scroll(pixels: number): void;
  fit(): void;
  point(x: number, y: number): void;
  choose(x: number, y: number): void;
  enter(x: number, y: number): void;
  leave(): void;
  release(): void;
  step(items: number): void;
  move(lanes: number): void;
  refuseWheel(y: number): void;
}

const KEYS: Readonly<Record<string, (actions: Actions) => void>> = {
  w: (actions) => actions.zoom(0.6, null, true),
  s: (actions) => actions.zoom(1 / 0.6, null, true),
  a: (actions) => actions.pan(-0.25, true),
  d: (actions) => actions.pan(0.25, true),
  '+': (actions) => actions.zoom(0.6, null, true),
  '=': (actions) => actions.zoom(0.6, null, true),
  '-': (actions) => actions.zoom(1 / 0.6, null, true),
  f: (actions) => actions.fit(),
  '0': (actions) => actions.fit(),
  ArrowLeft: (actions) => actions.pan(-0.1, true),
  ArrowRight: (actions) => actions.pan(0.1, true),
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
      const wantsZoom = event.ctrlKey || event.metaKey || document.activeElement === target;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        actions.drag(-sideways * unit);
      } else if (wantsZoom) {
        // Pinching a touchpad comes as a wheel with Ctrl and small steps.
        const factor = Math.exp(event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002));
        actions.zoom(factor, event.clientX - surface.getBoundingClientRect().left, false);
      } else {
        actions.refuseWheel(event.clientY - surface.getBoundingClientRect().top); // the page scrolls: a timeline must not be a trap on the way down
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
}

function distance(fingers: readonly Finger[]): number {
  return Math.max(Math.abs(fingers[0]!.x - fingers[1]!.x), 10);
}

function pointers(target: HTMLElement, surface: HTMLElement, actions: Actions): void {
  const down = new Map<number, Finger>();
  const place = (event: PointerEvent | MouseEvent): { x: number; y: number } => {
    const box = surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  target.addEventListener('pointerdown', (event) => {
    const { x, y } = place(event);
    if (event.button !== 0 || x > surface.clientWidth) return;
    down.set(event.pointerId, { x, y, fromX: x, fromY: y });
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
    if (event.pointerType === 'mouse') actions.scroll(finger.y - y);
    finger.x = x;
    finger.y = y;
    if (before.length === 2) {
      actions.zoom(wide / distance(before), (before[0]!.x + before[1]!.x) / 2, false);
    } else if (Math.abs(x - finger.fromX) > STILL || target.hasPointerCapture(event.pointerId)) {
      if (!target.hasPointerCapture(event.pointerId)) target.setPointerCapture(event.pointerId);
      actions.drag(shift);
    }
  });
  const lift = (event: PointerEvent): void => {
    const finger = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!finger || event.type === 'pointercancel' || down.size > 0) return;
    const still = Math.abs(finger.x - finger.fromX) <= STILL && Math.abs(finger.y - finger.fromY) <= STILL;
    if (still) actions.choose(finger.x, finger.y);
  };
  target.addEventListener('pointerup', lift);
  target.addEventListener('pointercancel', lift);
  target.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse' && down.size === 0) actions.leave();
  });
  target.addEventListener('dblclick', (event) => {
    const { x, y } = place(event);
    actions.enter(x, y);
  });
}

export function listen(target: HTMLElement, surface: HTMLElement, actions: Actions): void {
  wheel(target, surface, actions);
  pointers(target, surface, actions);
  target.addEventListener('keydown', (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(actions);
  });
}
