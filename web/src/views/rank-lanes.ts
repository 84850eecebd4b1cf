// Ranks as rows over one time axis, with the collectives of a step: the time a rank waits for the last one, the transfer,
// and a line that joins what belongs together.

import { hasColumns, numberOf, numbers, reader, type Cell, type Report, type Row, type Table } from '../data';
import { button, element, visible } from '../dom';
import { decimal, roundValue, withUnit } from '../format';
import { jobsOf } from '../jobs';
import { colorOf, tintOf } from '../theme';
import { ticks } from '../timeline/span';
import { panelView } from './parts';

interface Member {
  readonly rank: number;
  readonly start: number; // of the rank's own clock
  readonly length: number;
  readonly wait: number;
}

interface Collective {
  readonly id: number;
  readonly op: string;
  readonly group: string;
  readonly step: number | null;
  readonly last: number | null;
  readonly members: readonly Member[];
}

const ROW = 34;
const BOX = 18;
const GUTTER = 64;
const AXIS = 22;
const AT_ONCE = 2000; // boxes
const MOST_GROUPS = 8; // that the legend names
const MOST_SPANS = 8; // of steps that the words name
const ALL_ROWS = '--table collective_ranks --top 0';

/** Those of which all ranks are here, in the order in which the page was given them. */
function collectivesOf(table: Table): Collective[] {
  const found = new Map<number, { readonly row: Row; readonly members: Member[] }>();
  const [id, rank, start, length, wait] = ['id', 'rank', 'start_ns', 'dur_ns', 'wait_ns'].map((key) =>
    numbers(table, key),
  );
  for (const row of table.rows) {
    const member = { rank: rank!(row), start: start!(row), length: length!(row), wait: wait!(row) };
    const known = found.get(id!(row));
    if (known) known.members.push(member);
    else found.set(id!(row), { row, members: [member] });
  }
  const [op, group, step, last] = ['op', 'group', 'step', 'last_rank'].map((key) => reader(table, key));
  const ranks = numbers(table, 'ranks');
  const numberOrNull = (cell: Cell): number | null => (cell === null ? null : numberOf(cell));
  return [...found].flatMap(([key, { row, members }]) =>
    members.length < ranks(row)
      ? []
      : {
          id: key,
          op: String(op!(row)),
          group: String(group!(row)),
          step: numberOrNull(step!(row)),
          last: numberOrNull(last!(row)),
          members,
        },
  );
}

/** A step of the job; null: what is outside of steps. */
interface Step {
  readonly number: number | null;
  readonly all: number; // collectives that it has
  readonly drawn: readonly Collective[];
}

/** In the order of their numbers, what is outside of them last. Only the worst may be here in part: it has what matters. */
function stepsOf(table: Table, collectives: readonly Collective[], worst: number | null): Step[] {
  const [step, count] = [reader(table, 'step'), numbers(table, 'collectives')];
  const drawn = new Map<number | null, Collective[]>();
  for (const each of collectives) {
    const known = drawn.get(each.step);
    if (known) known.push(each);
    else drawn.set(each.step, [each]);
  }
  return table.rows
    .map((row): Step => {
      const number = step(row) === null ? null : numberOf(step(row));
      const here = drawn.get(number) ?? [];
      return { number, all: count(row), drawn: number === worst || here.length === count(row) ? here : [] };
    })
    .sort((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity));
}

const nameOfStep = ({ number }: Step): string => (number === null ? 'outside steps' : `step ${number}`);
const counted = (count: number): string => decimal(count, 0);

/** "1\u20133, 5": which of the steps are here. */
function spansOf(steps: readonly Step[]): string {
  const spans: number[][] = [];
  steps.forEach(({ number, drawn }, place) => {
    if (drawn.length === 0) return;
    if (place > 0 && steps[place - 1]!.drawn.length > 0) spans[spans.length - 1]![1] = number!;
    else spans.push([number!]);
  });
  const words = spans.slice(0, MOST_SPANS).map((span) => span.join('\u2013'));
  return words.join(', ') + (spans.length > MOST_SPANS ? ' \u2026' : '');
}

