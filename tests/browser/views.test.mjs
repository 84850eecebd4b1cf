// The first screen and the views of pages with a report inside.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  assertFits,
  DATA,
  closeBrowser,
  column,
  complaints,
  makePage,
  open,
  openBrowser,
  shoot,
  timelineShows,
} from './browser.mjs';

const TRACE = join(DATA, 'torch/llama_train_compiled.json.gz');
const EAGER = join(DATA, 'diff/llama_train_eager.json.gz');
const DESK = { width: 1400, height: 900, reducedMotion: 'reduce' };
const sum = (values) => values.reduce((total, value) => total + value, 0);

let summary;
let diff;

before(async () => {
  await openBrowser();
  summary = makePage('views-summary', 'summary', TRACE);
  diff = makePage('views-diff', 'diff', EAGER, TRACE);
});
after(closeBrowser);

/** Opens a view by its tab and waits for it. */
async function turnTo(page, view) {
  await page.locator(`nav [data-view="${view}"]`).click();
  await page.locator(`#page[data-view="${view}"]`).waitFor();
}

test('the first screen has the trace in a line, the account, three findings and the timeline', async () => {
  const { page, close } = await open(summary, DESK);
  assert.equal(await page.locator('h1').first().textContent(), 'llama_train_compiled.json.gz');
  assert.match(
    await page.locator('#top .origin').textContent(),
    /NVIDIA H200 · 95\.79 ms span · 49\.1% busy · 3 steps/,
  );
  const shown = await page.locator('.finding:visible').count();
  assert.equal(shown, 3);
  for (const line of await page.locator('.finding:visible').all()) {
    const { height } = await line.boundingBox();
    assert.ok(height < 32, `a finding is ${height} pixels high`);
  }
  const port = await page.locator('#timeline .timeline-port').boundingBox();
  assert.ok(port.y + port.height <= 900, `the timeline ends at ${port.y + port.height}`);
  assert.ok(port.height > 300, `the timeline is ${port.height} pixels high`);
  await shoot(page, 'first-screen');
  await close();
});

test('the account makes up the span, by cause, and its bar has these shares', async () => {
  const { page, close } = await open(summary, DESK);
  const [row] = summary.report.tables.accounting.rows;
  const label = await page.locator('#account .account-track').getAttribute('aria-label');
  const shares = [...label.matchAll(/\(<?([\d.]+)%\)/g)].map((match) => Number(match[1]));
  assert.ok(Math.abs(sum(shares) - 100) < 0.3, label);
  for (const { cause, total_ns } of summary.report.tables.idle_causes.rows)
    assert.match(
      label,
      new RegExp(`idle: ${cause} [\\d.,]+ \\S+ \\(<?${((100 * total_ns) / row.span_ns).toFixed(1)}%\\)`),
    );
  const widths = await page
    .locator('#account .account-part')
    .evaluateAll((parts) => parts.map((part) => [part.title.split(':')[0], part.getBoundingClientRect().width]));
  const whole = sum(widths.map(([, width]) => width));
  const compute = widths.find(([name]) => name === 'compute')[1] / whole;
  assert.ok(Math.abs(compute - row.compute_ns / row.span_ns) < 0.01, `${compute}`);
  await close();
});

