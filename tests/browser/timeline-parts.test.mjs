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
    entryPoints: [join(web, 'src/timeline', name)],
    bundle: true,
    write: false,
    format: 'esm',
  });
  return import(`data:text/javascript,${encodeURIComponent(made.outputFiles[0].text)}`);
}

const { fit, pan, ticks, zoom } = await load('span.ts');
const { between, itemNear, unpack } = await load('rows.ts');
const { commandFor, countHidden, shortName } = await load('describe.ts');

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

test('the command for more names the part and keeps the selection', () => {
  const report = { command: 'summary', inputs: [{ input: 'a', path: "/tmp/it's $(here).json" }] };
  const options = [
    { name: 'name', value: 'a b' },
    { name: 'device', value: '0' },
  ];
  assert.equal(
    commandFor(report, { input: 'a', options }, { start: 10.4, end: 99.2 }),
    "gputime summary '/tmp/it'\\''s $(here).json' --from 10ns --to 100ns --name 'a b' --device 0 --html -o part.html",
  );
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