/** Which steps are here, how many of the collectives, and where the others are. */
function shownWords(steps: readonly Step[], culprit: Cell): string {
  const numbered = steps.filter(({ number }) => number !== null);
  const here = numbered.filter(({ drawn }) => drawn.length > 0).length;
  const all = steps.reduce((sum, each) => sum + each.all, 0);
  const drawn = steps.reduce((sum, each) => sum + each.drawn.length, 0);
  const which =
    here === 0 ? 'Outside steps' : `Step${here === 1 ? '' : 's'} ${spansOf(numbered)} of ${numbered.length}`;
  const words = [`${which}; ${counted(drawn)} of ${counted(all)} collectives.`];
  const part = steps.find((each) => each.drawn.length > 0 && each.drawn.length < each.all);
  const first = culprit === null ? '' : `those of rank ${culprit} and `;
  if (part) words.push(`Of ${nameOfStep(part)} ${first}those with the longest waits are here.`);
  if (drawn < all)
    words.push(
      `The page has room for the worst steps; \u2018gputime ranks\u2019 with \u2018${ALL_ROWS}\u2019 has all.`,
    );
  return words.join(' ');
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** What to add to the time of each rank: what they share ends at the same time. Ranks that share nothing begin at 0. */
function shiftsOf(collectives: readonly Collective[], ranks: readonly number[]): Map<number, number> {
  const ends = new Map<number, Map<number, number[]>>(); // rank, other rank: differences of ends
  for (const { members } of collectives) {
    const [first] = members;
    for (const other of members.slice(1)) {
      const difference = first!.start + first!.length - other.start - other.length;
      for (const [a, b, value] of [
        [first!.rank, other.rank, difference],
        [other.rank, first!.rank, -difference],
      ] as const) {
        const of = ends.get(a) ?? new Map<number, number[]>();
        ends.set(a, of);
        const list = of.get(b);
        if (list) list.push(value);
        else of.set(b, [value]);
      }
    }
  }
  const shifts = new Map<number, number>();
  for (const seed of ranks) {
    if (shifts.has(seed)) continue;
    shifts.set(seed, 0);
    const left = [seed];
    for (let rank = left.shift(); rank !== undefined; rank = left.shift())
      for (const [other, differences] of ends.get(rank) ?? [])
        if (!shifts.has(other)) {
          shifts.set(other, shifts.get(rank)! + median(differences));
          left.push(other);
        }
  }
  return shifts;
}

const SVG = 'http://www.w3.org/2000/svg';

function shape(tag: string, attributes: Readonly<Record<string, string | number>>, text?: string): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

export interface RankPlace {
  readonly rank: number;
  readonly start: number;
  readonly end: number;
}

const colorOfGroup = (group: string): string => tintOf(`group ${group}`);

/** A group with its description, where it has one. */
function groupNames(groups: Table | undefined): (group: string) => string {
  const descriptions = new Map<string, string>();
  if (groups && hasColumns(groups, 'group', 'desc')) {
    const [number, description] = [reader(groups, 'group'), reader(groups, 'desc')];
    for (const row of groups.rows) descriptions.set(String(number(row)), String(description(row) ?? ''));
  }
  return (group) => [`group ${group}`, descriptions.get(group)].filter(Boolean).join(' \u00b7 ');
}

/** What the colours of boxes mean: groups, and who waits for whom in them. */
function legendView(collectives: readonly Collective[], nameOf: (group: string) => string): HTMLElement {
  const groups = [...new Set(collectives.map(({ group }) => group))].sort((a, b) => Number(a) - Number(b));
  const shown = groups.slice(0, MOST_GROUPS);
  const own = colorOfGroup(shown[0]!);
  const item = (words: string, color: string, more = ''): HTMLElement => {
    const swatch = element('span', { class: `account-swatch${more}` });
    swatch.style.setProperty('--color', color);
    return element('li', {}, swatch, element('span', {}, words));
  };
  const rest = groups.length - shown.length;
  return element(
    'ul',
    { class: 'account-legend' },
    ...shown.map((group) => item(visible(nameOf(group)), colorOfGroup(group))),
    rest > 0 && element('li', {}, `${rest} more group${rest === 1 ? '' : 's'}`),
    item('pale: waiting for the last rank', own, ' rank-wait'),
    item('full: transfer', own),
    item('red: the last rank', colorOf('comm')),
  );
}

function describe(collective: Collective, member: Member): string {
  return [
    `${visible(collective.op)} of group ${visible(collective.group)} on rank ${member.rank}`,
    `${withUnit(member.length, 'ns')}, of which ${withUnit(member.wait, 'ns')} waiting`,
    collective.last === null ? '' : `last: rank ${collective.last}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Where a picture has its times and ranks. */
interface Axes {
  readonly x: (time: number) => number;
  readonly y: (rank: number) => number;
  readonly timeOf: (member: Member) => number;
}

class RankLanes {
  readonly root: HTMLElement;
  private readonly host = element('div', { class: 'rank-lanes' });
  private readonly owners = new WeakMap<Element, { readonly collective: Collective; readonly member: Member }>();
  private readonly words = element('span', { class: 'counter', role: 'status' });
  private readonly places: ReadonlyMap<number, number>; // of ranks
  private readonly shifts: Map<number, number>;
  private readonly steps: readonly Step[]; // that are here
  private at = 0;
  private width = 0; // as drawn

  constructor(
    collectives: readonly Collective[],
    steps: readonly Step[],
    worst: number | null,
    culprit: Cell,
    private readonly open: ((place: RankPlace) => void) | null,
    job: string | null,
    nameOf: (group: string) => string,
  ) {
    const ranks = [...new Set(collectives.flatMap(({ members }) => members.map(({ rank }) => rank)))];
    ranks.sort((a, b) => a - b);
    this.places = new Map(ranks.map((rank, place) => [rank, place]));
    this.shifts = shiftsOf(collectives, ranks);
    this.steps = steps.filter(({ drawn }) => drawn.length > 0);
    const tools = element(
      'div',
      { class: 'tools' },
      button('\u2190', { 'aria-label': 'Step before' }, () => this.show(this.at - 1)),
      button('\u2192', { 'aria-label': 'Next step' }, () => this.show(this.at + 1)),
      this.words,
    );
    const about = element(
      'p',
      { class: 'origin' },
      `${shownWords(steps, culprit)} Boxes are collectives; lines join the ranks of one, and rows are aligned by their ends.`,
    );
    const title = job === null ? 'Collectives of the ranks' : `Collectives of the ranks, ${visible(job)}`;
    this.root = panelView(title, tools, about, this.host, legendView(collectives, nameOf));
    this.listen();
    new ResizeObserver(() => this.host.clientWidth !== this.width && this.draw()).observe(this.host);
    this.show(this.steps.findIndex(({ number }) => number === worst));
  }

  private show(place: number): void {
    this.at = Math.min(Math.max(place, 0), this.steps.length - 1);
    this.draw();
  }

  private draw(): void {
    const width = this.host.clientWidth;
    if (width === 0) return;
    this.width = width;
    const step = this.steps[this.at]!;
    const shown = step.drawn;
    const timeOf = (member: Member): number => member.start + this.shifts.get(member.rank)!;
    const starts = shown.flatMap(({ members }) => members.map(timeOf));
    const ends = shown.flatMap(({ members }) => members.map((member) => timeOf(member) + member.length));
    const from = starts.reduce((a, b) => Math.min(a, b), Infinity);
    const to = Math.max(
      ends.reduce((a, b) => Math.max(a, b), -Infinity),
      from + 1,
    );
    const name = nameOfStep(step).replace(/^./, (letter) => letter.toUpperCase());
    const counts = `${counted(shown.length)} of ${counted(step.all)} collectives`;
    this.words.textContent = `${name}: ${counts}, ${withUnit(to - from, 'ns')}`;
    const x = (time: number): number => GUTTER + ((time - from) / (to - from)) * (width - GUTTER - 8);
    const y = (rank: number): number => AXIS + this.places.get(rank)! * ROW + (ROW - BOX) / 2;
    const height = AXIS + this.places.size * ROW + 4;
    const picture = shape('svg', { width, height, role: 'group', 'aria-label': 'Collectives of the ranks over time' });
    for (const time of ticks({ start: 0, end: to - from }, Math.max(2, Math.floor(width / 140))).times) {
      const at = x(from + time);
      picture.append(shape('line', { x1: at, x2: at, y1: AXIS - 4, y2: height, class: 'rank-grid' }));
      if (at < width - 60)
        picture.append(shape('text', { x: at + 3, y: AXIS - 8, class: 'rank-tick' }, roundValue(time, 'ns')));
    }
    for (const rank of this.places.keys())
      picture.append(shape('text', { x: 0, y: y(rank) + 13, class: 'rank-name' }, `rank ${rank}`));
    this.host.replaceChildren(picture);
    this.append(picture, shown, { x, y, timeOf });
  }

  /** Piece by piece, so that the page can be used meanwhile. */
  private append(picture: SVGElement, left: readonly Collective[], axes: Axes): void {
    let [count, boxes] = [0, 0];
    const made = document.createDocumentFragment();
    for (; count < left.length && boxes < AT_ONCE; count++) {
      boxes += left[count]!.members.length;
      made.append(this.joined(left[count]!, axes));
    }
    picture.append(made);
    if (count < left.length)
      setTimeout(() => picture.parentElement === this.host && this.append(picture, left.slice(count), axes));
  }

  private joined(collective: Collective, axes: Axes): SVGElement {
    const { x, y, timeOf } = axes;
    const group = shape('g', { class: 'rank-collective' });
    const members = [...collective.members].sort((a, b) => a.rank - b.rank);
    const line = members.slice(1).map((member, place) => {
      const above = members[place]!;
      const ends = [above, member].map((each) => x(timeOf(each) + each.length));
      return `M${ends[0]} ${y(above.rank) + BOX}L${ends[1]} ${y(member.rank)}`;
    });
    if (line.length > 0) group.append(shape('path', { d: line.join(''), class: 'rank-line' }));
    for (const member of members) group.append(...this.boxes(collective, member, axes));
    return group;
  }

  private boxes(collective: Collective, member: Member, { x, y, timeOf }: Axes): SVGElement[] {
    const [start, middle, end] = [0, member.wait, member.length].map((after) => x(timeOf(member) + after)) as [
      number,
      number,
      number,
    ];
    const color = colorOfGroup(collective.group);
    const fill = member.rank === collective.last ? colorOf('comm') : color;
    const box = { y: y(member.rank), height: BOX };
    const made = [shape('rect', { ...box, x: middle, width: Math.max(end - middle, 1.5), fill, class: 'rank-box' })];
    if (middle > start)
      made.unshift(shape('rect', { ...box, x: start, width: middle - start, fill: color, class: 'rank-wait' }));
    for (const part of made) this.owners.set(part, { collective, member });
    return made;
  }

  /** What a box is about; thousands of them are never pointed at. */
  private listen(): void {
    this.host.addEventListener('pointerover', ({ target }) => {
      const owner = this.owners.get(target as Element);
      if (owner && !(target as Element).firstChild)
        (target as Element).append(shape('title', {}, describe(owner.collective, owner.member)));
    });
    this.host.addEventListener('click', ({ target }) => {
      const member = this.owners.get(target as Element)?.member;
      if (member) this.open?.({ rank: member.rank, start: member.start, end: member.start + member.length });
    });
  }
}

function lanesOf(report: Report, job: string | null, open: ((place: RankPlace) => void) | null): HTMLElement | null {
  const { drawn_steps: all, drawn_ranks: members, groups } = report.tables;
  if (!all || !members) return null;
  const collectives = collectivesOf(members);
  if (collectives.length === 0) return null;
  const { verdict, verdict_rank: rank } = report.inputs[0]?.facts ?? {};
  const culprit = (verdict === 'pinned' ? rank : null) ?? null;
  const worst = collectives[0]!.step;
  const steps = stepsOf(all, collectives, worst);
  return new RankLanes(collectives, steps, worst, culprit, open, job, groupNames(groups)).root;
}

/** The ranks of each job. */
export function rankLanesView(report: Report, open: ((place: RankPlace) => void) | null): HTMLElement | null {
  const made = jobsOf(report).flatMap(({ name, report: own }) => {
    const lanes = lanesOf(own, name, open);
    return lanes ? [lanes] : [];
  });
  return made.length > 1 ? element('div', {}, ...made) : (made[0] ?? null);
}
