// A box that scrolls sideways and says so: its edge fades where more is hidden, and a button goes there.

import { button, element } from './dom';

const PART = 0.7; // of the box, that a click goes on by

/** The frame to put in place of a box that scrolls. */
export function sideways(port: HTMLElement, content: HTMLElement): HTMLElement {
  const more = button(
    '\u203a',
    { class: 'more', 'aria-label': 'More columns to the right', title: 'More columns' },
    () => port.scrollBy({ left: port.clientWidth * PART, behavior: 'smooth' }),
  );
  const frame = element('div', { class: 'port-frame' }, port, more);
  const look = (): void => {
    const hidden = port.scrollWidth - port.clientWidth - port.scrollLeft;
    frame.classList.toggle('has-more', hidden > 1);
    frame.classList.toggle('is-scrolled', port.scrollLeft > 1);
    frame.style.setProperty('--scrollbar', `${Math.max(0, port.offsetWidth - port.clientWidth - 1)}px`);
  };
  port.addEventListener('scroll', look, { passive: true });
  const watcher = new ResizeObserver(look);
  watcher.observe(port);
  watcher.observe(content);
  return frame;
}