test('views open by tabs, keys and the address, and the way back leads back', async () => {
  const { page, close } = await open(summary, DESK);
  const tabs = await page.locator('.view-tab').allTextContents();
  assert.deepEqual(tabs, ['Overview', 'Flame graph', 'Kernels', 'Steps', 'Memory', 'SQL']);
  await turnTo(page, 'steps');
  assert.equal(await page.locator('#overview').isVisible(), false);
  assert.match(page.url(), /#view=steps$/);
  await page.keyboard.press('2');
  await page.locator('#page[data-view="flame"]').waitFor();
  await page.goBack();
  await page.locator('#page[data-view="steps"]').waitFor();
  await page.keyboard.press('1');
  await page.locator('#page[data-view="overview"]').waitFor();
  assert.equal(await page.locator('#view-steps').count(), 0);
  await close();
  const again = await open(summary, { ...DESK, hash: '#view=steps' });
  await again.page.locator('#view-steps').waitFor();
  await again.close();
});

test('a kernel row opens its view, which leads to the timeline', async () => {
  const { page, close } = await open(summary, DESK);
  const [row] = summary.report.tables.kernels.rows;
  await page.locator('#table-kernels tr[data-place="0"]').click();
  const view = page.locator('#view-kernel');
  await view.waitFor();
  assert.equal(await view.locator('h1').textContent(), row.short_name);
  assert.match(await view.locator('.facts').textContent(), new RegExp(`Count${row.count}`));
  const charts = view.locator('.canvas');
  assert.match(
    await charts.nth(0).getAttribute('aria-label'),
    new RegExp(`^Distribution of durations\\. ${row.count} durations`),
  );
  assert.match(
    await charts.nth(1).getAttribute('aria-label'),
    new RegExp(`^Durations over time\\. ${row.count} launches`),
  );
  const before = view.locator('.panel', { hasText: 'Runs before it' });
  assert.ok((await before.locator('tr[data-place]').count()) > 0);
  await shoot(page, 'view-kernel');
  await view.getByRole('button', { name: 'Longest in the timeline' }).click();
  await page.locator('#page[data-view="overview"]').waitFor();
  await page.waitForFunction((longest) => {
    const { start, end } = document.querySelector('#timeline .timeline-port').dataset;
    return end - start < 4 * longest;
  }, row.max_ns);
  await close();
});

test('gaps and steps lead to their place in the timeline', async () => {
  const { page, close } = await open(summary, DESK);
  const [gap] = summary.report.tables.gaps.rows;
  await page.locator('#table-gaps tr[data-place="0"]').click();
  await timelineShows(page, gap.start_ns, gap.end_ns);
  const [, step] = summary.report.tables.steps.rows;
  await page.locator('#table-steps tr[data-place="1"]').focus();
  await page.keyboard.press('Enter');
  await timelineShows(page, step.start_ns, step.end_ns);
  assert.ok(await page.locator('#timeline').evaluate((made) => made.getBoundingClientRect().top < innerHeight));
  await close();
});

test('steps are side by side and say how they differ', async () => {
  const { page, close } = await open(summary, { ...DESK, hash: '#view=steps' });
  const { rows } = summary.report.tables.steps;
  const lines = page.locator('.step-line');
  assert.equal(await lines.count(), rows.length);
  const totals = rows.map((row) => row.compute_ns + row.exposed_comm_ns + row.exposed_memory_ns + row.idle_ns);
  const widths = await page
    .locator('.step-line .account-bar')
    .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
  const most = Math.max(...totals);
  widths.forEach((width, place) =>
    assert.ok(Math.abs(width / Math.max(...widths) - totals[place] / most) < 0.01, `step ${place}`),
  );
  assert.equal(await lines.nth(0).locator('.is-better').count(), 1, 'the shortest is better');
  assert.equal(await lines.nth(1).locator('.is-worse').count(), 1, 'the longest is worse');
  await page.getByRole('button', { name: 'Most different first' }).click();
  assert.match(await lines.first().textContent(), /^step 3/);
  await shoot(page, 'view-steps');
  const sorted = totals.toSorted((a, b) => a - b);
  const median = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  const title = await page.locator('.step-trace h2').textContent();
  assert.ok(title.startsWith(`Median GPU span of a step: ${(median / 1e6).toFixed(2)} ms`), title);
  await lines.first().click();
  await timelineShows(page, rows[0].start_ns, rows[0].end_ns);
  await page.goBack(); // once
  await page.locator('#page[data-view="steps"]').waitFor();
  await close();
});

test('the flame graph shows ranges, marks what is looked for and lists what is heaviest', async () => {
  const { page, close } = await open(summary, { ...DESK, hash: '#view=flame' });
  const { rows } = makePage('views-tree', 'ranges', '--tree', TRACE).report.tables.range_tree;
  const top = sum(rows.filter((row) => row.depth === 0).map((row) => row.sum_ns));
  assert.match(await page.locator('.range').first().getAttribute('title'), new RegExp(top.toLocaleString('en-US')));
  await page.getByLabel('Search the flame graph').fill('OPTIMIZER');
  assert.ok((await page.locator('.range.is-found').count()) > 0);
  const found = sum(rows.filter((row) => row.range.trim() === 'optimizer').map((row) => row.sum_ns));
  assert.ok(found > 0);
  assert.match(
    await page.locator('.view .counter').first().textContent(),
    new RegExp(`${((100 * found) / top).toFixed(1)}%`),
  );
  const own = await column(page, 'view-flame', 'own_ns');
  assert.equal(own[0].exact, `${Math.max(...rows.map((row) => row.exclusive_ns)).toLocaleString('en-US')} ns`);
  assert.match(await page.locator('.missing code').textContent(), /^gputime view .*llama_train_compiled\.json\.gz$/);
  await shoot(page, 'view-flame');
  await close();
});

test('what a stored page lacks it says how to get', async () => {
  const { page, close } = await open(summary, { ...DESK, hash: '#view=sql' });
  assert.match(await page.locator('#view-sql .missing code').textContent(), /^gputime view .*llama_train_compiled/);
  await page.locator('#view-sql').getByRole('button', { name: 'Copy' }).click();
  assert.match((await page.evaluate(() => globalThis.copied))[0], /^gputime view /);
  await turnTo(page, 'memory');
  assert.match(await page.locator('#view-memory .missing code').textContent(), /^gputime memory /);
  await close();
});

test('a comparison falls from one side to the other, coloured by better and worse', async () => {
  const { page, close } = await open(diff, DESK);
  const [row] = diff.report.tables.accounting.rows;
  const label = await page.locator('#change .canvas').getAttribute('aria-label');
  const change = ((100 * row.delta_span_ns) / row.a_span_ns).toFixed(1).replace('-', '\u2212');
  assert.ok(label.includes(`(${change}%)`), label);
  assert.match(label, /A: llama_train_eager\.json\.gz 36\.32 ms; elementwise \u22123\.916 ms; .*B: .* 32\.27 ms$/);
  assert.equal(await page.locator('#account .account-line').count(), 2);
  // Less time is better; a number of things is neither.
  const cells = await page
    .locator('#table-categories td.outcome')
    .evaluateAll((all) => all.map((cell) => [cell.textContent, cell.className]));
  for (const [text, classes] of cells) {
    if (/down/.test(text)) assert.match(classes, /is-better/);
    if (/up/.test(text)) assert.match(classes, /is-worse/);
  }
  assert.ok(cells.some(([text]) => /down/.test(text)) && cells.some(([text]) => /up/.test(text)));
  const colours = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    return ['--better', '--worse'].map((name) => style.getPropertyValue(name));
  });
  assert.notEqual(colours[0], colours[1]);
  await turnTo(page, 'compare');
  assert.match(await page.locator('#view-compare .missing code').textContent(), /^gputime view \S+ \S+$/);
  await shoot(page, 'view-compare');
  await close();
});

