// The charts of efficiency: the waterfall of a span, and rooflines.
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
  folder,
  makePage,
  open,
  openBrowser,
  shoot,
  showChart,
  textsDuring,
} from './browser.mjs';

const WATERFALL = 'table-waterfall';
const ROOFLINE = 'table-roofline';
const SPAN = '#c3c9d0';
const HOST = '#d4842c';
const HOSTILE = '</script><img src=x onerror=alert(1)> {a|b} \u202elenrek';
const H200 = { name: 'NVIDIA H200', computeMajor: 9, computeMinor: 0, warpSize: 32, numSms: 132 };
const sum = (values) => values.reduce((total, value) => total + value, 0);

before(openBrowser);
after(closeBrowser);

/** A product of 1024 x 1024 bf16 matrices on each GPU, in 100 us; before it, the first GPU is idle for 300 us. */
function writeProducts(gpus, kernel) {
  const traceEvents = [];
  const add = (cat, name, tid, ts, dur, args = {}) =>
    traceEvents.push({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
  const shape = {
    'Input Dims': [
      [1024, 1024],
      [1024, 1024],
    ],
    'Input type': ['c10::BFloat16', 'c10::BFloat16'],
    'Input Strides': [
      [1024, 1],
      [1024, 1],
    ],
    'Concrete Inputs': ['', ''],
  };
  for (let gpu = 0; gpu < gpus; gpu++)
    for (let place = 0; place < 2; place++) {
      const [ts, correlation] = [1000 + 400 * place + 10 * gpu, 10 * gpu + place + 1];
      add('cpu_op', 'aten::mm', 1, ts - 8, 6, shape);
      add('cuda_runtime', 'cudaLaunchKernel', 1, ts - 6, 2, { correlation });
      add('kernel', kernel, 7 + gpu, ts, 100, {
        device: gpu,
        stream: 7,
        correlation,
        grid: [132, 1, 1],
        block: [128, 1, 1],
      });
    }
  const deviceProperties = Array.from({ length: gpus }, (_, id) => ({ id, ...H200 }));
  const path = join(folder, `products-${gpus}-${kernel.length}.json`);
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, deviceProperties, traceEvents }));
  return path;
}

async function openChart(made, id, settings = {}) {
  const { page, close } = await open(made, settings);
  const section = page.locator(`#${id}`);
  const canvas = section.locator('.canvas');
  await showChart(page, canvas);
  await assertFits(page);
  return { page, close, section, canvas, label: await canvas.getAttribute('aria-label') };
}

/** Moves over all that is drawn of a chart, line by line, and returns what is written meanwhile. */
async function sweep(page, canvas, { fromX = 0, step = 14 } = {}) {
  const places = await canvas.locator('canvas').evaluate(
    (drawing, [from, apart]) => {
      const { width, height } = drawing.getBoundingClientRect();
      const ratio = drawing.width / width;
      const { data } = drawing.getContext('2d').getImageData(0, 0, drawing.width, drawing.height);
      const isDrawn = (x, y) => data[4 * (Math.floor(y * ratio) * drawing.width + Math.floor(x * ratio)) + 3] > 0;
      const found = [];
      for (let y = 20; y < height - 40; y += apart)
        for (let x = from; x < width; x += apart) if (isDrawn(x, y)) found.push([x, y]);
      return found;
    },
    [fromX, step],
  );
  const box = await canvas.boundingBox();
  return textsDuring(page, async () => {
    for (const [x, y] of places) await page.mouse.move(box.x + x, box.y + y);
  });
}

