// The parts of the timeline that need no browser: spans, searching, names, and the command that shows more.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
const { build } = createRequire(join(web, 'package.json'))('esbuild');

async function load(name) {
  const made = await build({
    entryPoints: [join(web, 'src', name)],
    bundle: true,
    write: false,
    format: 'esm',
  });
  return import(`data:text/javascript,${encodeURIComponent(made.outputFiles[0].text)}`);
}

const { fit, pan, ticks, zoom } = await load('timeline/span.ts');
const { between, itemNear, unpack } = await load('timeline/rows.ts');
const { Catalog, shortName } = await load('timeline/catalog.ts');
const { countHidden } = await load('timeline/describe.ts');
const { counterText } = await load('timeline/curve.ts');
const { Tiles } = await load('timeline/tiles.ts');
const { groupsOf, arrange } = await load('timeline/lanes.ts');
const { read, write } = await load('explore/place.ts');
const { StoredSource } = await load('explore/stored.ts');
const { address } = await load('explore/server.ts');
const { tell } = await load('explore/account.ts');

test('clocks are in MHz and GHz', () => {
  assert.equal(counterText(1_980_000_000, 'Hz'), '1.980 GHz');
  assert.equal(counterText(345_000_000, 'Hz'), '345 MHz');
  assert.equal(counterText(50, 'Hz'), '50 Hz');
});

test('spans stay inside the whole', () => {
  const whole = { start: 100, end: 1100 };
  assert.deepEqual(zoom(whole, 0.5, 100, whole), { start: 100, end: 600 });
  assert.deepEqual(zoom(whole, 0.5, 1100, whole), { start: 600, end: 1100 });
  assert.deepEqual(zoom({ start: 500, end: 600 }, 100, 550, whole), whole);
  assert.deepEqual(pan({ start: 500, end: 600 }, 9, whole), { start: 1000, end: 1100 });
  assert.deepEqual(pan({ start: 500, end: 600 }, -0.5, whole), { start: 450, end: 550 });
  assert.deepEqual(fit({ start: 0, end: 1e9 }, whole), whole);
  const least = zoom({ start: 500, end: 530 }, 0.001, 510, whole);
  assert.ok(least.end - least.start === 20 && least.start <= 510 && least.end >= 510);
  const nothing = fit({ start: 5, end: 5 }, { start: 5, end: 5 });
  assert.ok(nothing.end > nothing.start);
});

test('ticks are round and few', () => {
  for (const length of [1, 7, 20, 999, 12345, 4e9, 9e18]) {
    const { step, times } = ticks({ start: 3, end: 3 + length }, 8);
    assert.match(String(step / 10 ** Math.floor(Math.log10(step) + 1e-9)), /^[125]$/);
    assert.ok(times.length <= 12);
  }
});

/** Items as [start, end, name, count, busy]; packed as docs/json.md says. */
function pack(items) {
  const bytes = [];
  const put = (number) => {
    for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) | 128);
    bytes.push(number);
  };
  let before = 0;
  for (const [start, end, name, count = 1, busy = end - start] of items) {
    const plain = count === 1 && busy === end - start;
    put(start >= before ? 2 * (start - before) : 2 * (before - start) - 1);
    put(end - start);
    put(2 * name + (plain ? 0 : 1));
    if (!plain) (put(count), put(end - start - busy));
    before = end;
  }
  return btoa(String.fromCharCode(...bytes));
}

function row(items, grain_ns = 0) {
  return unpack({ kind: 'ops', device: 0, stream: 7, pid: null, tid: null, level: null, grain_ns, items: pack(items) });
}

test('items are unpacked, also beyond 32 bits', () => {
  const items = [
    [5, 9, 0],
    [7, 300, 130, 1, 291],
    [2 ** 40, 2 ** 50 + 1, 1, 70000, 12],
  ];
  const made = row(items);
  assert.deepEqual([...made.start], [5, 7, 2 ** 40]);
  assert.deepEqual([...made.end], [9, 300, 2 ** 50 + 1]);
  assert.deepEqual([...made.busy], [4, 291, 12]);
  assert.deepEqual([...made.count], [1, 1, 70000]);
  assert.deepEqual([...made.name], [0, 130, 1]);
});

