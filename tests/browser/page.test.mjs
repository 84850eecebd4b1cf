// Real pages in a real browser: what they show is what the JSON says, and they can be used.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import {
  assertFits,
  DATA,
  closeBrowser,
  colours,
  column,
  eventually,
  folder,
  makePage,
  open,
  openBrowser,
  scrollThrough,
  sharedTest,
  shoot,
  timelineShows,
} from './browser.mjs';

const TRACE = join(DATA, 'torch/llama_train_compiled.json.gz');
// Sums over all devices, which a page of one device does not repeat, and what has its own section.
const ELSEWHERE = new Set(['accounting_summary', 'findings', 'idle_causes_all']);
const MOST_BYTES = 2_000_000;
const SWIFT_MS = 1000;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const exactNumber = ({ exact }) => Number(exact.replace(/[^\d.-]/g, ''));

let summary;

before(async () => {
  await openBrowser();
  summary = makePage('summary', 'summary', TRACE);
});
after(closeBrowser);

test('every table has a panel, every chart is drawn', async () => {
  const { page, close } = await open(summary);
  await scrollThrough(page);
  for (const [key, table] of Object.entries(summary.report.tables)) {
    if (table.rows.length === 0 || ELSEWHERE.has(key)) continue;
    assert.equal(await page.locator(`#table-${key} h2`).textContent(), table.title);
    assert.ok((await page.locator(`#table-${key} tr[data-place]`).count()) > 0, key);
  }
  for (const key of ['accounting', 'categories', 'kernels', 'idle_causes', 'histogram', 'steps', 'kernel_launches']) {
    const painted = Object.keys(await colours(page, `table-${key}`)).length;
    assert.ok(painted > 3, `${key} is empty`);
    await shoot(page.locator(`#table-${key}`), `panel-${key}`);
  }
  assert.equal(await page.locator('#health .issue').count(), summary.report.issues.length);
  await shoot(page, 'summary');
  await close();
});

test('the accounting bar shows the four parts, which make up the span', async () => {
  const { page, close } = await open(summary);
  await scrollThrough(page);
  const [row] = summary.report.tables.accounting.rows;
  const parts = [row.compute_ns, row.exposed_comm_ns, row.exposed_memory_ns, row.idle_ns];
  assert.equal(sum(parts), row.span_ns);
  const label = await page.locator('#table-accounting .canvas').getAttribute('aria-label');
  const shares = [...label.matchAll(/\((?:<)?([\d.]+)%\)/g)].map((match) => Number(match[1]));
  assert.equal(shares.length, 4);
  assert.ok(Math.abs(sum(shares) - 100) < 0.25, label);
  const pixels = await colours(page, 'table-accounting');
  const compute = pixels['#3f7cc4'] / (pixels['#3f7cc4'] + pixels['#9da7b3']);
  assert.ok(Math.abs(compute - row.compute_ns / (row.compute_ns + row.idle_ns)) < 0.03, `${compute}`);
  await close();
});

test('exact values are those of the JSON', async () => {
  const { page, close } = await open(summary);
  const { categories, accounting } = summary.report.tables;
  const walls = (await column(page, 'table-categories', 'wall_ns')).map(exactNumber);
  assert.deepEqual(
    walls,
    categories.rows.map((row) => row.wall_ns),
  );
  assert.equal(sum(walls), sum(accounting.rows.map((row) => row.busy_ns)));
  const names = (await column(page, 'table-categories', 'category')).map((cell) => cell.text);
  assert.deepEqual(
    names,
    categories.rows.map((row) => row.category),
  );
  await close();
});

