// The head of the page: which traces, the numbers everybody asks for first, and what must be known of the report.

import type { Fact, Report } from './data';
import { element, visible } from './dom';
import { showFact } from './facts';

function factView(fact: Fact): HTMLElement {
  const shown = element('dd', { class: 'fact-value' });
  showFact(shown, fact);
  return element('div', { class: 'fact' }, element('dt', {}, fact.title), shown);
}

export function headerView(report: Report): HTMLElement {
  const { inputs } = report;
  const only = inputs.length === 1 ? inputs[0] : undefined;
  const whole = only ?? inputs.find((input) => input.path === null); // what several traces were made into, as by diff
  // An arrow of two characters would be broken between them.
  const name = visible(report.heading ?? whole?.input ?? `${inputs.length} traces`).replace(' -> ', ' \u2192 ');
  document.title = `${name} \u00b7 gputime ${report.command}`;
  const origin = only && [only.producer, only.format, only.selection].filter((text) => text).map((t) => visible(t!));
  const notes = inputs.flatMap((input) =>
    input.notes.map((note) => visible(input === whole ? note : `${input.input}: ${note}`)),
  );
  return element(
    'header',
    { id: 'top' },
    element('p', { class: 'kicker' }, `gputime ${report.command}`),
    element('h1', {}, element('bdi', {}, name)),
    origin && element('p', { class: 'origin' }, origin.join(' \u00b7 ')),
    only && only.shown.length > 0 && element('dl', { class: 'facts' }, ...only.shown.map(factView)),
    ...notes.map((note) => element('p', { class: 'note' }, note)),
  );
}