test('items are found by time', () => {
  const made = row([
    [0, 100, 0],
    [10, 20, 1],
    [30, 35, 2],
    [200, 210, 3],
    [211, 260, 4],
  ]);
  assert.deepEqual(between(made, 150, 205), [3, 4]);
  assert.equal(itemNear(made, 15, 0.1).item, 1, 'the innermost');
  assert.equal(itemNear(made, 50, 0.1).item, 0);
  assert.equal(itemNear(made, 150, 10), null);
  assert.deepEqual(itemNear(made, 210.5, 5), { item: 4, others: 1 }, 'next to it: the longest');
});

test('names of kernels are shortened', () => {
  for (const [name, short] of [
    ['nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN', 'nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN'],
    ['void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2>(float*)', 'CatArrayBatchedCopy'],
    ['void cutlass::Kernel2<cutlass_80_simt_sgemm_nn_align1>(Params)', 'cutlass_80_simt_sgemm_nn_align1'],
    ['Memcpy HtoD (Pinned -> Device)', 'Memcpy HtoD'],
    ['(odd)', '(odd)'],
    ['', ''],
  ])
    assert.equal(shortName(name), short);
});

test('the command for more names the part and keeps the selection', async () => {
  const options = [
    { name: 'name', value: 'a b' },
    { name: 'device', value: '0' },
  ];
  const source = new StoredSource({
    command: 'summary',
    inputs: [{ input: 'a', path: "/tmp/it's $(here).json" }],
    tables: {},
    timelines: [{ input: 'a', options, names: [], categories: [], rows: [] }],
  });
  assert.equal(
    source.command(0, 10.4, 99.2),
    "gputime summary '/tmp/it'\\''s $(here).json' --from 10ns --to 100ns --name 'a b' --device 0",
  );
  assert.equal(source.command(0), "gputime view '/tmp/it'\\''s $(here).json'");
});

test('labels of names that begin alike differ', () => {
  const catalog = new Catalog();
  const names = [
    'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3>>(int)',
    'void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, MulFunctor>>(int)',
    'void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, DivFunctor>>(int)',
    'softmax_warp_forward',
  ];
  const places = names.map((name) => catalog.add(name, 'elementwise'));
  const labels = places.map((place) => catalog.label(place));
  assert.equal(new Set(labels).size, 4, labels.join('\n'));
  assert.equal(labels[3], 'softmax_warp_forward');
  assert.match(labels[0], /^vectorized_\S+ \u00b7 .*add/);
  assert.equal(catalog.add(names[0], 'elementwise'), places[0]);
  assert.ok(catalog.has(places[1], 'mulfunctor') && !catalog.has(places[2], 'mulfunctor'));
});

test('a place is written and read again', () => {
  const place = {
    input: 2,
    span: { start: -5, end: 1e12 },
    pin: { lane: 7, start: 3, end: 4 },
    chosen: { start: 1, end: 2 },
    find: 'a&b=c #\u00e4',
    folds: new Map([
      ['gpu0', 'folded'],
      ['cpu1.2', 'all'],
    ]),
  };
  assert.deepEqual(read(write(place)), place);
  const nothing = { input: 0, span: null, pin: null, chosen: null, find: '', folds: new Map() };
  assert.equal(write(nothing), '');
  for (const odd of ['', '#content', '#at=-1', '#at=1.5', '#at=z']) assert.equal(read(odd), null);
  assert.deepEqual(read('#at=0&window=9,3&pin=1,2&chosen=a,b&fold=,-'), nothing);
});

test('addresses leave out what is not asked and quote the rest', () => {
  assert.equal(address('search', { text: 'a b&c', from_ns: undefined, limit: 1 }), 'search?text=a%20b%26c&limit=1');
  assert.equal(address('alive', {}), 'alive');
});

const LANES = {
  start_ns: 0,
  end_ns: 1 << 26,
  options: [],
  names: [],
  categories: [],
  rows: [
    { kind: 'ops', lane: 3, device: 0, stream: 7, pid: 1, tid: null, level: null, count: 9, busy_ns: 9, grain_ns: 0 },
  ],
};

/** A server that answers one item for each piece, and can be asked what it was asked. */
function fakeServer() {
  const asked = [];
  const window = (input, from, to, width, lanes, signal) => {
    const grain = (to - from) / width;
    asked.push({ from, to, width, lanes, signal });
    const items = Array.from({ length: width }, (_, i) => [from + i * grain, from + i * grain + grain / 2, 0, 2, 1]);
    const rows = [{ ...LANES.rows[0], grain_ns: grain, items: pack(items) }];
    return Promise.resolve({ ...LANES, names: ['k'], categories: ['gemm'], rows });
  };
  return { asked, source: { isLive: true, window } };
}

