// The way around the page: a list of its sections, and the switch between light and dark.

import type { Report } from './data';
import { button, element } from './dom';
import { setTheme, type Theme } from './theme';

const READ = 0.25; // of the window: a section that begins above is being read

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
    addEventListener('scroll', () => this.mark(), { passive: true });
  }

  add(section: HTMLElement): void {
    const link = element('a', { href: `#${section.id}` }, section.querySelector('h2')?.textContent ?? section.id);
    this.links.set(section, link);
    this.list.append(element('li', {}, link));
    if (this.links.size === 1) this.mark();
  }

  /** The section that is being read: the last one that has come into the upper part, at the end the last of all. */
  private mark(): void {
    const isEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const reached = innerHeight * (isEnd ? 1 : READ);
    let current: HTMLElement | undefined;
    for (const [section, link] of this.links)
      if (!current || section.getBoundingClientRect().top < reached) current = link;
    if (!current || current.hasAttribute('aria-current')) return;
    for (const link of this.links.values()) link.removeAttribute('aria-current');
    current.setAttribute('aria-current', 'true');
    this.list.scrollTo({
      left: current.offsetLeft - this.list.offsetLeft - (this.list.clientWidth - current.offsetWidth) / 2,
      top: current.offsetTop - this.list.offsetTop - (this.list.clientHeight - current.offsetHeight) / 2,
    });
  }
}