test('tables sort and search, and copy what they show', async () => {
  const { page, close } = await open(summary);
  const { rows } = summary.report.tables.kernels;
  const section = page.locator('#table-kernels');
  const counts = async () => (await column(page, 'table-kernels', 'count')).map(exactNumber);
  const header = section.locator('[data-column="count"]');
  const sorted = rows.map((row) => row.count).sort((a, b) => b - a);

  await header.click();
  assert.deepEqual((await counts()).slice(0, 15), sorted.slice(0, 15));
  assert.equal(await section.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
  await header.click();
  assert.deepEqual((await counts()).slice(0, 15), [...sorted].reverse().slice(0, 15));
  await header.click();
  assert.deepEqual(
    (await counts()).slice(0, 15),
    rows.slice(0, 15).map((row) => row.count),
  );

  await section.locator('input[type=search]').fill('TRITON red');
  const wanted = rows.filter((row) => /triton/i.test(JSON.stringify(row)) && /red/i.test(JSON.stringify(row)));
  assert.ok(wanted.length > 0 && wanted.length < rows.length);
  assert.match(await section.locator('.counter').textContent(), new RegExp(`^${wanted.length} of ${rows.length} rows`));
  await section.getByRole('button', { name: 'Copy CSV' }).click();
  const [csv] = await page.evaluate(() => globalThis.copied);
  assert.equal(csv.trimEnd().split('\n')[0], Object.keys(rows[0]).join(','));
  assert.equal(csv.trimEnd().split('\n').length, wanted.length + 1);

  await section.locator('input[type=search]').fill('no kernel is called that');
  assert.equal(await section.locator('tr[data-place]').count(), 0);
  await close();
});

test('all columns are there on demand', async () => {
  const { page, close } = await open(summary);
  const section = page.locator('#table-kernels');
  assert.equal(await section.locator('[data-column="stddev_ns"]').count(), 0);
  await section.getByRole('button', { name: /^\+\d+ columns$/ }).click();
  assert.equal(await section.locator('[data-column="stddev_ns"]').count(), 1);
  await close();
});

test('a row opens by keyboard and shows everything', async () => {
  const { page, close } = await open(summary);
  const [first, second] = summary.report.tables.categories.rows;
  await page.locator('#table-categories tr[data-place="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const dialog = page.locator('dialog[open]');
  assert.match(await dialog.textContent(), new RegExp(`${second.total_ns.toLocaleString('en-US')} ns`));
  await shoot(page, 'row');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' }); // the close event comes after the key
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  assert.match(await dialog.textContent(), new RegExp(`${first.total_ns.toLocaleString('en-US')} ns`));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  // Rows that lead elsewhere show all their values by a key, or by a button of their own.
  const [kernel] = summary.report.tables.kernels.rows;
  await page.locator('#table-kernels tr[data-place="0"]').focus();
  await page.keyboard.press('i');
  assert.match(await dialog.textContent(), new RegExp(`${kernel.total_ns.toLocaleString('en-US')} ns`));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('#table-kernels tr[data-place="0"] .row-more button').click();
  assert.match(await dialog.textContent(), new RegExp(`${kernel.total_ns.toLocaleString('en-US')} ns`));
  await close();
});

test('findings come first and lead to the rows they speak of', async () => {
  const { page, close } = await open(summary);
  const { findings } = summary.report;
  assert.equal(await page.locator('.finding').count(), findings.length);
  const order = await page.locator('#overview > [id]').evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(order.slice(0, 4), ['top', 'account', 'findings', 'timeline']);
  assert.deepEqual(await page.locator('.finding .severity').allTextContents(), [
    ...findings.map((finding) => finding.severity),
  ]);
  for (const [place, finding] of findings.entries()) {
    const shown = page.locator('.finding').nth(place);
    assert.match(await shown.textContent(), new RegExp(finding.title.slice(0, 20).replace(/[^\w ]/g, '.')));
    const more = page.locator('.more-findings:not([open]) > summary');
    if (!(await shown.isVisible())) await more.click();
    await shown.getByRole('button', { name: 'Evidence' }).click();
    const link = shown.getByRole('button', { name: /^See: / });
    if (!(await link.count())) continue;
    await link.click();
    await page.locator(`#table-${finding.table} tr:focus`).waitFor();
  }
  await close();
});

/** Kernels back to back, or with as long a wait for each launch. */
function kernelsWithGaps(name, gap) {
  const events = Array.from({ length: 200 }, (_, i) => [
    { ph: 'X', cat: 'kernel', name: `k${i % 8}`, pid: 0, tid: 7, ts: 100 + i * (50 + gap), dur: 50 },
    {
      ph: 'X',
      cat: 'cuda_runtime',
      name: 'cudaLaunchKernel',
      pid: 1,
      tid: 1,
      ts: gap ? 97 + i * (50 + gap) : i / 3,
      dur: 0.2,
    },
  ]).flatMap((pair, i) => pair.map((event) => ({ ...event, args: { device: 0, stream: 7, correlation: i + 1 } })));
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

test('a page on which nothing stands out says so, and findings go to the timeline', async () => {
  const healthy = makePage('healthy', 'summary', kernelsWithGaps('healthy.json', 0));
  const { page, close } = await open(healthy);
  const verdict = healthy.report.facts.findings_verdict;
  assert.match(verdict, /^Nothing stands out: the GPU is busy 100\.0% of the time; /);
  assert.equal(await page.locator('#findings .verdict').textContent(), verdict);
  await close();

  const waiting = makePage('waiting', 'summary', kernelsWithGaps('waiting.json', 50));
  const other = await open(waiting, { reducedMotion: 'reduce' });
  const [first] = waiting.report.findings;
  assert.equal(first.id, 'host_bound');
  const path = waiting.report.facts.findings_verdict;
  assert.match(path, /Fixing finding 1 saves [\d.]+ \w*s of it, \d+% \(simulated\)\.$/);
  assert.equal(await other.page.locator('#findings .verdict').textContent(), path);
  assert.match(
    await other.page.locator('.finding .gain').first().textContent(),
    /^saves (up to )?[\d.]+ \w*s( a step)?(, simulated)?$/,
  );
  const finding = other.page.locator('.finding').first();
  const [worst, next] = first.windows;
  await finding.locator('.finding-title').click(); // goes to its worst place, and leaves the evidence alone
  await timelineShows(other.page, worst.start_ns, worst.end_ns);
  assert.equal(await finding.locator('.finding-body').isVisible(), false);
  const { top, bottom, window } = await other.page.locator('#timeline .timeline-port').evaluate((port) => {
    const box = port.getBoundingClientRect();
    return { top: box.top, bottom: box.bottom, window: innerHeight };
  });
  assert.ok(top < window && bottom > 0, 'the place is seen');
  await finding.getByRole('button', { name: 'Evidence' }).click();
  assert.equal(await finding.locator('.finding-body').isVisible(), true);
  if (next) {
    await finding.locator('.windows button').nth(1).click();
    await timelineShows(other.page, next.start_ns, next.end_ns);
  }
  await finding.locator('.rule summary').click();
  assert.ok((await finding.locator('.rule p').textContent()).startsWith(first.rule));
  await other.close();
});

async function checkStackedCategories(runs) {
  const graph = makePage('graph', 'graph', ...runs);
  assert.ok(graph.bytes < MOST_BYTES, `${graph.bytes} bytes`);
  const { page, close } = await open(graph);
  await scrollThrough(page);
  const section = page.locator('#table-graph');
  const label = await section.locator('.canvas').getAttribute('aria-label');
  for (const path of runs) assert.ok(label.includes(path.split('/').pop()), label);
  await shoot(section, 'graph');
  await section.getByRole('button', { name: 'Shares' }).click();
  await shoot(section, 'graph-shares');
  const { rows } = graph.report.tables.graph;
  const names = (await column(page, 'table-graph', 'category')).map((cell) => cell.text);
  for (const input of new Set(rows.map((row) => row.input))) {
    const own = rows.filter((row) => row.input === input);
    const of = (name) => own.find((row) => row.category === name)?.elapsed_ns;
    const cells = await column(page, 'table-graph', input);
    const wanted = names.map((name) => (name === 'total' ? sum(own.map((row) => row.elapsed_ns)) : of(name)));
    assert.deepEqual(
      cells.map((cell) => (cell.text === '\u2013' ? undefined : exactNumber(cell))),
      wanted,
    );
  }
  await section.getByText('All columns, by input').click();
  await section.locator('[data-column="elapsed_ns"]').waitFor();
  assert.equal(await section.locator('[data-column="rank"]').count(), 0, 'one rank says nothing');
  const download = page.waitForEvent('download');
  await section.getByRole('button', { name: /PNG/ }).click();
  assert.equal((await download).suggestedFilename(), 'elapsed-time-by-category-as-shares.png');
  await close();
}

test('categories of several runs are stacked, also as shares', () =>
  checkStackedCategories([TRACE, join(DATA, 'nsys/extras.nsys-rep'), join(DATA, 'nsys/jax.nsys-rep')]));

sharedTest(
  'categories of whole runs are stacked',
  ['infer', 'train', 'two'].map((name) => `data/h200/nsys/${name}/${name}.sqlite`),
  checkStackedCategories,
);

test('parts of a chart can be switched off, and looked at closer', async () => {
  const { page, close } = await open(summary);
  await scrollThrough(page);
  const canvas = page.locator('#table-accounting .canvas');
  const compute = async () => (await colours(page, 'table-accounting'))['#3f7cc4'] ?? 0;
  await canvas.scrollIntoViewIfNeeded();
  const whole = await compute();

  await canvas.hover({ position: { x: 300, y: 60 } });
  await page.keyboard.down('Control');
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -120);
  await page.keyboard.up('Control');
  await eventually(async () => assert.notEqual(await compute(), whole));
  await canvas.dblclick({ position: { x: 300, y: 60 } });
  await page.mouse.move(0, 0);
  await eventually(async () => assert.equal(await compute(), whole));

  const top = await page.evaluate(() => scrollY);
  await canvas.hover({ position: { x: 300, y: 60 } });
  await page.mouse.wheel(0, 120); // without Ctrl it is the page that moves
  await page.waitForFunction((before) => scrollY > before, top);

  await canvas.click({ position: { x: 40, y: 12 } }); // compute, in the legend
  await page.mouse.move(0, 0);
  await eventually(async () => assert.ok((await compute()) < whole / 10));
  await close();
});

test('ranges nest, and a click looks closer', async () => {
  const ranges = makePage('ranges', 'ranges', '--tree', TRACE);
  const { page, close } = await open(ranges);
  const boxes = page.locator('#table-range_tree .range');
  const { rows } = ranges.report.tables.range_tree;
  const top = rows.filter((row) => row.depth === 0);
  assert.match(
    await boxes.first().getAttribute('title'),
    new RegExp(sum(top.map((row) => row.sum_ns)).toLocaleString('en-US')),
  );
  const whole = await boxes.count();
  assert.ok(whole > 2);
  await boxes.nth(1).click();
  assert.match(await page.locator('.icicle-path').textContent(), /^all ranges › /);
  await page.keyboard.press('Escape');
  assert.match(await page.locator('.icicle-path').textContent(), /^all ranges$/);
  assert.equal(await boxes.count(), whole, 'the way back shows everything again');
  await shoot(page.locator('#table-range_tree'), 'ranges');
  await close();
});

test('bars have the shares of their table', async () => {
  const made = makePage('shares', 'explain', TRACE);
  const { page, close } = await open(made);
  for (const key of ['kernels', 'ranges', 'phases']) {
    const { rows } = made.report.tables[key];
    const label = await page.locator(`#table-${key} .canvas`).getAttribute('aria-label');
    const shown = [...label.matchAll(/\u00b7 <?([\d.]+)%/g)].map((match) => Number(match[1]));
    const shares = rows.map((row) => 100 * row.share).sort((a, b) => b - a);
    assert.ok(shown.length > 1, label);
    for (const [place, share] of shown.entries())
      assert.ok(Math.abs(share - shares[place]) < 0.11, `${key}: ${share}, not ${shares[place]}`);
  }
  await close();
});

test('inputs differ in colour', async () => {
  const names = ['two.json.gz', 'train.json.gz', 'infer.json.gz', 'x.json.gz'];
  for (const name of names) copyFileSync(TRACE, join(folder, name));
  const made = makePage('inputs', 'kernels', ...names.map((name) => join(folder, name)));
  const { page, close } = await open(made);
  await scrollThrough(page);
  const isGrey = (colour) => {
    const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return Math.max(...parts) - Math.min(...parts) < 24;
  };
  const counts = Object.entries(await colours(page, 'table-kernels'));
  const fills = counts.filter(([colour, pixels]) => pixels > 2000 && !isGrey(colour)).map(([colour]) => colour);
  assert.equal(fills.length, names.length, `${fills}`);
  await shoot(page.locator('#table-kernels'), 'inputs');
  await close();
});

test('the list of sections follows the reader', async () => {
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ]) {
    const { page, close } = await open(summary, { width, height });
    const current = page.locator('nav .sections [aria-current]');
    const ids = await page.locator('nav .sections a').evaluateAll((links) => links.map(({ hash }) => hash.slice(1)));
    for (const id of [ids.at(-1), ids[3], ids[0]]) {
      await page.locator(`#${id}`).evaluate((made) => made.scrollIntoView());
      await page.locator(`nav [href="#${id}"][aria-current]`).waitFor();
      const inside = await current.evaluate((link) => {
        const box = link.getBoundingClientRect();
        const list = link.closest('ul').getBoundingClientRect();
        return box.left >= list.left - 1 && box.top >= list.top - 1 && box.bottom <= list.bottom + 1;
      });
      assert.ok(inside, `${id} at ${width} px`);
    }
    await close();
  }
});

