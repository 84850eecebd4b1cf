// The way around the page: its views, the sections of the one that is shown, and the switch between light and dark.

import { button, element } from './dom';
import { setTheme, type Theme } from './theme';

const READ = 0.13; // of the window: a section that begins above is being read

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

export interface Tab {
  readonly key: string;
  readonly title: string;
}

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
  private readonly list = element('ul', { class: 'sections' });
  private readonly views = element('ul', { class: 'views' });
  private readonly version = element('p', { class: 'version' });
  private readonly links = new Map<Element, HTMLElement>();
  private readonly tabs = new Map<string, HTMLElement>();

  constructor(private readonly open: (view: string) => void) {
    this.root = element(
      'nav',
      { 'aria-label': 'Views and sections' },
      element('a', { href: '#content', class: 'skip' }, 'Skip to the report'),
      element('a', { href: '#top', class: 'brand' }, 'gputime'),
      this.views,
      this.list,
      themeSwitch(),
      this.version,
    );
    addEventListener('scroll', () => this.mark(), { passive: true });
  }

  setVersion(version: string): void {
    this.version.textContent = `version ${version}`;
  }

  /** One view alone is no choice. */
  setViews(tabs: readonly Tab[]): void {
    this.tabs.clear();
    const items = tabs.map(({ key, title }, place) => {
      const tab = button(title, { class: 'view-tab', title: `${title} (${place + 1})`, 'data-view': key }, () =>
        this.open(key),
      );
      this.tabs.set(key, tab);
      return element('li', {}, tab);
    });
    this.views.hidden = tabs.length < 2;
    this.views.replaceChildren(...items);
  }

  markView(key: string): void {
    for (const [each, tab] of this.tabs)
      if (each === key) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    const tab = this.tabs.get(key);
    if (tab) this.views.scrollTo({ left: tab.offsetLeft - this.views.offsetLeft - this.views.clientWidth / 2 });
    this.list.hidden = key !== 'overview';
  }

  clear(): void {
    this.links.clear();
    this.list.replaceChildren();
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
