// What part of the time is shown, and how zooming and panning change it.

const LEAST_NS = 20;

export interface Span {
  readonly start: number;
  readonly end: number;
}

export function lengthOf(span: Span): number {
  return span.end - span.start;
}

/** Keeps a span inside the whole and above the least length. */
export function fit(span: Span, whole: Span): Span {
  const length = Math.min(Math.max(lengthOf(span), LEAST_NS), Math.max(lengthOf(whole), LEAST_NS));
  const middle = (span.start + span.end) / 2;
  const wanted = lengthOf(span) === length ? span.start : middle - length / 2;
  const start = Math.min(Math.max(wanted, whole.start), Math.max(whole.start, whole.end - length));
  return { start, end: start + length };
}

/** Factors above 1 show more; the time `at` stays where it is. */
export function zoom(span: Span, factor: number, at: number, whole: Span): Span {
  const length = Math.min(Math.max(lengthOf(span) * factor, LEAST_NS), Math.max(lengthOf(whole), LEAST_NS));
  const share = (at - span.start) / Math.max(lengthOf(span), 1);
  const start = at - share * length;
  return fit({ start, end: start + length }, whole);
}

export function pan(span: Span, share: number, whole: Span): Span {
  const shift = lengthOf(span) * share;
  return fit({ start: span.start + shift, end: span.end + shift }, whole);
}

/** Round times to write at an axis, about so many, and the distance between them. */
export function ticks(span: Span, count: number): { readonly step: number; readonly times: number[] } {
  const rough = Math.max(lengthOf(span) / Math.max(count, 1), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1) * power);
  const times: number[] = [];
  for (let i = Math.ceil(span.start / step); i * step <= span.end; i++) times.push(i * step);
  return { step, times };
}
