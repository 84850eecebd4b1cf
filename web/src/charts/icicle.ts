// Range tree: each range as wide as its GPU time, below its parent.

import { hasColumns, numberOf, numbers, reader, type Table } from '../data';
import { FlameGraph, type FlameNode } from '../flame-graph';

interface Growing extends FlameNode {
  value: number;
  readonly children: Growing[];
}

/** The rows come from the top down, a parent before its children. */
export function rangeTree(table: Table): FlameNode {
  const depth = numbers(table, 'depth');
  const value = numbers(table, 'sum_ns');
  const own = numbers(table, 'exclusive_ns');
  const instances = numbers(table, 'instances');
  const name = reader(table, 'range');
  const input = reader(table, 'input');
  const root: Growing = { name: 'all ranges', value: 0, parent: null, children: [] };
  const several = new Set(table.rows.map(input)).size > 1;
  let above: Growing[] = [];
  for (const row of table.rows) {
    const level = depth(row);
    const parent = level === 0 ? root : above[level - 1];
    if (!parent) continue; // cut off by the limit of rows
    const plain = String(name(row)).trim();
    const node: Growing = {
      name: several && level === 0 ? `${plain} \u00b7 ${String(input(row))}` : plain,
      value: value(row),
      own: own(row),
      count: instances(row),
      parent,
      children: [],
    };
    parent.children.push(node);
    above = [...above.slice(0, level), node];
  }
  root.value = root.children.reduce((sum, child) => sum + child.value, 0);
  return root;
}

export function hasRangeTree(table: Table | undefined): table is Table {
  return (
    table !== undefined &&
    hasColumns(table, 'range', 'depth', 'sum_ns') &&
    table.rows.some((row) => row.some((cell) => numberOf(cell) > 0))
  );
}

export function icicleView(table: Table): HTMLElement | null {
  if (!hasRangeTree(table)) return null;
  const tree = rangeTree(table);
  return tree.value > 0 ? new FlameGraph(tree, 'Range tree', 'all ranges').root : null;
}
