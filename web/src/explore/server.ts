// Answers from a running `gputime view`: addresses below that of the page, which has the token in it.

import { unpackReport, type Report } from '../data';
import type { Timeline } from '../timeline/rows';
import type {
  Flame,
  FlameQuery,
  Found,
  Item,
  SearchQuery,
  Selection,
  Source,
  SourceInput,
  SqlAnswer,
  ViewInfo,
} from './source';

type Parameters = Readonly<Record<string, string | number | undefined>>;

const ALIVE_MS = 10_000; // the server ends when nobody has asked for a while

/** The address of a question; what is undefined is left out, times are whole nanoseconds. */
export function address(path: string, parameters: Parameters): string {
  const words: string[] = [];
  for (const [key, value] of Object.entries(parameters))
    if (value !== undefined) words.push(`${key}=${encodeURIComponent(String(value))}`);
  return words.length > 0 ? `${path}?${words.join('&')}` : path;
}

const floor = (time: number | undefined): number | undefined => (time === undefined ? time : Math.floor(time));
const ceil = (time: number | undefined): number | undefined => (time === undefined ? time : Math.ceil(time));

export class ServerSource implements Source {
  readonly isLive = true;
  readonly inputs: readonly SourceInput[];
  private heard: ((isThere: boolean) => void) | null = null;

  constructor(view: ViewInfo) {
    this.inputs = view.inputs;
  }

  async lanes(input: number, signal?: AbortSignal): Promise<Timeline> {
    return (await this.ask('lanes', { input }, signal)) as Timeline;
  }

  async window(
    input: number,
    from: number,
    to: number,
    width: number,
    lanes: readonly number[] | null,
    signal?: AbortSignal,
  ): Promise<Timeline> {
    const parameters = { input, from_ns: floor(from), to_ns: ceil(to), width, lanes: lanes?.join(',') };
    return (await this.ask('window', parameters, signal)) as Timeline;
  }

  async item(
    input: number,
    lane: number,
    start: number,
    end: number,
    nth?: number,
    signal?: AbortSignal,
  ): Promise<Item | null> {
    return (await this.ask('item', { input, lane, start_ns: start, end_ns: end, nth }, signal)) as Item | null;
  }

  async search({ input, text, from, before, limit }: SearchQuery, signal?: AbortSignal): Promise<Found> {
    const parameters = { input, text, from_ns: floor(from), before_ns: ceil(before), limit };
    return (await this.ask('search', parameters, signal)) as Found;
  }

  async report(selection: Selection, signal?: AbortSignal): Promise<Report> {
    const { analyses, from, to, ...rest } = selection;
    const parameters = { analyses: analyses?.join(','), from_ns: floor(from), to_ns: ceil(to), ...rest };
    return unpackReport(await this.ask('report', parameters, signal));
  }

  async diff(a: number, b: number, analyses?: readonly string[], signal?: AbortSignal): Promise<Report> {
    return unpackReport(await this.ask('diff', { a, b, analyses: analyses?.join(',') }, signal));
  }

  async ranks(signal?: AbortSignal): Promise<Report> {
    return unpackReport(await this.ask('ranks', {}, signal));
  }

  async sql(query: string, limit?: number, signal?: AbortSignal): Promise<SqlAnswer> {
    return (await this.ask('sql', { query, limit }, signal)) as SqlAnswer;
  }

  async flame({ input, of, by, from, to }: FlameQuery, signal?: AbortSignal): Promise<Flame> {
    return (await this.ask('flame', { input, of, by, from_ns: floor(from), to_ns: ceil(to) }, signal)) as Flame;
  }

  command(): null {
    return null;
  }

  /** Tells the server that somebody is looking, and when no longer. */
  stayAlive(heard: (isThere: boolean) => void): void {
    this.heard = heard;
    const tell = (path: string): void =>
      void fetch(path, { keepalive: true, cache: 'no-store' }).then(
        () => heard(true),
        () => heard(false),
      );
    setInterval(() => tell('alive'), ALIVE_MS);
    addEventListener('pagehide', () => tell('gone'));
    addEventListener('pageshow', ({ persisted }) => persisted && tell('alive'));
  }

  private async ask(path: string, parameters: Parameters, signal?: AbortSignal): Promise<unknown> {
    const response = await fetch(address(path, parameters), signal ? { signal } : {}).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      this.heard?.(false);
      throw new Error('the server of this page has ended');
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as unknown;
    let reason = `the server answered ${response.status}`;
    try {
      reason = (JSON.parse(text) as { error?: string }).error ?? reason;
    } catch {
      // No reason was given.
    }
    throw new Error(reason);
  }
}