async function eventually(check) {
  for (let i = 0; i < 2000 && !check(); i++) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(check());
}

test('tiles are asked for once, joined and stretched', async () => {
  globalThis.window ??= globalThis; // where timers are
  const { asked, source } = fakeServer();
  const tiles = new Tiles(source, 0, LANES, () => {}, assert.fail);
  const whole = { start: 0, end: 1 << 26 };
  assert.equal(tiles.row(3, whole, 1000), null, 'nothing is known yet');
  tiles.want(whole, 1000, [3]);
  await eventually(() => tiles.isExact(3, whole, 1000) && !tiles.isBusy);
  const row = tiles.row(3, whole, 1000);
  assert.deepEqual(
    [...row.start],
    [...row.start].sort((a, b) => a - b),
  );
  assert.equal(new Set(row.start).size, row.items, 'each once');

  const part = { start: 1 << 20, end: (1 << 20) + (1 << 18) };
  const stretched = tiles.row(3, part, 1000);
  assert.ok(stretched.items > 0 && !tiles.isExact(3, part, 1000), 'coarser ones meanwhile');
  tiles.want(part, 1000, [3]);
  await eventually(() => tiles.isExact(3, part, 1000) && !tiles.isBusy);
  const fine = tiles.row(3, part, 1000);
  assert.ok(fine.packed.grain_ns <= (1 << 18) / 1000);
  assert.equal(new Set(fine.start).size, fine.items);
  const count = asked.length;
  const seen = new Set(asked.map(({ from, to, width }) => `${from} ${to} ${width}`));
  assert.equal(seen.size, count, 'nothing is asked twice');
  tiles.stop();
});

test('the points of a counter rise over the borders of tiles, and a value holds until the next', async () => {
  globalThis.window ??= globalThis;
  const lanes = { ...LANES, rows: [{ ...LANES.rows[0], kind: 'counters', lane: 3, low: 0, high: 9 }] };
  // As a server answers: the value at the start of the window first, then what changes in it.
  const every = 3 << 19; // not where tiles begin
  const window = async (input, from, to) => {
    const points = [Math.max(from, 0), Math.floor(from / every), Math.floor(from / every)];
    for (let at = (Math.floor(from / every) + 1) * every; at < to; at += every) points.push(at, at / every, at / every);
    return { ...lanes, rows: [{ ...lanes.rows[0], points }] };
  };
  const tiles = new Tiles({ isLive: true, window }, 0, lanes, () => {}, assert.fail);
  const part = { start: 1 << 20, end: 1 << 25 };
  tiles.want(part, 16000, [3]);
  await eventually(() => tiles.isExact(3, part, 16000) && !tiles.isBusy);
  const row = tiles.row(3, part, 16000);
  assert.ok(row.items > 16);
  for (let i = 0; i + 1 < row.items; i++) {
    assert.ok(row.start[i] < row.start[i + 1]);
    assert.equal(row.end[i], row.start[i + 1]);
  }
  for (let at = part.start; at < part.end; at += 99991) {
    const { item } = itemNear(row, at, 0);
    assert.equal(row.high[item], Math.floor(at / every), `at ${at}`);
  }
  tiles.stop();
});

test('what is no longer wanted is abandoned', async () => {
  globalThis.window ??= globalThis;
  const asked = [];
  const never = (input, from, to, width, lanes, signal) =>
    new Promise((resolve, reject) => {
      asked.push({ from, to, signal });
      signal.addEventListener('abort', () => reject(new Error('abandoned')));
    });
  const tiles = new Tiles({ isLive: true, window: never }, 0, LANES, () => {}, assert.fail);
  tiles.want({ start: 0, end: 1 << 16 }, 1000, [3]);
  await eventually(() => asked.length > 0);
  const [first] = asked;
  tiles.want({ start: 1 << 24, end: (1 << 24) + (1 << 16) }, 1000, [3]);
  await eventually(() => first.signal.aborted);
  await eventually(() => asked.at(-1).from >= 1 << 23 && !asked.at(-1).signal.aborted);
  tiles.stop();
  assert.ok(asked.every(({ signal }) => signal.aborted));
});