test('pages fit every width, in light, dark and print', async () => {
  for (const width of [320, 390, 768, 1280, 1920, 4000]) {
    for (const colorScheme of width === 1280 || width === 390 ? ['light', 'dark'] : ['light']) {
      const { page, close } = await open(summary, {
        width,
        height: width < 500 ? 844 : 800,
        colorScheme,
      });
      await assertFits(page, `${width} px`);
      await shoot(page, `width-${width}-${colorScheme}`);
      await close();
    }
  }
  const gaps = makePage('gaps', 'gaps', TRACE);
  const { page, close } = await open(gaps, { colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  assert.equal(await page.locator('nav').isVisible(), false);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const rows = page.locator('#table-stream_gaps tbody tr');
  const printed = (await rows.count()) - 1;
  const more = gaps.report.tables.stream_gaps.rows.length - printed;
  assert.ok(more > 0);
  assert.equal(await rows.last().textContent(), `${more} more rows`);
  await page.pdf();
  await close();
});

test('colours can be chosen', async () => {
  const { page, close } = await open(summary);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  const button = page.getByRole('button', { name: /^Colours/ });
  await button.click();
  assert.equal(await background(), light);
  await button.click();
  assert.notEqual(await background(), light);
  await close();
});

/** With content: not before the head of the report is there. */
async function firstPaint(made) {
  const { page, close } = await open(made);
  const time = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const watcher = new PerformanceObserver((list) => {
          const paint = list.getEntriesByName('first-contentful-paint')[0];
          if (paint) resolve(paint.startTime);
        });
        watcher.observe({ type: 'paint', buffered: true });
      }),
  );
  await close();
  return time;
}

