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

/** Marks the link of the section that is being read. */
function follow(links: ReadonlyMap<Element, HTMLElement>): void {
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute('aria-current');
        links.get(entry.target)?.setAttribute('aria-current', 'true');
      }
    },
    { rootMargin: '-10% 0px -75% 0px' },
  );
  for (const section of links.keys()) watcher.observe(section);
}

export function buildNavigation(report: Report, main: HTMLElement): HTMLElement {
  const links = new Map<Element, HTMLElement>();
  const list = element('ul');
  for (const section of main.querySelectorAll('section.panel')) {
    const link = element('a', { href: `#${section.id}` }, section.querySelector('h2')?.textContent ?? section.id);
    links.set(section, link);
    list.append(element('li', {}, link));
  }
  follow(links);
  return element(
    'nav',
    { 'aria-label': 'Sections' },
    element('a', { href: '#content', class: 'skip' }, 'Skip to the report'),
    element('a', { href: '#top', class: 'brand' }, 'gputime'),
    list,
    themeSwitch(),
    element('p', { class: 'version' }, `version ${report.tool.version}`),
  );
}
