// The head of the page: what the trace is, in one line, the other facts a click away, and what must be known of the report.

import type { Cell, Fact, Input, Report } from './data';
import { element, visible } from './dom';
import { showFact } from './facts';
import { decimal, percent, withUnit } from './format';
import { tellApart } from './inputnames';

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

/** What a note of a job begins with, or says of a trace, where ranks are missing or several jobs are shown. */
const OF_JOBS =
  /^Left out: |' was only partly read \(|^These traces are of \d+ jobs|^\d+ of \d+ traces say |^No trace of rank/;

/** A note that names a problem by which data are lost is a warning; all others are only worth knowing. */
function noteView(report: Report, input: Input, note: string, whole: Input | undefined): HTMLElement {
  const isLoss =
    report.issues.some((issue) => issue.loss && note.includes(`(${issue.id}`)) ||
    (input.format === 'job' && OF_JOBS.test(note));
  const shown = visible(input === whole ? note : `${input.input}: ${note}`);
  return element('p', { class: isLoss ? 'note warning' : 'note' }, shown);
}

function notesView(report: Report, whole: Input | undefined): HTMLElement | null {
  const notes = report.inputs.flatMap((input) => input.notes.map((note) => noteView(report, input, note, whole)));
  if (notes.length === 0) return null;
  const isWarning = (note: HTMLElement): boolean => note.classList.contains('warning');
  const quiet = notes.filter((note) => !isWarning(note));
  const areJobs = report.inputs.every(({ format }) => format === 'job'); // each has a verdict
  const shown = whole ? quiet.slice(0, 1) : areJobs ? quiet : []; // of several traces none speaks for all
  const rest = quiet.slice(shown.length);
  const more = shown.length > 0 ? ' more' : '';
  return element(
    'div',
    { class: 'notes' },
    ...notes.filter(isWarning),
    ...shown,
    rest.length > 0 &&
      element(
        'details',
        {},
        element('summary', {}, `${rest.length}${more} note${rest.length === 1 ? '' : 's'}`),
        ...rest,
      ),
  );
}

/** What several traces were made into, as by diff, or the only one. */
function wholeOf({ inputs }: Report): Input | undefined {
  return inputs.length === 1 ? inputs[0] : inputs.find((input) => input.path === null);
}

export function titleOf(report: Report): string {
  // An arrow of two characters would be broken between them.
  const what = report.inputs.every(({ format }) => format === 'job') ? 'jobs' : 'traces';
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

/** Traces of jobs of several ranks that say a rank twice are of several jobs, which are not one another's ranks. */
function jobsView(inputs: readonly Input[]): HTMLElement | null {
  const ranked = inputs.filter(({ rank, world_size: size }) => rank != null && (size ?? 0) > 1);
  const counts = new Map<number, number>();
  for (const { rank } of ranked) counts.set(rank!, (counts.get(rank!) ?? 0) + 1);
  const jobs = Math.max(0, ...counts.values());
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
    element('p', {}, `These look like ${jobs} jobs: open one of them.`),
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
    !only && tracesView(report.inputs.filter(({ path }) => path !== null)),
    jobsView(report.inputs),
    notesView(report, whole),
  );
}