test('notes are quiet, and only losses are warnings', async () => {
  const { page, close } = await open(diff, DESK);
  assert.equal(await page.locator('.note.warning').count(), 0);
  const note = page.locator('.note').first();
  assert.equal(await note.evaluate((each) => getComputedStyle(each).borderLeftStyle), 'none');
  await close();
  const cut = await open(makePage('views-cut', 'summary', join(DATA, 'cut.json')), DESK);
  assert.equal(await cut.page.locator('.note.warning').count(), 1);
  await cut.close();
});

test('microseconds have one spelling', async () => {
  const made = makePage('views-micro', 'summary', TRACE);
  assert.match(JSON.stringify([made.report.inputs, made.report.findings]), /\d us\b/, 'there are some');
  const { page, close } = await open(made, DESK);
  const text = await page.evaluate(() => document.getElementById('page').textContent);
  assert.deepEqual(text.match(/.{0,40}\d us\b/g), null);
  assert.match(text, /\d \u00b5s/);
  await close();
});

test('names of a table are never cut to the same text', async () => {
  const { page, close } = await open(makePage('views-names', 'kernels', EAGER), DESK);
  const shown = await page.locator('#table-kernels td.name').evaluateAll((cells) =>
    cells.map((cell) => {
      // What is seen of a name: the parts that have any width, each up to where it is cut.
      const range = document.createRange();
      return [...cell.querySelectorAll('.signature > span')]
        .map((part) => {
          const { right } = part.getBoundingClientRect();
          const text = part.firstChild;
          let seen = 0;
          for (; text && seen < text.length; seen++) {
            range.setStart(text, seen);
            range.setEnd(text, seen + 1);
            if (range.getBoundingClientRect().right > right + 0.5) break;
          }
          return part.textContent.slice(0, seen);
        })
        .join('|');
    }),
  );
  assert.ok(shown.length > 20);
  assert.deepEqual(
    shown.filter((name, place) => shown.indexOf(name) !== place),
    [],
  );
  await close();
});

test('nothing is wider than the window, and axe-core has no serious complaint, in any view', async () => {
  for (const [width, colorScheme] of [
    [500, 'dark'],
    [1400, 'light'],
    [2560, 'dark'],
  ]) {
    const { page, close } = await open(summary, { width, height: 900, colorScheme, reducedMotion: 'reduce' });
    for (const view of ['overview', 'flame', 'kernel', 'steps', 'memory', 'sql']) {
      await turnTo(page, view);
      await assertFits(page, `${view} at ${width} px`);
      if (width !== 2560) assert.deepEqual(await complaints(page), [], `${view}, ${colorScheme}`);
      await shoot(page, `view-${view}-${width}-${colorScheme}`);
    }
    await close();
  }
  for (const colorScheme of ['light', 'dark']) {
    const { page, close } = await open(diff, { ...DESK, colorScheme });
    for (const view of ['overview', 'compare']) {
      await turnTo(page, view);
      assert.deepEqual(await complaints(page), [], `${view}, ${colorScheme}`);
    }
    await close();
  }
});