test('a waterfall falls from the span to the ideal time', async () => {
  const made = makePage('waterfall', 'efficiency', join(DATA, 'torch/ops_zoo.json.gz'));
  const { rows } = made.report.tables.waterfall;
  const span = sum(rows.map((row) => row.ns));
  const of = (part, key) =>
    sum(rows.filter((row) => row.part === part && (!key || row.key === key)).map((row) => row.ns));
  for (const [colorScheme, width] of LOOKS) {
    const { page, close, section, label } = await openChart(made, WATERFALL, { colorScheme, width });
    await shoot(section, `waterfall-${colorScheme}-${width}`);
    assert.match(
      label,
      /^Waterfall of GPU 0 \u00b7 by model\. ideal [\d.]+ ms \u00b7 [\d.]+%; inefficiency \u00b7 attention /,
    );
    assert.ok(label.endsWith(`span ${(span / 1e6).toFixed(2)} ms \u00b7 100.0%`), label);
    assert.ok(label.includes(`ideal ${(of('ideal') / 1e6).toFixed(2)} ms`), label);
    const pixels = await colours(page, WATERFALL);
    if (width === 1280) {
      const [seen, expected] = [pixels[HOST] / pixels[SPAN], of('idle', 'host') / span];
      assert.ok(Math.abs(seen - expected) < 0.02, `${seen} for ${expected}`);
    }
    await close();
  }
});

test('several GPUs and counters have a bar each, and a waterfall to choose', async () => {
  const made = makePage('waterfall-counters', 'efficiency', join(DATA, 'nsys-more/zoo_10000.nsys-rep'));
  const { rows } = made.report.tables.waterfall;
  const { page, close, section, canvas, label } = await openChart(made, WATERFALL);
  assert.match(label, /^Where the span of each GPU went\. GPU 0 \u00b7 by model: .*; GPU 0 \u00b7 by counters: ideal /);
  const list = section.getByRole('combobox', { name: 'Waterfall' });
  assert.deepEqual(await list.locator('option').allTextContents(), [
    'All GPUs',
    'GPU 0 \u00b7 by model',
    'GPU 0 \u00b7 by counters',
  ]);
  const shares = section.getByRole('button', { name: 'Shares' });
  await shares.click();
  assert.equal(await shares.getAttribute('aria-pressed'), 'true');
  await list.selectOption({ index: 2 });
  assert.equal(await shares.isVisible(), false, 'a waterfall has no shares');
  const below = rows.find((row) => row.basis === 'counter' && row.key === 'below_roof');
  assert.ok(
    (await canvas.getAttribute('aria-label')).includes(
      `inefficiency \u00b7 below_roof ${(below.ns / 1e6).toFixed(2)} ms`,
    ),
  );
  await shoot(section, 'waterfall-counters');
  const texts = await sweep(page, canvas, { fromX: 200 });
  assert.ok(texts.some((text) => text.endsWith('of the span')));
  assert.ok(
    texts.includes('ideal \u00b7 memory') && texts.includes('ideal \u00b7 tensor'),
    'parts of a bar are described',
  );
  await list.selectOption({ index: 0 });
  assert.equal(await shares.isVisible(), true);
  await close();
});

test('rooflines have a point for each operator and kernel with FLOPs', async () => {
  const made = makePage('roofline', 'efficiency', join(DATA, 'torch/ops_zoo.json.gz'));
  const points = made.report.tables.op_efficiency.rows.filter((row) => row.flops > 0 && row.bytes > 0);
  const all = sum(made.report.tables.op_efficiency.rows.map((row) => row.total_ns));
  const left = 1 - sum(points.map((row) => row.total_ns)) / all;
  for (const [colorScheme, width] of LOOKS) {
    const { page, close, section, canvas, label } = await openChart(made, ROOFLINE, { colorScheme, width });
    await shoot(section, `roofline-${colorScheme}-${width}`);
    assert.ok(label.startsWith(`Roofline of operators, GPU 0. ${points.length} operators; `), label);
    const note = await section.locator('.chart-note').textContent();
    assert.equal(
      note,
      `Areas are by time. ${(100 * left).toFixed(1)}% of the time has no known FLOPs and is not drawn.`,
    );
    const texts = await textsDuring(page, () => section.getByRole('combobox').selectOption({ index: 1 }));
    const roofs = ['bf16 989 TFLOP/s', 'fp8 1.98 PFLOP/s', 'tf32 495 TFLOP/s', 'fp32 66.9 TFLOP/s'];
    for (const roof of roofs) assert.ok(texts.includes(width === 390 ? roof.split(' ')[0] : roof), roof);
    assert.match(await canvas.getAttribute('aria-label'), /^Roofline of kernels, GPU 0\. \d+ kernels; /);
    await close();
  }
});

