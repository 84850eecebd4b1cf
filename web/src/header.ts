// The head of the page: what the trace is, in one line, the other facts a click away, and what must be known of the report.

import { isTrace, type Cell, type Fact, type Input, type Report } from './data';
import { element, visible } from './dom';
import { showFact } from './facts';
import { decimal, percent, withUnit } from './format';
import { tellApart } from './inputnames';
import { areJobs, notesView, wholeOf } from './notes';

function factView(fact: Fact): HTMLElement {
  const shown = element('dd', { class: 'fact-value' });
  showFact(shown, fact);
  return element('div', { class: 'fact' }, element('dt', {}, fact.title), shown);
}

const count = (cell: Cell | undefined, noun: string): string | null =>
  typeof cell === 'number' ? `${decimal(cell, 0)} ${noun}${cell === 1 ? '' : 's'}` : null;
const amount = (cell: Cell | undefined, words: (text: string) => string): string | null =>
  typeof cell === 'number' ? words(withUnit(cell, 'ns')) : null;

/** The few facts that say what kind of a trace this is. */
function describe(input: Input): string[] {
  const known = new Map(input.shown.map(({ key, value }) => [key, value]));
  const of = (key: string): Cell | undefined => known.get(key) ?? input.facts?.[key];
  const devices = of('devices');
  const model = of('device_names');
  const gpu = typeof model === 'string' && model !== '' ? model : 'GPU';
  const busy = of('busy_share');
  const kernels = count(of('kernels'), 'kernel');
  const distinct = of('kernel_names');
  const steps = of('steps') === 0 ? null : count(of('steps'), 'step');
  const median = amount(of('step_median_ns'), (text) => `, median CPU time of a step ${text}`) ?? '';
  return [
    input.producer ?? input.format,
    typeof devices === 'number' ? (devices === 1 ? gpu : `${devices} \u00d7 ${gpu}`) : null,
    count(of('ranks'), 'rank'),
    amount(of('span_ns'), (text) => `${text} span`),
    typeof busy === 'number' ? `${percent(busy)} busy` : null,
    steps && steps + median,
    kernels && kernels + (typeof distinct === 'number' ? ` (${decimal(distinct, 0)} distinct)` : ''),
    input.selection,
  ].flatMap((text) => (text ? [visible(text)] : []));
}

export function titleOf(report: Report): string {
  // An arrow of two characters would be broken between them.
  const what = areJobs(report.inputs) ? 'jobs' : 'traces';
  return visible(report.heading ?? wholeOf(report)?.input ?? `${report.inputs.length} ${what}`).replace(
    ' -> ',
    ' \u2192 ',
  );
}

const FEW = 4; // traces, which the first screen has room for

/** Of several traces each: what it is, in a line. */
function tracesView(inputs: readonly Input[]): HTMLElement | null {
  if (inputs.length < 2) return null;
  const names = tellApart(inputs.map(({ input }) => input));
  const lines = inputs.map((input, place) =>
    element('li', {}, element('b', {}, visible(names[place]!)), ` ${describe(input).join(' \u00b7 ')}`),
  );
  const list = element('ul', { class: 'traces' }, ...lines);
  return inputs.length <= FEW
    ? list
    : element('details', { class: 'all-facts' }, element('summary', {}, `${inputs.length} traces`), list);
}

/** How many jobs traces are of that say a rank twice, or that there are different numbers of ranks. */
function countJobs(ranked: readonly Input[]): number {
  const counts = new Map<number, Map<number, number>>(); // number of ranks, rank
  for (const { rank, world_size: size } of ranked) {
    const of = counts.get(size!) ?? new Map<number, number>();
    counts.set(size!, of.set(rank!, (of.get(rank!) ?? 0) + 1));
  }
  return [...counts.values()].reduce((sum, of) => sum + Math.max(...of.values()), 0);
}

/** Ranks of several jobs are not one another's. */
function jobsView(inputs: readonly Input[]): HTMLElement | null {
  const ranked = inputs.filter(({ rank, world_size: size }) => rank != null && (size ?? 0) > 1);
  const jobs = countJobs(ranked);
  if (jobs < 2) return null;
  const folders = new Map<string, string[]>();
  for (const { path } of ranked) {
    const folder = /^(.*)\//.exec(path ?? '')?.[1] ?? '.';
    folders.set(folder, [...(folders.get(folder) ?? []), (path ?? '').slice(folder === '.' ? 0 : folder.length + 1)]);
  }
  const groups = [...folders].map(([folder, files]) => element('li', {}, visible(`${folder}: ${files.join(', ')}`)));
  return element(
    'div',
    { class: 'note warning jobs' },
    element(
      'p',
      {},
      `These look like ${jobs} jobs; the `,
      element('a', { href: '#view=ranks' }, 'Ranks view'),
      ' judges each by itself.',
    ),
    element('details', {}, element('summary', {}, 'Their files'), element('ul', {}, ...groups)),
  );
}

export function headerView(report: Report): HTMLElement {
  const whole = wholeOf(report);
  const only = report.inputs.length === 1 ? whole : undefined;
  const name = titleOf(report);
  const line = only ? describe(only) : [];
  const facts = only?.shown ?? [];
  return element(
    'header',
    { id: 'top' },
    element(
      'div',
      { class: 'title-line' },
      element('h1', {}, element('bdi', {}, name)),
      element('p', { class: 'origin' }, [`gputime ${report.command}`, ...line].join(' \u00b7 ')),
    ),
    facts.length > 0 &&
      element(
        'details',
        { class: 'all-facts' },
        element('summary', {}, `${facts.length} facts`),
        element('dl', { class: 'facts' }, ...facts.map(factView)),
      ),
    !only && !areJobs(report.inputs) && tracesView(report.inputs.filter(isTrace)),
    jobsView(report.inputs),
    notesView(report),
  );
}
