// Range tree: each range as wide as its GPU time, below its parent. A click zooms in.

import { hasColumns, numberOf, numbers, reader, type Row, type Table } from '../data';
import { button, element, setHover, visible } from '../dom';
import { percent, withUnit } from '../format';
import { tintOf } from '../theme';

interface Node {
  readonly name: string;
  value: number;
  readonly row: Row | null;
  readonly parent: Node | null;
  readonly children: Node[];
}

const ROW_PIXELS = 26;
const LEAST_WIDTH = 0.0015; // of the picture: what is thinner cannot be hit
const DEEPEST = 12;

/** The rows come from the top down, a parent before its children. */
function buildTree(table: Table): Node {
  const depth = numbers(table, 'depth');
  const value = numbers(table, 'sum_ns');
  const name = reader(table, 'range');
  const input = reader(table, 'input');
  const root: Node = { name: 'all ranges', value: 0, row: null, parent: null, children: [] };
  const several = new Set(table.rows.map(input)).size > 1;
  let above: Node[] = [];
  for (const row of table.rows) {
    const level = depth(row);
    const parent = level === 0 ? root : above[level - 1];
    if (!parent) continue; // cut off by the limit of rows
    const own = String(name(row)).trim();
    const node: Node = {
      name: several && level === 0 ? `${own} \u00b7 ${String(input(row))}` : own,
      value: value(row),
      row,
      parent,
      children: [],
    };
    parent.children.push(node);
    above = [...above.slice(0, level), node];
  }
  root.value = root.children.reduce((sum, child) => sum + child.value, 0);
  return root;
}

class Icicle {
  readonly root: HTMLElement;
  private readonly picture = element('div', { class: 'icicle', role: 'group', 'aria-label': 'Range tree' });
  private readonly path = element('p', { class: 'icicle-path', role: 'status' });
  private readonly boxes = new Map<Node, HTMLElement>();
  private focused: Node;

  constructor(private readonly tree: Node) {
    this.focused = tree;
    this.root = element('figure', { class: 'chart' }, this.path, this.picture);
    this.picture.addEventListener('keydown', (event) => this.press(event));
    this.show(tree);
  }

  /** Shows a part, or all, and keeps the keyboard there. */
  private go(node: Node | null): void {
    this.show(node ?? this.tree);
    this.boxes.get(this.focused)?.focus();
  }

  private show(node: Node): void {
    this.focused = node;
    this.boxes.clear();
    this.picture.replaceChildren();
    let deepest = 0;
    const place = (each: Node, from: number, width: number, level: number): void => {
      deepest = Math.max(deepest, level);
      this.draw(each, from, width, level);
      if (level + 1 >= DEEPEST) return;
      let at = from;
      for (const child of each.children) {
        const share = each.value > 0 ? (child.value / each.value) * width : 0;
        if (share >= LEAST_WIDTH) place(child, at, share, level + 1);
        at += share;
      }
    };
    place(node, 0, 1, 0);
    this.picture.style.height = `${(deepest + 1) * ROW_PIXELS}px`;
    this.announce(node);
  }

  private draw(node: Node, from: number, width: number, level: number): void {
    const text = `${visible(node.name)} \u00b7 ${withUnit(node.value, 'ns')}`;
    const box = button(text, { class: 'range', tabindex: level === 0 ? 0 : -1 }, () =>
      this.go(node === this.focused ? node.parent : node),
    );
    const share = this.tree.value > 0 ? node.value / this.tree.value : 0;
    setHover(box, `${text}\n${percent(share)} of all ranges\nexactly ${node.value.toLocaleString('en-US')} ns`);
    box.style.left = `${from * 100}%`;
    box.style.width = `${width * 100}%`;
    box.style.top = `${level * ROW_PIXELS}px`;
    if (node.row) box.style.setProperty('--color', tintOf(node.name));
    this.boxes.set(node, box);
    this.picture.append(box);
  }

  private announce(node: Node): void {
    const names: string[] = [];
    for (let each: Node | null = node; each; each = each.parent) names.unshift(visible(each.name));
    const up = node.parent && button('Up', { class: 'quiet' }, () => this.go(node.parent));
    this.path.replaceChildren(names.join(' \u203a '), ...(up ? [' ', up] : []));
  }

  /** Arrows walk the tree: down to the first child, up to the parent, sideways between siblings. */
  private press(event: KeyboardEvent): void {
    const at = [...this.boxes].find(([, box]) => box === event.target)?.[0];
    if (!at) return;
    const siblings = at.parent?.children.filter((node) => this.boxes.has(node)) ?? [];
    const place = siblings.indexOf(at);
    const targets: Readonly<Record<string, Node | null | undefined>> = {
      ArrowDown: at.children.find((node) => this.boxes.has(node)),
      ArrowUp: at.parent,
      ArrowLeft: siblings[place - 1],
      ArrowRight: siblings[place + 1],
    };
    if (event.key === 'Escape') this.go(this.focused.parent);
    const box = this.boxes.get(targets[event.key] as Node);
    if (!box) return;
    box.focus();
    event.preventDefault();
  }
}

export function icicleView(table: Table): HTMLElement | null {
  if (
    !hasColumns(table, 'range', 'depth', 'sum_ns') ||
    !table.rows.some((row) => row.some((cell) => numberOf(cell) > 0))
  )
    return null;
  const tree = buildTree(table);
  return tree.value > 0 ? new Icicle(tree).root : null;
}
