// Ranks as rows over one time axis, with the collectives of a step: the time a rank waits for the last one, the transfer,
// and a line that joins what belongs together.

import { hasColumns, numberOf, reader, type Report, type Table } from '../data';
import { button, element, visible } from '../dom';
import { roundValue, withUnit } from '../format';
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
const MOST_GROUPS = 8; // that the legend names
const MOST = 1500; // boxes drawn at once; of more those with the longest waits

function collectivesOf(all: Table, members: Table): Collective[] {
  const by = new Map<number, Member[]>();
  const [id, rank, start, length, wait] = ['id', 'rank', 'start_ns', 'dur_ns', 'wait_ns'].map((key) =>
    reader(members, key),
  );
  for (const row of members.rows) {
    if (start!(row) === null) continue;
    const member = {
      rank: numberOf(rank!(row)),
      start: numberOf(start!(row)),
      length: numberOf(length!(row)),
      wait: numberOf(wait!(row)),
    };
    const known = by.get(numberOf(id!(row)));
    if (known) known.push(member);
    else by.set(numberOf(id!(row)), [member]);
  }
  const [own, op, group, step, last] = ['id', 'op', 'group', 'step', 'last_rank'].map((key) => reader(all, key));
  return all.rows.map((row) => ({
    id: numberOf(own!(row)),
    op: String(op!(row)),
    group: String(group!(row)),
    step: step!(row) === null ? null : numberOf(step!(row)),
    last: last!(row) === null ? null : numberOf(last!(row)),
    members: by.get(numberOf(own!(row))) ?? [],
  }));
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

class RankLanes {
  readonly root: HTMLElement;
  private readonly host = element('div', { class: 'rank-lanes' });
  private readonly words = element('span', { class: 'counter', role: 'status' });
  private readonly ranks: number[];
  private readonly shifts: Map<number, number>;
  private readonly steps: (number | null)[];
  private at = 0;

  constructor(
    private readonly collectives: readonly Collective[],
    private readonly open: ((place: RankPlace) => void) | null,
    job: string | null,
    nameOf: (group: string) => string,
  ) {
    this.ranks = [...new Set(collectives.flatMap(({ members }) => members.map(({ rank }) => rank)))].sort(
      (a, b) => a - b,
    );
    this.shifts = shiftsOf(collectives, this.ranks);
    this.steps = [...new Set(collectives.map(({ step }) => step))].sort((a, b) => (a ?? -1) - (b ?? -1));
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
      'Boxes are collectives; lines join the ranks of one, and rows are aligned by their ends.',
    );
    const title = job === null ? 'Collectives of the ranks' : `Collectives of the ranks, ${visible(job)}`;
    this.root = panelView(title, tools, this.host, legendView(collectives, nameOf), about);
    new ResizeObserver(() => this.draw()).observe(this.host);
    this.show(0);
  }

  private show(place: number): void {
    this.at = Math.min(Math.max(place, 0), this.steps.length - 1);
    this.draw();
  }

  private drawn(): Collective[] {
    const own = this.collectives.filter(({ step, members }) => step === this.steps[this.at] && members.length > 0);
    const boxes = own.reduce((sum, { members }) => sum + members.length, 0);
    if (boxes <= MOST) return own;
    const wait = ({ members }: Collective): number => Math.max(...members.map((member) => member.wait));
    return own.sort((a, b) => wait(b) - wait(a)).slice(0, Math.floor(MOST / Math.max(this.ranks.length, 1)));
  }

  private draw(): void {
    const width = this.host.clientWidth;
    if (width === 0) return;
    const shown = this.drawn();
    const timeOf = (member: Member): number => member.start + this.shifts.get(member.rank)!;
    const starts = shown.flatMap(({ members }) => members.map(timeOf));
    const ends = shown.flatMap(({ members }) => members.map((member) => timeOf(member) + member.length));
    const from = starts.reduce((a, b) => Math.min(a, b), Infinity);
    const to = Math.max(
      ends.reduce((a, b) => Math.max(a, b), -Infinity),
      from + 1,
    );
    const step = this.steps[this.at];
    const all = this.collectives.filter((each) => each.step === step).length;
    const some = shown.length < all ? `, the ${shown.length} with the longest waits` : '';
    this.words.textContent = `${step === null || step === undefined ? 'Outside steps' : `Step ${step}`}: ${all} collectives${some}, ${withUnit(to - from, 'ns')}`;
    const x = (time: number): number => GUTTER + ((time - from) / (to - from)) * (width - GUTTER - 8);
    const y = (rank: number): number => AXIS + this.ranks.indexOf(rank) * ROW + (ROW - BOX) / 2;
    const height = AXIS + this.ranks.length * ROW + 4;
    const picture = shape('svg', { width, height, role: 'group', 'aria-label': 'Collectives of the ranks over time' });
    for (const time of ticks({ start: 0, end: to - from }, Math.max(2, Math.floor(width / 140))).times) {
      const at = x(from + time);
      picture.append(shape('line', { x1: at, x2: at, y1: AXIS - 4, y2: height, class: 'rank-grid' }));
      if (at < width - 60)
        picture.append(shape('text', { x: at + 3, y: AXIS - 8, class: 'rank-tick' }, roundValue(time, 'ns')));
    }
    for (const rank of this.ranks)
      picture.append(shape('text', { x: 0, y: y(rank) + 13, class: 'rank-name' }, `rank ${rank}`));
    for (const collective of shown) picture.append(this.joined(collective, x, y, timeOf));
    this.host.replaceChildren(picture);
  }

  private joined(
    collective: Collective,
    x: (time: number) => number,
    y: (rank: number) => number,
    timeOf: (member: Member) => number,
  ): SVGElement {
    const group = shape('g', { class: 'rank-collective' });
    const members = [...collective.members].sort((a, b) => a.rank - b.rank);
    const color = colorOfGroup(collective.group);
    members.slice(1).forEach((member, place) => {
      const above = members[place]!;
      const ends = [above, member].map((each) => x(timeOf(each) + each.length));
      group.append(
        shape('line', { x1: ends[0]!, x2: ends[1]!, y1: y(above.rank) + BOX, y2: y(member.rank), class: 'rank-line' }),
      );
    });
    for (const member of members) group.append(...this.boxes(collective, member, x, y, timeOf, color));
    return group;
  }

  private boxes(
    collective: Collective,
    member: Member,
    x: (time: number) => number,
    y: (rank: number) => number,
    timeOf: (member: Member) => number,
    color: string,
  ): SVGElement[] {
    const [start, middle, end] = [0, member.wait, member.length].map((after) => x(timeOf(member) + after)) as [
      number,
      number,
      number,
    ];
    const top = y(member.rank);
    const words = [
      `${visible(collective.op)} of group ${visible(collective.group)} on rank ${member.rank}`,
      `${withUnit(member.length, 'ns')}, of which ${withUnit(member.wait, 'ns')} waiting`,
      collective.last === null ? '' : `last: rank ${collective.last}`,
    ].filter(Boolean);
    const wait = shape('rect', {
      x: start,
      y: top,
      width: Math.max(middle - start, 0),
      height: BOX,
      fill: color,
      class: 'rank-wait',
    });
    const box = shape('rect', {
      x: middle,
      y: top,
      width: Math.max(end - middle, 1.5),
      height: BOX,
      fill: member.rank === collective.last ? colorOf('comm') : color,
      class: 'rank-box',
    });
    const open = this.open;
    for (const part of [wait, box]) {
      part.append(shape('title', {}, words.join('\n')));
      if (open)
        part.addEventListener('click', () =>
          open({ rank: member.rank, start: member.start, end: member.start + member.length }),
        );
    }
    return [wait, box];
  }
}

function lanesOf(report: Report, job: string | null, open: ((place: RankPlace) => void) | null): HTMLElement | null {
  const { job_collectives: all, collective_ranks: members } = report.tables;
  if (!all || !members || all.rows.length === 0) return null;
  if (
    !hasColumns(all, 'id', 'op', 'group', 'step') ||
    !hasColumns(members, 'id', 'rank', 'start_ns', 'dur_ns', 'wait_ns')
  )
    return null;
  const collectives = collectivesOf(all, members).filter((each) => each.members.length > 0);
  return collectives.length > 0
    ? new RankLanes(collectives, open, job, groupNames(report.tables['groups'])).root
    : null;
}

/** The ranks of each job. */
export function rankLanesView(report: Report, open: ((place: RankPlace) => void) | null): HTMLElement | null {
  const made = jobsOf(report).flatMap(({ name, report: own }) => {
    const lanes = lanesOf(own, name, open);
    return lanes ? [lanes] : [];
  });
  return made.length > 1 ? element('div', {}, ...made) : (made[0] ?? null);
}