async function checkSmallAndSwift(made) {
  assert.ok(made.bytes < MOST_BYTES, `${made.bytes} bytes`);
  const paints = []; // other work of the machine slows some of them
  do paints.push(await firstPaint(made));
  while (paints.at(-1) >= SWIFT_MS && paints.length < 10);
  assert.ok(paints.at(-1) < SWIFT_MS, `first paint after ${paints} ms`);
}

test('a page is small and paints at once', async () => {
  await checkSmallAndSwift(summary);
  const large = join(DATA, 'torch/llama_cudagraph.json.gz');
  await checkSmallAndSwift(makePage('llama_cudagraph', 'summary', large));
});

sharedTest('a page of a larger trace is small and paints at once', ['data/h200/torch/llama_infer.json.gz'], (traces) =>
  checkSmallAndSwift(makePage('llama_infer', 'summary', ...traces)),
);

test('columns that are compared or added up share a unit', async () => {
  const { page, close } = await open(summary);
  const units = async (key, columns) =>
    Promise.all(
      columns.map(async (name) => {
        const title = await page.locator(`#table-${key} [data-column="${name}"]`).textContent();
        return /\((.*)\)$/.exec(title)[1];
      }),
    );
  const shared = async (key, ...columns) => assert.equal(new Set(await units(key, columns)).size, 1, key);
  await shared('accounting', 'span_ns', 'busy_ns', 'idle_ns', 'compute_ns', 'memory_ns', 'exposed_memory_ns');
  await shared('idle_causes', 'total_ns', 'recoverable_ns');
  await shared('kernels', 'avg_ns', 'median_ns', 'max_ns');
  const shown = await Promise.all(
    ['span_ns', 'busy_ns', 'idle_ns'].map(async (key) => {
      const [{ text }] = await column(page, 'table-accounting', key);
      return Number(text.replace(/,/g, ''));
    }),
  );
  assert.ok(Math.abs(shown[0] - shown[1] - shown[2]) < 0.1, `${shown}`);
  await close();
});

