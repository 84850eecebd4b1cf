// What is said of a report in sentences: warnings, which are of data that are missing, then what else is worth knowing.

import type { Input, Report } from './data';
import { element, visible } from './dom';

const FEW = 4; // jobs, which the first screen has room for

export const areJobs = (inputs: readonly Input[]): boolean => inputs.every(({ format }) => format === 'job');

/** What several traces were made into, as by diff, or the only one. */
export function wholeOf({ inputs }: Report): Input | undefined {
  return inputs.length === 1 ? inputs[0] : inputs.find(({ format }) => format === 'comparison');
}

const isWarning = (input: Input, note: string): boolean => input.warnings?.includes(note) ?? false;
const warningView = (text: string): HTMLElement => element('p', { class: 'note warning' }, visible(text));

function foldedView(lines: readonly HTMLElement[], summary: string): HTMLElement | false {
  return lines.length > 0 && element('details', {}, element('summary', {}, summary), ...lines);
}

/** A line for each job: its name, its traces and its verdict. */
function jobView({ input, notes }: Input): HTMLElement {
  return element('p', { class: 'note job' }, element('b', {}, visible(input)), ` ${visible(notes.join(' '))}`);
}

/** Warnings that the first job begins with are about all jobs. */
function jobsView({ inputs }: Report): HTMLElement {
  const ofAll = inputs[0]!.notes.findIndex((note) => !isWarning(inputs[0]!, note));
  const warnings = inputs.flatMap((input, place) =>
    input.notes.flatMap((note, at) => {
      if (!isWarning(input, note)) return [];
      return [warningView(place === 0 && (ofAll < 0 || at < ofAll) ? note : `${input.input}: ${note}`)];
    }),
  );
  const quiet = inputs.map((input) => ({ ...input, notes: input.notes.filter((note) => !isWarning(input, note)) }));
  const jobs = quiet.map(jobView);
  const rest = jobs.slice(FEW);
  return element(
    'div',
    { class: 'notes' },
    ...warnings,
    ...jobs.slice(0, FEW),
    foldedView(rest, `${rest.length} more job${rest.length === 1 ? '' : 's'}`),
  );
}

/** Of several traces none speaks for all. */
function tracesView(report: Report): HTMLElement | null {
  const whole = wholeOf(report);
  const told = report.inputs.flatMap((input) =>
    input.notes.map((note) => ({
      text: input === whole ? note : `${input.input}: ${note}`,
      isLoud: isWarning(input, note),
    })),
  );
  if (told.length === 0) return null;
  const quiet = told.filter(({ isLoud }) => !isLoud).map(({ text }) => element('p', { class: 'note' }, visible(text)));
  const shown = whole ? quiet.slice(0, 1) : [];
  const rest = quiet.slice(shown.length);
  const more = shown.length > 0 ? ' more' : '';
  return element(
    'div',
    { class: 'notes' },
    ...told.filter(({ isLoud }) => isLoud).map(({ text }) => warningView(text)),
    ...shown,
    foldedView(rest, `${rest.length}${more} note${rest.length === 1 ? '' : 's'}`),
  );
}

export function notesView(report: Report): HTMLElement | null {
  return areJobs(report.inputs) && report.inputs.length > 1 ? jobsView(report) : tracesView(report);
}
