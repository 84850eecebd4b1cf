// The way around the page: a list of its sections, and the switch between light and dark.

import type { Report } from './data';
import { button, element } from './dom';
import { setTheme, type Theme } from './theme';

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function themeSwitch(): HTMLElement {
  let at = 0;
  const text = (): string => `Colours: ${THEMES[at]}`;
  const made = button(text(), { class: 'quiet theme' }, () => {
    at = (at + 1) % THEMES.length;
    setTheme(THEMES[at]!);
    made.textContent = text();
  });
  return made;
}

export class Navigation {
  readonly root: HTMLElement;
  private readonly list = element('ul');
  private readonly links = new Map<Element, HTMLElement>();
  private readonly watcher = new IntersectionObserver((entries) => this.mark(entries), {
    rootMargin: '-10% 0px -75% 0px',
  });

  constructor(report: Report) {
    this.root = element(
      'nav',
      { 'aria-label': 'Sections' },
      element('a', { href: '#content', class: 'skip' }, 'Skip to the report'),
      element('a', { href: '#top', class: 'brand' }, 'gputime'),
      this.list,
      themeSwitch(),
      element('p', { class: 'version' }, `version ${report.tool.version}`),
    );
  }

  add(section: HTMLElement): void {
    const link = element('a', { href: `#${section.id}` }, section.querySelector('h2')?.textContent ?? section.id);
    this.links.set(section, link);
    this.list.append(element('li', {}, link));
    this.watcher.observe(section);
  }

  /** The section that is being read. */
  private mark(entries: readonly IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of this.links.values()) link.removeAttribute('aria-current');
      this.links.get(entry.target)?.setAttribute('aria-current', 'true');
    }
  }
}
