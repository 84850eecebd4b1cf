// Flame graphs of operators, Python functions and ranges: by the GPU time that they launched, or the idle time that they
// caused; and the same as a list of what is heaviest in itself.

import { hasRangeTree, rangeTree } from '../charts/icicle';
import type { Row, Table } from '../data';
import { element, visible } from '../dom';
import { FlameGraph, type FlameNode } from '../flame-graph';
import type { Flame, FlameQuery } from '../explore/source';
import { percent, withUnit } from '../format';
import { inputOf, type Session, type Subject } from '../session';
import { TableView } from '../table';
import { choiceView, later, missingView, panelView, viewFrame } from './parts';
import type { ViewKind } from './index';

const OF = [
  ['operators', 'Operators'],
  ['python', 'Python'],
  ['ranges', 'Ranges'],
] as const;
const BY = [
  ['gpu', 'GPU time launched'],
  ['idle', 'Idle time caused'],
] as const;
const WHOLE = { gpu: 'the GPU time', idle: 'the idle time' } as const;
const MOST_ROWS = 500;
const OUTSIDE = '(none)'; // what was launched from nowhere inside

interface Growing extends FlameNode {
  value: number;
  parent: Growing | null;
  readonly children: Growing[];
}

/** The tree of an answer, whose one node without a parent is that of all; a parent may come after its children. */
function treeOf(flame: Flame, name: string): FlameNode {
  const nodes = flame.nodes.map((node): Growing => ({
    name: node.name,
    value: node.ns,
    own: node.own_ns,
    count: node.count,
    parent: null,
    children: [],
  }));
  const tops: Growing[] = [];
  flame.nodes.forEach(({ parent }, place) => {
    const above = parent === null || parent < 0 || parent === place ? undefined : nodes[parent];
    nodes[place]!.parent = above ?? null;
    (above?.children ?? tops).push(nodes[place]!);
  });
  for (const node of nodes) node.children.sort((a, b) => b.value - a.value);
  return rootOf(tops, name);
}

function rootOf(tops: Growing[], name: string): FlameNode {
  const [only] = tops;
  const root: Growing =
    only && tops.length === 1
      ? { ...only, name }
      : { name, value: tops.reduce((sum, top) => sum + top.value, 0), parent: null, children: tops };
  for (const child of root.children) child.parent = root;
  return root;
}

function ownCount({ count = 0, children }: FlameNode): number {
  return children.reduce((left, child) => left - (child.count ?? 0), count);
}

/** What is heaviest in itself, wherever it is in the tree; recursion counts once. */
function heaviest(tree: FlameNode): Table {
  const sums = new Map<string, { own: number; total: number; count: number }>();
  const above = new Map<string, number>(); // how often each name is around the present node
  if (tree.own) sums.set(OUTSIDE, { own: tree.own, total: tree.own, count: ownCount(tree) });
  const left: { node: FlameNode; isDone: boolean }[] = tree.children.map((node) => ({ node, isDone: false }));
  for (let next = left.pop(); next; next = left.pop()) {
    const { node, isDone } = next;
    const around = above.get(node.name) ?? 0;
    above.set(node.name, around + (isDone ? -1 : 1));
    if (isDone) continue;
    const sum = sums.get(node.name) ?? { own: 0, total: 0, count: 0 };
    sums.set(node.name, sum);
    sum.own += node.own ?? node.value - node.children.reduce((all, each) => all + each.value, 0);
    sum.count += node.count ?? 0;
    if (around === 0) sum.total += node.value;
    left.push({ node, isDone: true }, ...node.children.map((child) => ({ node: child, isDone: false })));
  }
  const rows = [...sums].sort(([, a], [, b]) => b.own - a.own).slice(0, MOST_ROWS);
  return {
    title: 'Heaviest in themselves',
    columns: [
      { key: 'name', title: 'Name', unit: '', flags: ['name'] },
      { key: 'own_ns', title: 'In itself', unit: 'ns', flags: ['bar'] },
      { key: 'total_ns', title: 'With children', unit: 'ns' },
      { key: 'share', title: 'Share in itself', unit: 'share', of: 'all' },
      { key: 'count', title: 'Ops', unit: 'count' },
    ],
    rows: rows.map(([name, { own, total, count }]): Row => [
      name,
      own,
      total,
      tree.value ? own / tree.value : 0,
      count,
    ]),
  };
}

function graphView(tree: FlameNode, whole: string): HTMLElement {
  if (tree.value <= 0) return element('p', { class: 'origin' }, 'Nothing of this kind is in the trace.');
  const graph = new FlameGraph(tree, 'Flame graph', whole);
  const found = element('span', { class: 'counter', role: 'status' });
  const field = element('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search the flame graph' });
  field.addEventListener('input', () => {
    const ns = graph.search(field.value);
    found.textContent = field.value === '' ? '' : `${withUnit(ns, 'ns')}, ${percent(ns / tree.value)} of ${whole}`;
  });
  const list = heaviest(tree);
  return element(
    'div',
    {},
    panelView(
      `${visible(tree.name)}: ${withUnit(tree.value, 'ns')}`,
      element('div', { class: 'tools' }, field, found),
      graph.root,
    ),
    panelView(list.title, new TableView('flame', list).root),
  );
}

function liveView(session: Session, subject: Subject): HTMLElement {
  const { source, chosen } = session;
  const [of, by] = (subject.state ?? '').split(',');
  const query: { of: FlameQuery['of']; by: FlameQuery['by'] } = {
    of: OF.find(([key]) => key === of)?.[0] ?? 'operators',
    by: BY.find(([key]) => key === by)?.[0] ?? 'gpu',
  };
  const host = element('div');
  const turn = (next: Partial<typeof query>): void => {
    Object.assign(query, next);
    session.keep(`${query.of},${query.by}`);
    show();
  };
  const show = (): void => {
    const input = chosen?.input ?? inputOf(session, subject.input);
    const part = chosen ? { from: chosen.start, to: chosen.end } : {};
    const whole = WHOLE[query.by];
    host.replaceChildren(
      later(
        () => source.flame({ input, ...query, ...part }),
        (flame) => flame && graphView(treeOf(flame, OF.find(([key]) => key === query.of)![1]), whole),
      ),
    );
  };
  show();
  return element(
    'div',
    {},
    element(
      'div',
      { class: 'choices' },
      choiceView('Of', OF, query.of, (next) => turn({ of: next })),
      choiceView('By', BY, query.by, (next) => turn({ by: next })),
    ),
    host,
  );
}

function storedView(session: Session): HTMLElement {
  const table = session.report?.tables['range_tree'];
  const more = missingView(session, 'Operators, Python functions and idle time caused need the trace itself:');
  return hasRangeTree(table) ? element('div', {}, graphView(rangeTree(table), 'all ranges'), more) : more;
}

export const flameView: ViewKind = {
  key: 'flame',
  title: 'Flame graph',
  isOffered: (session) => session.source.inputs.length > 0,
  make: (session, subject) =>
    viewFrame(
      session,
      'flame',
      'Flame graph',
      'What the CPU was in when it launched GPU work, or while the GPU waited. Wider is more time; below a name is what it called.',
      session.source.isLive ? liveView(session, subject) : storedView(session),
    ),
};