test('GPUs are open, of threads the one that launches most', () => {
  const base = { device: null, pid: 1, stream: null, tid: null, level: null, count: 1, busy_ns: 1, grain_ns: 0 };
  const rows = [
    { ...base, kind: 'gaps', device: 0 },
    ...Array.from({ length: 20 }, (_, stream) => ({ ...base, kind: 'ops', device: 0, stream, busy_ns: stream })),
    { ...base, kind: 'calls', tid: 5, level: 0, count: 10 },
    { ...base, kind: 'calls', tid: 6, level: 0, count: 1000 },
    ...Array.from({ length: 9 }, (_, level) => ({ ...base, kind: 'python', tid: 6, level, count: 5 })),
  ].map((row, lane) => ({ ...row, lane }));
  const groups = groupsOf({ ...LANES, rows });
  assert.deepEqual(
    groups.map(({ id, standard }) => [id, standard]),
    [
      ['gpu0', 'some'],
      ['cpu1.6', 'some'],
      ['cpu1.5', 'folded'],
    ],
  );
  const some = arrange(groups, new Map());
  assert.equal(some.lanes.filter(({ packed }) => packed.kind === 'ops').length, 12);
  assert.equal(some.lanes.filter(({ packed }) => packed.kind === 'python').length, 4);
  assert.deepEqual(
    some.mores.map(({ count }) => count),
    [8, 5],
  );
  const all = arrange(groups, new Map(groups.map(({ id }) => [id, 'all'])));
  assert.equal(all.lanes.length, rows.length);
});

test('counters of the CPU come after the GPUs and are folded, those of zero are left out', () => {
  const base = { device: null, pid: 1, stream: null, tid: null, level: null, count: 1, busy_ns: 1, grain_ns: 0 };
  const rows = [
    { ...base, kind: 'counters', title: 'Host bytes', low: 0, high: 8 },
    { ...base, kind: 'counters', title: 'Host nothing', low: 0, high: 0 },
    { ...base, kind: 'counters', title: 'Flat', device: 0, low: 5, high: 5 },
    { ...base, kind: 'counters', title: 'Below', device: 0, low: -3, high: 0 },
    { ...base, kind: 'counters', title: 'Nothing', device: 0, low: 0, high: 0 },
    { ...base, kind: 'ops', device: 0, stream: 7 },
  ].map((row, lane) => ({ ...row, lane }));
  assert.deepEqual(
    groupsOf({ ...LANES, rows }).map(({ title, standard, rows: own }) => [title, standard, own.map((row) => row.lane)]),
    [
      ['GPU 0', 'some', [2, 3, 5]],
      ['Counters', 'folded', [0]],
    ],
  );
});

test('the account of a part sums to its length', () => {
  const catalog = new Catalog();
  const [gemm, comm, copy, host] = [
    ['g', 'gemm'],
    ['c', 'comm'],
    ['m', 'memcpy_h2d'],
    ['host', null],
  ].map(([name, category]) => catalog.add(name, category));
  const of = (kind, stream, items) =>
    unpack({ kind, device: 0, stream, pid: null, tid: null, level: null, grain_ns: 0, items: pack(items) });
  const rows = [
    of('ops', 1, [[0, 100, gemm]]),
    of('ops', 2, [
      [50, 150, comm],
      [150, 160, copy],
    ]),
    of('gaps', null, [[160, 200, host]]),
  ];
  const told = tell(rows, catalog, { start: 20, end: 190 });
  assert.deepEqual(told.accounts, [
    {
      device: 0,
      parts: [
        { name: 'compute', ns: 80 },
        { name: 'exposed communication', ns: 50 },
        { name: 'exposed memory', ns: 10 },
        { name: 'idle: host', ns: 30 },
      ],
    },
  ]);
  assert.deepEqual(told.kernels[0], { name: 'c', isKernel: true, ns: 100, count: 1 });
  assert.deepEqual(
    told.kernels.filter(({ isKernel }) => !isKernel).map(({ name }) => name),
    ['m'],
  );
  const joined = [of('ops', 1, [[0, 100, gemm, 5, 80]])];
  assert.equal(tell(joined, catalog, { start: 20, end: 190 }), null, 'what is joined cannot be told');
});

test('only what would have room counts as hidden', () => {
  const rows = [
    row(
      [
        [0, 1000, 0, 50, 900],
        [1024, 2000, 0],
      ],
      1024,
    ),
  ];
  assert.equal(countHidden(rows, { start: 0, end: 2000 }, 1000), 50);
  assert.equal(countHidden(rows, { start: 0, end: 2e6 }, 1000), 0);
  assert.equal(countHidden(rows, { start: 1100, end: 1900 }, 1000), 0);
});
