// Colours: one for each category, part of the time and cause on every page; those of text and lines from the style
// sheet, which knows light, dark and print.

const CATEGORIES: Readonly<Record<string, string>> = {
  gemm: '#3f7cc4',
  moe_gemm: '#2a5a9c',
  moe: '#7fb0e6',
  attention: '#8b62c4',
  kv_cache: '#b596dc',
  ssm: '#6a45a0',
  norm: '#2d9c8c',
  rope: '#6cc4b6',
  softmax: '#1e776b',
  activation: '#d4842c',
  elementwise: '#e9b44c',
  reduction: '#a8672a',
  quantize: '#c46fa4',
  index: '#8f9f3a',
  sort: '#b8c55e',
  conv: '#4a9fb8',
  pool: '#8fcbdc',
  optimizer: '#a34f7f',
  loss: '#e08fb8',
  copy: '#7d8f5a',
  random: '#9c8468',
  fill: '#b9a58c',
  fft: '#5866b8',
  linalg: '#929ce0',
  query: '#b07a9a',
  prepare: '#c7a13a',
  autotune: '#8a7a4a',
  graph: '#5b7083',
  other: '#8d8d92',
  comm: '#cf4b43',
  memcpy_h2d: '#3f9c55',
  memcpy_d2h: '#72bd7c',
  memcpy_d2d: '#2c7440',
  memcpy_p2p: '#a3d4a2',
  memcpy: '#57a86a',
  memset: '#93b88f',
};

const PARTS: Readonly<Record<string, string>> = {
  compute: CATEGORIES.gemm!,
  'exposed communication': CATEGORIES.comm!,
  'exposed memory': CATEGORIES.memcpy_h2d!,
  idle: '#9da7b3',
  'cpu(non-gpu)': '#9da7b3',
};

/** Why a GPU was idle. */
const CAUSES: Readonly<Record<string, string>> = {
  sync: '#cf4b43',
  host: '#d4842c',
  launch: '#e9b44c',
  dependency: '#8b62c4',
  unknown: '#8d8d92',
  end: '#c3c9d0',
};

/** Where a span went, against ideal kernels, and what of it counters show. */
const WATERFALL: Readonly<Record<string, string>> = {
  ideal: CATEGORIES.norm!,
  inefficiency: CATEGORIES.activation!,
  unmodelled: CATEGORIES.fill!,
  exposed_comm: CATEGORIES.comm!,
  exposed_memory: CATEGORIES.memcpy_h2d!,
  tensor: CATEGORIES.gemm!,
  memory: CATEGORIES.memcpy_h2d!,
  below_roof: CATEGORIES.elementwise!,
  clock: CATEGORIES.optimizer!,
};

/** A map, for a trace may name a category after what every object has. */
const NAMED = new Map(Object.entries({ ...CATEGORIES, ...PARTS, ...CAUSES, ...WATERFALL }));

/** Colours of names that are not listed. */
const OTHERS = [
  '#c46a3f',
  '#5d9e9a',
  '#9a6fb0',
  '#b5a13c',
  '#4f86b0',
  '#b0566c',
  '#6f9c4c',
  '#8c7fc9',
  '#c98f5f',
  '#4d8f74',
  '#a87fa0',
  '#7f9fb8',
];

function hash(name: string): number {
  let sum = 2166136261;
  for (let i = 0; i < name.length; i++) sum = Math.imul(sum ^ name.charCodeAt(i), 16777619);
  return sum >>> 0;
}

/** By position: for what has no fixed colour, such as the inputs of a chart. */
export function colorAt(place: number): string {
  return OTHERS[place % OTHERS.length]!;
}

/** By the name alone, so that it is the same on every page; names may share one. */
export function tintOf(name: string): string {
  const key = name.toLowerCase();
  return NAMED.get(key) ?? given.get(key) ?? colorAt(hash(key));
}

const given = new Map<string, string>();

/** The tint of a category, cause or phase, or the next one while another name of this page has that. */
export function colorOf(name: string): string {
  const key = name.toLowerCase();
  let color = tintOf(key);
  if (NAMED.has(key) || given.has(key)) return color;
  const taken = new Set(given.values());
  for (let place = hash(key); taken.has(color) && taken.size < OTHERS.length; place++) color = colorAt(place + 1);
  given.set(key, color);
  return color;
}

/** Whether a category is GPU work, not non-GPU time. */
export function isWork(category: string): boolean {
  return !Object.keys(PARTS).includes(category.toLowerCase());
}

/** Text that can be read on a colour. */
export function inkOn(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) as [number, number, number];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#1d232b' : '#ffffff';
}

export interface Ink {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly panel: string;
  readonly bar: string;
  readonly accent: string;
  readonly high: string;
  readonly better: string;
  readonly worse: string;
  readonly font: string;
}

export function ink(): Ink {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: of('--text'),
    muted: of('--muted'),
    line: of('--line'),
    panel: of('--panel'),
    bar: of('--bar'),
    accent: of('--accent'),
    high: of('--high'),
    better: of('--better'),
    worse: of('--worse'),
    font: of('--font'),
  };
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

/** Runs when the colours of the page have changed. */
export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

function changed(): void {
  for (const listener of listeners) listener();
}

export type Theme = 'auto' | 'light' | 'dark';

export function setTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  changed();
}

/** Printed pages use the light theme. */
export function followSystem(): void {
  dark.addEventListener('change', changed);
  let before: string | undefined;
  addEventListener('beforeprint', () => {
    before = document.documentElement.dataset.theme;
    setTheme('light');
  });
  addEventListener('afterprint', () => setTheme((before as Theme | undefined) ?? 'auto'));
}
