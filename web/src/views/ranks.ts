// The ranks of a job, a row each: where their time went, the collectives that join them, who holds whom up.

import { accountOf, accountView } from '../account';
import type { Report } from '../data';
import { element } from '../dom';
import type { SourceInput } from '../explore/source';
import { findingsView } from '../findings';
import { rowLinks } from '../links';
import { notesView } from '../notes';
import { Panels } from '../panels';
import type { Session } from '../session';
import { later, missingView, viewFrame } from './parts';
import { rankLanesView, type RankPlace } from './rank-lanes';
import type { ViewKind } from './index';

const isJob = (report: Report | null): report is Report => (report?.tables['rank_steps']?.rows.length ?? 0) > 0;

const ranksOf = (inputs: readonly SourceInput[]): number[] => inputs.flatMap(({ rank }) => rank ?? []);

/** Traces of different ranks are of a job, or of several, which have the same ranks again; runs of one rank are not. */
const haveRanks = (inputs: readonly SourceInput[]): boolean => new Set(ranksOf(inputs)).size > 1;

/** Goes to the timeline of a rank, where its trace is one of the inputs and no other has this rank. */
function opener(session: Session): ((place: RankPlace) => void) | null {
  const { inputs } = session.source;
  const ranks = ranksOf(inputs);
  if (!session.hasTimeline || new Set(ranks).size < ranks.length) return null;
  return ({ rank, start, end }) => {
    const input = inputs.findIndex((each) => each.rank === rank);
    if (input >= 0) session.go({ input, start, end });
  };
}

function jobView(session: Session, report: Report, isWhole: boolean): HTMLElement {
  const account = accountOf(report);
  const notes = notesView(report);
  const panels = new Panels(report, rowLinks(session));
  if (isWhole) void panels.fill(() => {});
  return element(
    'div',
    {},
    notes && element('section', { class: 'panel' }, notes),
    account && element('section', { class: 'panel' }, accountView(account)),
    rankLanesView(report, opener(session)),
    isWhole && findingsView(report, { point: (table, texts) => panels.point(table, texts), look: null }),
    isWhole && panels.root,
  );
}

export const ranksView: ViewKind = {
  key: 'ranks',
  title: 'Ranks',
  isOffered: ({ source, report }) => isJob(report) || haveRanks(source.inputs),
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
            'The traces of this page as ranks of their job:',
            `gputime ranks ${paths.join(' ')} --html -o ranks.html`,
          );
    return viewFrame(session, 'ranks', 'Ranks', 'Every trace as a rank of its job: who waits for whom.', content);
  },
};
