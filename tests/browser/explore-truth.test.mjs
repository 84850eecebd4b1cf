// The pixels are true: in random windows of random traces, what is drawn is what the program says of the same ops and gaps.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { closeBrowser, DATA, folder, openBrowser } from './browser.mjs';
import { lookAt, openLive, openStored, settled, sql } from './explore.mjs';

before(openBrowser);
after(closeBrowser);

/** The same numbers every time. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Kernels of all lengths on three streams, some at the same time, some back to back, and calls that launch them. */
function randomTrace(seed, count) {
  const next = random(seed);
  const events = [];
  let time = 1000;
  for (let i = 0; i < count; i++) {
    const length = 1 + Math.floor(10 ** (next() * 4)) / 10;
    const stream = 7 + Math.floor(next() * 3);
    const name = ['gemm_kernel', 'ncclDevKernel_AllReduce', 'softmax', 'elementwise_add', 'Memcpy HtoD'][
      Math.floor(next() * 5)
    ];
    const ids = { device: 0, stream, correlation: i };
    events.push(
      { ph: 'X', cat: 'kernel', name, pid: 0, tid: stream, ts: time, dur: length, args: ids },
      {
        ph: 'X',
        cat: 'cuda_runtime',
        name: 'cudaLaunchKernel',
        pid: 1,
        tid: 1,
        ts: time - 5 - next() * 50,
        dur: 2,
        args: { correlation: i },
      },
    );
    time += next() < 0.3 ? length / 2 : length + (next() < 0.05 ? 3000 * next() : 5 * next());
  }
  const path = join(folder, `random-${seed}.json`);
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

/** Very long names are cut. */
const isCalled = (name, shown) => (shown.endsWith('\u2026') ? name.startsWith(shown.slice(0, -1)) : name === shown);

/** Items in order take up the ops in order, each so many as it says: none is lost and none is there twice. */
function checkOps(lane, ops, model) {
  const touching = ops.filter((op) => op.end_ns >= model.start && op.start_ns <= model.end);
  if (touching.length === 0) return assert.equal(lane.items.length, 0);
  assert.ok(lane.items.length > 0, lane.detail);
  let at = ops.findIndex((op) => op.start_ns === lane.items[0].start);
  assert.ok(at >= 0 && ops.indexOf(touching[0]) >= at, 'from the first op that is seen');
  let reach = Math.max(-Infinity, ...ops.slice(0, at).map((op) => op.end_ns));
  for (const item of lane.items) {
    // Next to one that reaches into the window there may be some that end before it.
    for (; ops[at].start_ns < item.start && ops[at].end_ns < model.start; at++) reach = Math.max(reach, ops[at].end_ns);
    const own = ops.slice(at, at + item.count);
    assert.equal(own[0].start_ns, item.start);
    assert.equal(Math.max(...own.map((op) => op.end_ns)), item.end);
    assert.ok(
      own.some((op) => isCalled(op.name, item.name) && op.category === item.category),
      item.name,
    );
    let busy = 0; // what they cover and those before do not
    for (const op of own) {
      busy += Math.max(0, op.end_ns - Math.max(op.start_ns, reach));
      reach = Math.max(reach, op.end_ns);
    }
    assert.equal(item.busy, busy);
    at += item.count;
  }
  assert.ok(ops.indexOf(touching.at(-1)) < at, 'to the last one');
}

function checkGaps(lane, gaps, model) {
  const touching = gaps.filter((gap) => gap.end_ns > model.start && gap.start_ns < model.end);
  const counted = lane.items.reduce((sum, item) => sum + item.count, 0);
  assert.ok(counted >= touching.length, `${counted} of ${touching.length} gaps`);
  for (const item of lane.items) {
    if (item.count > 1) continue;
    const gap = gaps.find((each) => each.start_ns <= item.start && each.end_ns >= item.end);
    assert.ok(gap && gap.cause === item.name, `${item.start}: ${item.name}`);
  }
}

async function checkWindow(page, truth, start, end) {
  const model = await lookAt(page, Math.floor(start), Math.ceil(end));
  for (const lane of model.lanes) {
    assert.ok(lane.isExact);
    if (lane.kind === 'ops')
      checkOps(
        lane,
        truth.ops.filter((op) => op.stream === lane.stream && op.device === lane.device),
        model,
      );
    if (lane.kind === 'gaps')
      checkGaps(
        lane,
        truth.gaps.filter((gap) => gap.device === lane.device),
        model,
      );
  }
  return model;
}

function truthOf(trace) {
  return {
    ops: sql(trace, 'select start_ns, end_ns, name, category, device, stream from ops order by start_ns, end_ns desc'),
    gaps: sql(trace, 'select start_ns, end_ns, cause, device from gaps order by start_ns'),
  };
}

async function checkTrace(opened, trace, seed) {
  const { page } = opened;
  const truth = truthOf(trace);
  const next = random(seed);
  const { start, end } = await settled(page);
  for (let i = 0; i < 10; i++) {
    const length = (end - start) * 10 ** (-5 * next());
    const from = start + next() * (end - start - length);
    await checkWindow(page, truth, from, from + Math.max(length, 30));
  }
  // At the deepest zoom every op is there by itself.
  for (let i = 0; i < 5; i++) {
    const op = truth.ops[Math.floor(next() * truth.ops.length)];
    const model = await checkWindow(page, truth, Math.max(op.start_ns - 500, start), Math.min(op.start_ns + 500, end));
    const lane = model.lanes.find((each) => each.kind === 'ops' && each.stream === op.stream);
    assert.ok(lane.items.every((item) => item.count === 1));
    assert.ok(
      lane.items.some((item) => item.start === op.start_ns && item.end === op.end_ns && isCalled(op.name, item.name)),
    );
  }
  await opened.close();
}

test('a random trace of 20,000 ops, with a server', async () => {
  const trace = randomTrace(5, 20_000);
  await checkTrace(await openLive({}, trace), trace, 11);
});

test('a random trace on a page of its own', async () => {
  const trace = randomTrace(8, 3000);
  await checkTrace(await openStored('truth', trace), trace, 12);
});

test('a capture, with a server and without', async () => {
  const trace = join(DATA, 'torch/llama_train_compiled.json.gz');
  await checkTrace(await openLive({}, trace), trace, 13);
  await checkTrace(await openStored('truth-capture', trace), trace, 14);
});