test('a comparison begins with its verdicts and marks growth with a sign', async () => {
  const eager = join(DATA, 'diff/llama_train_eager.json.gz');
  const { page, close } = await open(makePage('diff', 'diff', TRACE, eager, '--fail-if', 'step>+900%'));
  await scrollThrough(page);
  const order = await page.locator('section.panel').evaluateAll((panels) => panels.map(({ id }) => id));
  assert.deepEqual(order.slice(0, 4), ['table-limits', 'account', 'change', 'table-measures']);
  assert.equal(await page.locator('#table-limits').count(), 1);
  assert.match(await page.locator('#table-measures tbody').innerText(), /\+\d/);
  await close();
});

test('what became of rows and limits has a sign and a colour; both sides have the same decimals', async () => {
  const eager = join(DATA, 'diff/llama_train_eager.json.gz');
  const { page, close } = await open(
    makePage(
      'diff-signs',
      'diff',
      eager,
      TRACE,
      '--label',
      'main,PR',
      '--fail-if',
      'category:attention>+10%',
      '--fail-if',
      'step>+9%',
    ),
  );
  await scrollThrough(page);
  assert.deepEqual(await page.locator('#table-limits td.outcome').allInnerTexts(), ['\u2717broken', '\u2713ok']);
  const cells = await page
    .locator('#table-categories td.outcome')
    .evaluateAll((all) => all.map((cell) => [cell.innerText, getComputedStyle(cell).color]));
  const colourOf = new Map(cells);
  assert.ok(colourOf.has('\u25b2up') && colourOf.has('\u25bcdown') && colourOf.has('+only B'), `${cells}`);
  assert.equal(new Set([colourOf.get('\u25b2up'), colourOf.get('\u25bcdown'), colourOf.get('+only B')]).size, 3);
  const heads = await page.locator('#table-measures thead th').allInnerTexts();
  assert.match(heads.join(), /^Measure,main \(ms\),PR \(ms\),Change \(ms\),Change %,Status/);
  for (const key of ['measures', 'categories', 'kernels', 'ranges']) {
    const rows = await page
      .locator(`#table-${key} tr[data-place]`)
      .evaluateAll((lines) =>
        lines.map((line) => [...line.querySelectorAll('td.number')].map((cell) => cell.innerText)),
      );
    const decimals = new Set(
      rows.flatMap((row) => row.filter((text) => /\d$/.test(text)).map((text) => text.split('.')[1]?.length)),
    );
    assert.equal(decimals.size, 1, `${key}: ${rows[0]}`);
    assert.ok(!rows.flat().some((text) => /^[>+\u2212]<|^>/.test(text)), key);
  }
  await shoot(page.locator('#table-categories'), 'diff-signs');
  await close();
});

