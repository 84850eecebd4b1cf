// The critical path on the page: a bar for each step, coloured by kind.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  assertFits,
  DATA,
  LOOKS,
  closeBrowser,
  colours,
  eventually,
  folder,
  frames,
  makePage,
  open,
  openBrowser,
  shoot,
  showChart,
} from './browser.mjs';

const KERNEL = '#3f7cc4';
const CPU = '#d4842c';
const SECTION = 'table-path_kinds';
const KINDS = ['kernel', 'comm', 'copy', 'queue', 'launch', 'cpu', 'call', 'sync', 'unknown'];
const sum = (values) => values.reduce((total, value) => total + value, 0);

before(openBrowser);
after(closeBrowser);

/** Steps of 300 us of CPU time and a kernel of 100 us; every tenth kernel takes 700 us. Times are in us. */
function writeSteps(count) {
  const traceEvents = [];
  const add = (cat, name, tid, ts, dur, args = {}) =>
    traceEvents.push({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
  let now = 0;
  for (let step = 0; step < count; step++) {
    const begin = now;
    const kernel = step % 10 === 5 ? 700 : 100;
    const correlation = step + 1;
    add('cuda_runtime', 'cudaLaunchKernel', 1, now + 300, 5, { correlation });
    add('kernel', 'ampere_sgemm', 7, now + 307, kernel, { device: 0, stream: 7, correlation });
    add('cuda_runtime', 'cudaDeviceSynchronize', 1, now + 306, kernel + 5);
    now += 311 + kernel;
    add('user_annotation', `ProfilerStep#${step}`, 1, begin, now - begin);
  }
  const path = join(folder, `steps-${count}.json`);
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents }));
  return path;
}

async function openChart(made, settings = {}) {
  const { page, close } = await open(made, settings);
  const canvas = page.locator(`#${SECTION} .canvas`);
  await showChart(page, canvas);
  return { page, canvas, close, label: await canvas.getAttribute('aria-label') };
}

/** The share of a colour among the bars. */
function shareOf(pixels, colour, others) {
  return pixels[colour] / sum([colour, ...others].map((each) => pixels[each] ?? 0));
}

for (const count of [1, 8, 500]) {
  test(`a path of ${count} steps has a bar for each, in light and dark`, async () => {
    const made = makePage(`path-${count}`, 'path', writeSteps(count));
    const windows = made.report.tables.path_windows.rows;
    assert.equal(windows.length, count + 1);
    for (const row of windows) assert.equal(sum(KINDS.map((kind) => row[`${kind}_ns`])), row.total_ns);
    const [run] = windows;
    for (const [colorScheme, width] of LOOKS) {
      const { page, close, label } = await openChart(made, { colorScheme, width });
      await shoot(page.locator(`#${SECTION}`), `path-${count}-${colorScheme}-${width}`);
      assert.match(label, /^Critical path by step\. /);
      assert.match(label, count > 12 ? new RegExp(`\\. ${count} steps, on average kernel `) : /step 0: kernel /);
      const pixels = await colours(page, SECTION);
      const kernel = shareOf(pixels, KERNEL, [CPU]);
      if (width === 1280)
        assert.ok(Math.abs(kernel - run.kernel_ns / (run.kernel_ns + run.cpu_ns)) < 0.06, `${count}: ${kernel}`);
      await assertFits(page);
      await close();
    }
  });
}

test('steps of a path can be compared by shares, and looked at by hovering', async () => {
  const made = makePage('path-shares', 'path', writeSteps(20));
  const { page, canvas, close } = await openChart(made);
  const plain = await colours(page, SECTION);
  await page.locator(`#${SECTION}`).getByRole('button', { name: 'Shares' }).click();
  await frames(page);
  assert.match(await canvas.getAttribute('aria-label'), /^Critical path by step, shares\. 20 steps/);
  const shares = await colours(page, SECTION);
  assert.ok(shares[CPU] > 1.5 * plain[CPU], 'every bar is as high as the axis');
  const before = Object.keys(shares).length;
  await canvas.hover({ position: { x: 300, y: 120 } });
  await eventually(async () =>
    assert.notEqual(Object.keys(await colours(page, SECTION)).length, before, 'the tooltip is drawn'),
  );
  await shoot(page, 'path-hover');
  assert.notEqual(sum(Object.values(await colours(page, SECTION))), 0);
  await close();
});

test('a path without steps is one bar; columns of nothing are left out', async () => {
  const made = makePage('path-trace', 'path', join(DATA, 'nsys/extras.nsys-rep'));
  const { page, close, label } = await openChart(made);
  assert.match(label, /^Critical path\. trace: kernel /);
  const kinds = made.report.tables.path_windows.rows;
  for (const kind of KINDS) {
    const isThere = kinds.some((row) => row[`${kind}_ns`] > 0);
    const header = page.locator(`#table-path_windows [data-column="${kind}_ns"]`);
    assert.equal((await header.count()) > 0, isThere, kind);
  }
  await close();
});

test('a comparison shows which part of the path changed', async () => {
  const paths = [join(DATA, 'diff/llama_train_eager.json.gz'), join(DATA, 'torch/llama_train_compiled.json.gz')];
  const made = makePage('path-diff', 'diff', ...paths);
  const { page, close } = await open(made);
  const said = made.report.inputs[0].notes.find((note) => note.includes('critical path'));
  assert.ok((await page.locator('body').textContent()).includes(said));
  assert.equal(await page.locator('#table-path_parts h2').textContent(), 'Parts of the critical path');
  await close();
});