test('a point says its FLOP/s, its intensity and what is lost', async () => {
  const made = makePage('roofline-point', 'efficiency', writeProducts(1, 'gemm_kernel'));
  const [row] = made.report.tables.op_efficiency.rows;
  assert.equal(row.flops, 2 * 2 * 1024 ** 3);
  const { page, close, canvas, section } = await openChart(made, ROOFLINE);
  const texts = await sweep(page, canvas);
  await shoot(section, 'roofline-point');
  const lost = row.lost_ns / 1e3;
  for (const line of [
    'aten::mm 1024x1024;1024x1024 BFloat16',
    'gemm, bf16',
    '21.5 TFLOP/s, 2.2% of the peak',
    'intensity 341 FLOPs per byte',
    `efficiency ${(100 * row.efficiency).toFixed(1)}%`,
    `time 200.0 \u00b5s, lost ${lost.toFixed(1)} \u00b5s`,
  ])
    assert.ok(texts.includes(line), `${line} in ${[...new Set(texts)].join(' | ')}`);
  await close();
});

test('each GPU has its roofline and waterfall; names of kernels stay text', async () => {
  const made = makePage('roofline-hostile', 'efficiency', writeProducts(2, HOSTILE));
  const { page, close, section, canvas } = await openChart(made, ROOFLINE);
  const list = section.getByRole('combobox', { name: 'Roofline' });
  assert.deepEqual(
    await list.locator('option').allTextContents(),
    ['operators', 'kernels'].flatMap((words) => [0, 1].map((gpu) => `GPU ${gpu} \u00b7 ${words}`)),
  );
  await list.selectOption({ index: 3 });
  const texts = await sweep(page, canvas);
  const name = texts.find((text) => text.startsWith('</script>'));
  assert.ok(name, 'the kernel has a point');
  assert.ok(!/[{}\u202e]/.test(name), name);
  assert.equal(await page.locator('img, svg[onload], iframe').count(), 0);
  const falls = page.locator(`#${WATERFALL}`).getByRole('combobox').locator('option');
  assert.deepEqual(await falls.allTextContents(), ['All GPUs', 'GPU 0 \u00b7 by model', 'GPU 1 \u00b7 by model']);
  await close();
});

test('roofs are those of the input that a point is of', async () => {
  const paths = [join(DATA, 'nsys-more/zoo_10000.nsys-rep'), writeProducts(1, 'gemm_kernel')];
  const made = makePage('roofline-two', 'efficiency', ...paths);
  const { page, close, section, label } = await openChart(made, ROOFLINE);
  assert.match(label, /^Roofline of operators, .*GPU 0\. 1 operators; /);
  const texts = await textsDuring(page, () => section.getByRole('combobox').selectOption({ index: 1 }));
  assert.ok(texts.includes('bf16 989 TFLOP/s') && texts.includes('4.80 TB/s'), texts.join(' | '));
  await close();
});

test('without FLOPs there is no roofline, without ops no waterfall', async () => {
  const made = makePage('roofline-none', 'efficiency', join(DATA, 'nsys-more/zoo_10000.nsys-rep'));
  const { page, close } = await open(made);
  assert.equal(await page.locator(`#${ROOFLINE} figure`).count(), 0);
  await close();
  const empty = makePage('waterfall-none', 'efficiency', join(DATA, 'cpu-only.json'));
  const other = await open(empty);
  assert.equal(await other.page.locator(`#${WATERFALL} figure`).count(), 0);
  await other.close();
});