test('a comparison reports what it lost first, and each side in a column, on any screen', async () => {
  const eager = join(DATA, 'diff/llama_train_eager.json.gz');
  const cut = join(folder, 'cut.json');
  const whole = gunzipSync(readFileSync(eager));
  writeFileSync(cut, whole.subarray(0, 0.7 * whole.length));
  const { page, close } = await open(makePage('diff-cut', 'diff', eager, cut));
  assert.match(await page.locator('.note').first().innerText(), /^Only partly read: B, 'cut\.json' \(input_cut\)/);
  const heads = await page.locator('#table-inputs thead th').allInnerTexts();
  assert.deepEqual(heads, ['Fact', 'A: llama_train_eager.json.gz', 'B: cut.json']);
  assert.match(await page.locator('#table-step_states h2').innerText(), /, number per step$/);
  for (const width of [1200, 400]) {
    await page.setViewportSize({ width, height: 900 });
    const [port, table] = await page
      .locator('#table-inputs .port')
      .evaluate((box) => [box.clientWidth, box.scrollWidth]);
    assert.ok(table <= port, `${width} px: the traces need ${table} of ${port} px`);
    await assertFits(page, `${width} px`);
    await shoot(page.locator('#table-inputs'), `diff-traces-${width}`);
  }
  await close();
});

