// A tree of named amounts, each as wide as its amount, below its parent. A click zooms in, a search marks names.

import { button, element, setHover, visible } from './dom';
import { percent, withUnit } from './format';
import { tintOf } from './theme';

export interface FlameNode {
  readonly name: string;
  readonly value: number;
  readonly own?: number; // without its children
  readonly count?: number;
  readonly parent: FlameNode | null;
  readonly children: readonly FlameNode[];
}

const ROW_PIXELS = 26;
const LEAST_WIDTH = 0.0015; // of the picture: what is thinner cannot be hit
const DEEPEST = 40;

export class FlameGraph {
  readonly root: HTMLElement;
  private readonly picture: HTMLElement;
  private readonly path = element('p', { class: 'icicle-path', role: 'status' });
  private readonly boxes = new Map<FlameNode, HTMLElement>();
  private focused: FlameNode;
  private sought = '';

  constructor(
    private readonly tree: FlameNode,
    private readonly label: string,
    private readonly whole: string,
  ) {
    this.focused = tree;
    this.picture = element('div', { class: 'icicle', role: 'group', 'aria-label': label });
    this.root = element('figure', { class: 'chart', 'aria-label': this.label }, this.path, this.picture);
    this.picture.addEventListener('keydown', (event) => this.press(event));
    this.show(tree);
  }

  /** Marks names that have the text in them; returns what they amount to, of names inside each other the outer one. */
  search(text: string): number {
    this.sought = text.toLowerCase();
    this.mark();
    if (this.sought === '') return 0;
    let sum = 0;
    const left = [this.tree];
    for (let node = left.pop(); node; node = left.pop())
      if (this.isSought(node)) sum += node.value;
      else left.push(...node.children);
    return sum;
  }

  private isSought(node: FlameNode): boolean {
    return this.sought !== '' && node !== this.tree && node.name.toLowerCase().includes(this.sought);
  }

  private mark(): void {
    this.picture.classList.toggle('is-searched', this.sought !== '');
    for (const [node, box] of this.boxes) box.classList.toggle('is-found', this.isSought(node));
  }

  /** Shows a part, or all, and keeps the keyboard there. */
  private go(node: FlameNode | null): void {
    this.show(node ?? this.tree);
    this.boxes.get(this.focused)?.focus();
  }

  private show(node: FlameNode): void {
    this.focused = node;
    this.boxes.clear();
    this.picture.replaceChildren();
    let deepest = 0;
    const place = (each: FlameNode, from: number, width: number, level: number): void => {
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
    this.mark();
    this.announce(node);
  }

  private describe(node: FlameNode): string {
    const share = this.tree.value > 0 ? node.value / this.tree.value : 0;
    const lines = [
      `${visible(node.name)} \u00b7 ${withUnit(node.value, 'ns')}`,
      `${percent(share)} of ${this.whole}`,
      `exactly ${node.value.toLocaleString('en-US')} ns`,
    ];
    if (node.own !== undefined) lines.push(`${withUnit(node.own, 'ns')} in itself`);
    if (node.count !== undefined) lines.push(`${node.count.toLocaleString('en-US')} times`);
    return lines.join('\n');
  }

  private draw(node: FlameNode, from: number, width: number, level: number): void {
    const text = `${visible(node.name)} \u00b7 ${withUnit(node.value, 'ns')}`;
    const box = button('', { class: 'range', tabindex: level === 0 ? 0 : -1 }, () =>
      this.go(node === this.focused ? node.parent : node),
    );
    box.append(element('span', {}, text));
    setHover(box, this.describe(node));
    box.style.left = `${from * 100}%`;
    box.style.width = `${width * 100}%`;
    box.style.top = `${level * ROW_PIXELS}px`;
    if (node !== this.tree) box.style.setProperty('--color', tintOf(node.name));
    this.boxes.set(node, box);
    this.picture.append(box);
  }

  private announce(node: FlameNode): void {
    const names: string[] = [];
    for (let each: FlameNode | null = node; each; each = each.parent) names.unshift(visible(each.name));
    const up = node.parent && button('Up', { class: 'quiet' }, () => this.go(node.parent));
    this.path.replaceChildren(names.join(' \u203a '), ...(up ? [' ', up] : []));
  }

  /** Arrows walk the tree: down to the first child, up to the parent, sideways between siblings. */
  private press(event: KeyboardEvent): void {
    const at = [...this.boxes].find(([, box]) => box === event.target)?.[0];
    if (!at) return;
    const siblings = at.parent?.children.filter((node) => this.boxes.has(node)) ?? [];
    const place = siblings.indexOf(at);
    const targets: Readonly<Record<string, FlameNode | null | undefined>> = {
      ArrowDown: at.children.find((node) => this.boxes.has(node)),
      ArrowUp: at.parent,
      ArrowLeft: siblings[place - 1],
      ArrowRight: siblings[place + 1],
    };
    if (event.key === 'Escape') this.go(this.focused.parent);
    const box = this.boxes.get(targets[event.key] as FlameNode);
    if (!box) return;
    box.focus();
    event.preventDefault();
  }
}
