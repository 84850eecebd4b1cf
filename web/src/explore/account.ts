// Where the time of a chosen part went, from the items that a page has: exact while none of them is joined there.

import { between, type Row } from '../timeline/rows';
import type { Catalog } from '../timeline/catalog';
import { lengthOf, type Span } from '../timeline/span';

export interface Share {
  readonly name: string; // a part of the time, or a cause
  readonly ns: number;
}

export interface Account {
  readonly device: number | null;
  readonly parts: readonly Share[]; // they sum to the length
}

export interface KernelShare extends Share {
  readonly isKernel: boolean; // not a copy or a fill
  readonly count: number;
}

export interface GapShare extends Share, Span {
  readonly lane: number | null;
}

/** What is told of a part of the time. */
export interface Told {
  readonly accounts: readonly Account[];
  readonly kernels: readonly KernelShare[]; // the first of so many
  readonly kernelCount: number;
  readonly gaps: readonly GapShare[];
  readonly gapCount: number;
}

/** Where a GPU is neither busy nor between two ops. */
export const REST = 'before the first or after the last op';

type Class = 'compute' | 'exposed communication' | 'exposed memory';
const CLASSES: readonly Class[] = ['compute', 'exposed communication', 'exposed memory'];

function classOf(category: string | null | undefined): Class {
  if (category === 'comm') return 'exposed communication';
  return category?.startsWith('mem') ? 'exposed memory' : 'compute';
}

/** Visits the items of a row that lie in a part, cut to it; false where one is of several. */
function visit(row: Row, part: Span, each: (item: number, start: number, end: number) => void): boolean {
  const [first, last] = between(row, part.start, part.end);
  for (let i = first; i < last; i++) {
    const start = Math.max(row.start[i]!, part.start);
    const end = Math.min(row.end[i]!, part.end);
    if (end < start || row.start[i]! >= part.end) continue;
    if (row.count[i]! > 1) return false;
    if (row.end[i]! > part.start) each(i, start, end);
  }
  return true;
}

/** The time of each class while nothing of a higher one ran. */
function exclusive(edges: { time: number; class: number; step: number }[]): number[] {
  edges.sort((a, b) => a.time - b.time);
  const open = [0, 0, 0];
  const sums = [0, 0, 0];
  let before = 0;
  for (const { time, class: at, step } of edges) {
    const top = open.findIndex((count) => count > 0);
    if (top >= 0) sums[top]! += time - before;
    open[at]! += step;
    before = time;
  }
  return sums;
}

function accountOf(device: number | null, rows: readonly Row[], catalog: Catalog, part: Span): Account | null {
  const edges: { time: number; class: number; step: number }[] = [];
  const causes = new Map<string, number>();
  for (const row of rows) {
    const isWhole = visit(row, part, (item, start, end) => {
      const name = row.name[item]!;
      if (row.kind === 'gaps') {
        const cause = catalog.names[name]!;
        causes.set(cause, (causes.get(cause) ?? 0) + end - start);
        return;
      }
      const at = CLASSES.indexOf(classOf(catalog.categories[name]));
      edges.push({ time: start, class: at, step: 1 }, { time: end, class: at, step: -1 });
    });
    if (!isWhole) return null;
  }
  const sums = exclusive(edges);
  const parts: Share[] = CLASSES.map((name, at) => ({ name, ns: sums[at]! }));
  for (const [cause, ns] of causes) parts.push({ name: `idle: ${cause}`, ns });
  const rest = lengthOf(part) - parts.reduce((sum, { ns }) => sum + ns, 0);
  if (rest > 0) parts.push({ name: REST, ns: rest });
  return { device, parts: parts.filter(({ ns }) => ns > 0) };
}

/** Null where not everything in the part is known by itself. */
export function tell(rows: readonly Row[], catalog: Catalog, part: Span): Told | null {
  const known = rows.filter((row) => row.kind === 'ops' || row.kind === 'gaps');
  const devices = [...new Set(known.map((row) => row.packed.device))];
  const accounts: Account[] = [];
  for (const device of devices) {
    const account = accountOf(
      device,
      known.filter((row) => row.packed.device === device),
      catalog,
      part,
    );
    if (!account) return null;
    accounts.push(account);
  }
  const kernels = new Map<number, { ns: number; count: number }>();
  const gaps: GapShare[] = [];
  for (const row of known)
    visit(row, part, (item, start, end) => {
      const name = row.name[item]!;
      if (row.kind === 'gaps') {
        const whole = { start: row.start[item]!, end: row.end[item]! };
        gaps.push({ name: catalog.names[name]!, ns: end - start, ...whole, lane: row.packed.lane ?? null });
        return;
      }
      const sum = kernels.get(name) ?? { ns: 0, count: 0 };
      kernels.set(name, { ns: sum.ns + end - start, count: sum.count + 1 });
    });
  return {
    accounts,
    kernels: [...kernels]
      .map(([name, { ns, count }]) => ({
        name: catalog.names[name]!,
        isKernel: !catalog.categories[name]?.startsWith('mem'),
        ns,
        count,
      }))
      .sort((a, b) => b.ns - a.ns),
    kernelCount: kernels.size,
    gaps: gaps.sort((a, b) => b.ns - a.ns),
    gapCount: gaps.length,
  };
}