test('several inputs are side by side, whatever they are called', async () => {
  const odd = join(folder, 'quo"te]<b>.json');
  copyFileSync(join(DATA, 'devices.json'), odd);
  const stats = makePage('stats', 'stats', TRACE, odd);
  const { page, close } = await open(stats);
  await scrollThrough(page);
  const section = page.locator('#table-class_stats');
  const label = await section.locator('.canvas').getAttribute('aria-label');
  for (const { input } of stats.report.inputs) assert.ok(label.includes(`${input} `), label);
  const [, head] = await section.locator('th button').all();
  await head.click();
  await head.click();
  assert.equal(await section.locator('th[aria-sort]').getAttribute('aria-sort'), 'ascending');

  const facts = page.locator('#table-inputs');
  const shown = await facts.locator('tbody th').allTextContents();
  assert.ok(shown.includes('Kernel time per iteration'), `${shown}`);
  assert.equal(await facts.locator('thead th').count(), stats.report.inputs.length + 1);
  await shoot(section, 'stats');
  await shoot(facts, 'inputs');
  await close();
});

/** Scrolls a table by its button, and waits until it has come to rest. */
async function nudge(section, more) {
  const rest = section
    .locator('.port')
    .evaluate((port) => new Promise((done) => port.addEventListener('scrollend', () => done(), { once: true })));
  await more.click();
  await rest;
}

test('a table that is too wide says so and keeps its first column in view', async () => {
  for (const [width, key] of [
    [1280, 'accounting'],
    [390, 'kernels'],
  ]) {
    const { page, close } = await open(summary, { width });
    const section = page.locator(`#table-${key}`);
    const more = section.getByRole('button', { name: 'More columns to the right' });
    const first = section.locator('tr[data-place="0"] td').first();
    const left = () => first.evaluate((cell) => cell.getBoundingClientRect().left);
    await more.waitFor();
    const before = await left();
    for (let i = 0; i < 9 && (await more.isVisible()); i++) await nudge(section, more);
    await more.waitFor({ state: 'hidden' }); // the end has been reached
    assert.ok(Math.abs((await left()) - before) <= 1);
    await shoot(section, `sideways-${width}`);
    await close();
  }
});

test('names that are cut differ', async () => {
  const { page, close } = await open(summary);
  const tails = page.locator('#table-kernels td.name .tail');
  assert.ok((await tails.count()) > 0);
  for (const tail of await tails.all())
    assert.ok(
      await tail.evaluate(
        (each) => each.getBoundingClientRect().right <= each.closest('td').getBoundingClientRect().right,
      ),
    );
  const label = await page.locator('#table-kernel_launches .canvas').getAttribute('aria-label');
  const names = label
    .split('. ')[1]
    .split('; ')
    .map((each) => each.split(' median ')[0]);
  assert.equal(new Set(names).size, names.length, label);
  await close();
});

test('ranges are indented as they nest; in another order they show their path', async () => {
  const ranges = makePage('nested', 'ranges', '--tree', TRACE);
  const { page, close } = await open(ranges);
  const section = page.locator('#table-range_tree');
  const { rows } = ranges.report.tables.range_tree;
  const indents = await section.evaluate((root) =>
    [...root.querySelectorAll('tr[data-place] td.name bdi')].map((name) =>
      Number.parseFloat(name.style.paddingLeft || 0),
    ),
  );
  const step = Math.max(...indents) / Math.max(...rows.slice(0, indents.length).map((row) => row.depth));
  assert.deepEqual(
    indents,
    rows.slice(0, indents.length).map((row) => row.depth * step),
  );
  await section.locator('[data-column="ops"]').click();
  const deep = [...rows].sort((a, b) => b.ops - a.ops).find((row) => row.depth > 0);
  const texts = (await column(page, 'table-range_tree', 'range')).map((cell) => cell.exact);
  assert.ok(texts.includes(deep.path), deep.path);
  await close();
});
