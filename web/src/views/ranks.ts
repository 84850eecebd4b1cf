// The ranks of a job, a row each: where their time went, the collectives that join them, who holds whom up.

import { accountOf, accountView } from '../account';
import type { Report } from '../data';
import { element, visible } from '../dom';
import type { SourceInput } from '../explore/source';
import { findingsView } from '../findings';
import { rowLinks } from '../links';
import { Panels } from '../panels';
import type { Session } from '../session';
import { later, missingView, viewFrame } from './parts';
import { rankLanesView, type RankPlace } from './rank-lanes';
import type { ViewKind } from './index';

const isJob = (report: Report | null): report is Report => (report?.tables['rank_steps']?.rows.length ?? 0) > 0;

/** Traces that say different ranks are of one job; two runs, or several jobs, say the same ones again. */
function isOneJob(inputs: readonly SourceInput[]): boolean {
  const ranks = inputs.map(({ rank }) => rank ?? null);
  return inputs.length > 1 && ranks.every((rank) => rank !== null) && new Set(ranks).size === ranks.length;
}

/** Goes to the timeline of a rank, where its trace is one of the inputs. */
function opener(session: Session): ((place: RankPlace) => void) | null {
  const { inputs } = session.source;
  if (!session.hasTimeline || inputs.length === 0) return null;
  return ({ rank, start, end }) => {
    const input = inputs.findIndex((each) => each.rank === rank);
    if (input >= 0) session.go({ input, start, end });
  };
}

function notesView(report: Report): HTMLElement | null {
  const notes = report.inputs.flatMap((input) => input.notes);
  return notes.length > 0
    ? element('section', { class: 'panel' }, ...notes.map((note) => element('p', {}, visible(note))))
    : null;
}

function jobView(session: Session, report: Report, isWhole: boolean): HTMLElement {
  const account = accountOf(report);
  const panels = new Panels(report, rowLinks(session));
  if (isWhole) void panels.fill(() => {});
  return element(
    'div',
    {},
    notesView(report),
    account && element('section', { class: 'panel' }, accountView(account)),
    rankLanesView(report, opener(session)),
    isWhole && findingsView(report, { point: (table, texts) => panels.point(table, texts), look: null }),
    isWhole && panels.root,
  );
}

export const ranksView: ViewKind = {
  key: 'ranks',
  title: 'Ranks',
  isOffered: ({ source, report }) => isJob(report) || isOneJob(source.inputs),
  make: (session) => {
    const { source, report } = session;
    const paths = report?.inputs.flatMap(({ path }) => (path === null ? [] : [path])) ?? [];
    const content = isJob(report)
      ? jobView(session, report, false) // its tables are in the overview
      : source.isLive
        ? later(
            () => source.ranks(),
            (answer) => answer && jobView(session, answer, true),
          )
        : missingView(
            session,
            'The traces of this page as ranks of one job:',
            `gputime ranks ${paths.join(' ')} --html -o ranks.html`,
          );
    return viewFrame(session, 'ranks', 'Ranks', 'Every trace as a rank of one job: who waits for whom.', content);
  },
};
