// The views besides the overview, in the order of their tabs.

import type { Session, Subject } from '../session';
import { compareView } from './compare';
import { flameView } from './flame';
import { kernelView } from './kernel';
import { memoryView } from './memory';
import { ranksView } from './ranks';
import { sqlView } from './sql';
import { stepsView } from './steps';

export interface ViewKind {
  readonly key: string;
  readonly title: string;
  /** Whether these traces have anything for it, or could have with a server. */
  isOffered(session: Session): boolean;
  make(session: Session, subject: Subject): HTMLElement;
}

export const views: readonly ViewKind[] = [
  flameView,
  kernelView,
  stepsView,
  compareView,
  ranksView,
  memoryView,
  sqlView,
];
