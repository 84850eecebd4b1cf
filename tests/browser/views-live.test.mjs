// The page of `gputime view`: what it shows before and after the analysis, its views, and a server that ends or fails.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  assertFits,
  DATA,
  ROOT,
  closeBrowser,
  complaints,
  eventually,
  folder,
  openAddress,
  openBrowser,
  shoot,
  timelineShows,
} from './browser.mjs';
import { report, serve, sql } from './explore.mjs';

const TRACE = join(DATA, 'torch/llama_train_compiled.json.gz');
const EAGER = join(DATA, 'diff/llama_train_eager.json.gz');
const RANKS = [0, 1].map((rank) => join(DATA, `ranks/rank${rank}.json.gz`));
const DESK = { width: 1400, height: 900, reducedMotion: 'reduce' };

let server;

before(async () => {
  await openBrowser();
  server = await serve(TRACE, EAGER);
});
after(async () => {
  await server.stop();
  await closeBrowser();
});

const openView = (hash = '', settings = {}) => openAddress(server.url, { ...DESK, hash, ...settings });

test('the page of a server fills in what has been analysed', async () => {
  const { page, close } = await openView();
  assert.match(await page.title(), /gputime view$/);
  assert.equal(await page.locator('.waiting').count(), 0);
  assert.equal(await page.locator('#account .account-line').count(), 2, 'one bar for each trace');
  const { rows } = report('summary', TRACE).tables.accounting;
  const label = await page.locator('#account .account-track').first().getAttribute('aria-label');
  assert.match(label, new RegExp(`${(rows[0].span_ns / 1e6).toFixed(2)} ms`));
  assert.ok((await page.locator('.finding:visible').count()) === 3);
  const tabs = await page.locator('.view-tab').allTextContents();
  assert.deepEqual(tabs, ['Overview', 'Flame graph', 'Kernels', 'Steps', 'Compare', 'Memory', 'SQL']);
  const traces = await page.locator('#top .traces li').allTextContents();
  assert.equal(traces.length, 2);
  for (const line of traces) assert.match(line, /PyTorch profiler · NVIDIA H200 · [\d.]+ ms span/);
  await shoot(page, 'live-first-screen');
  await close();
});

test('a selected part has tables of its own, and a chip that undoes it', async () => {
  const { page, close } = await openView();
  const count = async () => page.locator('#table-kernels .counter').textContent();
  const whole = await count();
  const port = await page.locator('#timeline .timeline-port').boundingBox();
  const y = port.y + 10; // the axis
  await page.mouse.move(port.x + 300, y);
  await page.mouse.down();
  await page.mouse.move(port.x + 420, y, { steps: 4 });
  await page.mouse.up();
  const chip = page.locator('#selection .chip');
  await chip.waitFor();
  await page.waitForFunction(
    (before) => document.querySelector('#table-kernels .counter')?.textContent !== before,
    whole,
  );
  await chip.getByRole('button', { name: 'Show everything again' }).click();
  await chip.waitFor({ state: 'detached' });
  await eventually(async () => assert.equal(await count(), whole));
  await close();
});

test('flame graphs are of operators, functions or ranges, by GPU time and by idle time', async () => {
  const { page, close } = await openView('#view=flame');
  const view = page.locator('#view-flame');
  const title = view.locator('.panel h2').first();
  const shown = async (words) => {
    await title.filter({ hasText: words }).waitFor();
    return title.textContent();
  };
  const byGpu = await shown(/^Operators: /);
  assert.ok((await view.locator('.range').count()) > 3);
  const boxes = await view.locator('.range').evaluateAll((all) =>
    all.map((box) => {
      const { top, left, right, width } = box.getBoundingClientRect();
      const text = document.createRange();
      text.selectNodeContents(box.firstElementChild);
      return { top, left, right, width, words: box.textContent, isRead: text.getBoundingClientRect().left < right };
    }),
  );
  assert.ok(!boxes.some(({ words }) => words.startsWith('(all)')), 'the node of all is the root itself');
  const narrow = boxes.filter(({ width }) => width < 60);
  assert.ok(narrow.length > 0 && narrow.every(({ isRead }) => !isRead), 'no stubs of text');
  assert.ok(boxes.filter(({ width }) => width > 62).every(({ isRead }) => isRead));
  for (const { top, left, right } of boxes)
    assert.ok(!boxes.some((other) => other.top === top && other.left > left && other.left < right - 1), 'no overlap');
  await view.getByRole('button', { name: 'Idle time caused' }).click();
  await page.waitForFunction(
    (before) => document.querySelector('#view-flame .panel h2')?.textContent !== before,
    byGpu,
  );
  await view.getByRole('button', { name: 'Ranges' }).click();
  await shown(/^Ranges: /);
  await shoot(page, 'live-flame');
  await page.keyboard.press('4');
  await page.keyboard.press('2');
  await shown(/^Ranges: /); // as it was left
  await page.reload();
  await shown(/^Ranges: /);
  assert.deepEqual(await complaints(page), []);
  await close();
});

test('the view of a kernel has every launch, its neighbours, configurations and operators', async () => {
  const [kernel] = sql(
    TRACE,
    "select short_name as name, count(*) as count from ops where kind = 'kernel' group by 1 order by sum(dur_ns) desc",
  );
  const { page, close } = await openView('#view=kernel&input=llama_train_compiled.json.gz');
  const row = page.locator('#view-kernel tr', { hasText: 'llama_train_compiled' }).first();
  await row.click();
  const view = page.locator('#view-kernel');
  await view.locator('h1', { hasText: kernel.name }).waitFor();
  const charts = view.locator('.canvas');
  await charts.first().waitFor();
  assert.match(await charts.nth(0).getAttribute('aria-label'), new RegExp(`${kernel.count} durations`));
  for (const title of ['Runs before it', 'Runs after it', 'Launch configurations', 'Launched by'])
    await view.locator('.panel', { hasText: title }).locator('tr[data-place]').first().waitFor();
  await view.getByRole('button', { name: 'First in the timeline' }).click();
  const [first] = sql(
    TRACE,
    `select start_ns, end_ns from ops where short_name = '${kernel.name}' order by start_ns limit 1`,
  );
  await timelineShows(page, first.start_ns, first.end_ns);
  await close();
});

test('queries are answered as a table, and mistakes are said', async () => {
  const { page, close } = await openView('#view=sql');
  const query = page.getByLabel('Query');
  await query.fill(
    'select category, count(*) as count, sum(dur_ns) as total_ns from ops group by category order by total_ns desc',
  );
  await query.press('Control+Enter');
  const rows = page.locator('#view-sql tr[data-place]');
  await rows.first().waitFor();
  await page.getByRole('button', { name: 'Copy CSV' }).click();
  const [csv] = await page.evaluate(() => globalThis.copied);
  assert.equal(csv.split('\n')[0], 'category,count,total_ns');
  assert.equal(csv.trim().split('\n').length - 1, await rows.count());
  await shoot(page, 'live-sql');
  await page.getByLabel('Examples').selectOption({ index: 2 });
  assert.match(await query.inputValue(), /from gaps/);
  const [op] = sql(TRACE, 'select start_ns, dur_ns from ops order by dur_ns desc limit 1');
  await query.fill(`select start_ns, dur_ns from ops where start_ns = ${op.start_ns} and dur_ns = ${op.dur_ns}`);
  await query.press('Control+Enter');
  await rows
    .first()
    .filter({ hasText: op.dur_ns.toLocaleString('en-US') })
    .waitFor(); // as the query gave it
  await rows.first().click();
  await timelineShows(page, op.start_ns, op.start_ns + op.dur_ns);
  await page.goBack();
  await page.getByText('Tables and columns').click();
  await page.locator('.sql-schema', { hasText: 'ops: ' }).waitFor();
  await query.fill('select 7 as seven');
  await query.press('Control+Enter');
  await rows.first().filter({ hasText: '7' }).waitFor();
  await page.reload();
  assert.equal(await query.inputValue(), 'select 7 as seven');
  await close();

  const other = await openView('#view=sql');
  await other.page.getByLabel('Query').fill('select one from nowhere');
  await other.page.getByRole('button', { name: 'Run' }).click();
  await other.page.locator('#view-sql [role=alert]', { hasText: 'no such table: nowhere' }).waitFor();
  await other.close();
});

test('two traces are compared, with timelines aligned by step', async () => {
  const { page, close } = await openView('#view=compare');
  const view = page.locator('#view-compare');
  await view.locator('#change .canvas').waitFor();
  assert.equal(await view.locator('.timeline-port').count(), 2);
  const spans = () =>
    view
      .locator('.timeline-port')
      .evaluateAll((ports) => ports.map(({ dataset }) => Number(dataset.end) - Number(dataset.start)));
  const aligned = (before) =>
    page.waitForFunction((old) => {
      const ports = [...document.querySelectorAll('#view-compare .timeline-port')].map(({ dataset }) => dataset);
      const [a, b] = ports.map(({ start, end }) => end - start);
      return ports.length === 2 && Math.abs(a / b - 1) < 0.02 && ports[0].start !== old;
    }, before);
  await aligned('0');
  await view.getByRole('button', { name: 'Next step' }).click();
  await view.getByText(/Step 4 of A and step 4 of B/).waitFor();
  assert.ok((await spans()).every((span) => span > 0));
  const label = await view.locator('#change .canvas').getAttribute('aria-label');
  await view.getByRole('button', { name: 'Swap' }).click();
  await page.waitForFunction((old) => {
    const now = document.querySelector('#view-compare #change .canvas')?.getAttribute('aria-label');
    return now && now !== old;
  }, label);
  await shoot(page, 'live-compare');
  assert.deepEqual(await complaints(page), []);
  await close();
});

test('memory and steps of a server, and a trace without memory events', async () => {
  const { page, close } = await openView('#view=memory');
  await page.locator('#view-memory .missing', { hasText: 'no memory events' }).waitFor();
  await page.keyboard.press('4');
  await eventually(async () => assert.equal(await page.locator('.step-line').count(), 6));
  const medians = [TRACE, EAGER].map((trace) => {
    const spans = report('steps', trace).tables.steps.rows.map((row) => row.gpu_ns);
    return `Median GPU span of a step: ${(spans.toSorted((a, b) => a - b)[1] / 1e6).toFixed(2)} ms`;
  });
  const heads = await page.locator('.step-trace').allTextContents();
  assert.deepEqual(
    heads.map((text, place) => text.includes(medians[place])),
    [true, true],
    heads.join('\n'),
  );
  assert.match(heads[0], /^\u2026compiled/);
  await close();
});

test('memory begins with its peak in a sentence, and a narrow window shows every tab', async () => {
  const stack = join(DATA, 'torch/llama_train_eager_stack.json.gz');
  const own = await serve(stack);
  const { page, close } = await openAddress(own.url, { ...DESK, width: 500, hash: '#view=memory' });
  const [sentence] = report('memory', stack).inputs[0].notes;
  await page.locator('#view-memory .headline', { hasText: sentence }).waitFor();
  const ends = await page
    .locator('.view-tab')
    .evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().right));
  assert.ok(ends.length > 5 && ends.every((end) => end <= 500), ends.join());
  await close();
  await own.stop();
});

test('ranks are rows, and their collectives are joined', async () => {
  const job = await serve(...RANKS);
  const { page, close } = await openAddress(job.url, { ...DESK, hash: '#view=ranks' });
  const view = page.locator('#view-ranks');
  await view.locator('.rank-collective').first().waitFor();
  assert.deepEqual(await view.locator('.rank-name').allTextContents(), ['rank 0', 'rank 1']);
  const said = await view.locator('.panel', { hasText: 'Collectives of the ranks' }).locator('.counter').textContent();
  const [, count] = /: (\d+) of \1 collectives/.exec(said);
  assert.equal(await view.locator('.rank-collective').count(), Number(count));
  assert.equal(await view.locator('.rank-line').count(), Number(count), 'a line joins both ranks of each');
  await shoot(page, 'live-ranks');
  assert.deepEqual(await complaints(page), []);
  await view.locator('.rank-box').first().click();
  await page.locator('#page[data-view="overview"]').waitFor();
  await close();
  await job.stop();
});

test('a folder with several jobs has the ranks of each', async () => {
  const jobs = [4, 3].map((ranks, place) => {
    const path = join(folder, `live-job-${place}`);
    execFileSync(join(ROOT, 'build/jobgen'), ['--ranks', String(ranks), '--steps', '2', path], { stdio: 'ignore' });
    return Array.from({ length: ranks }, (_, rank) => join(path, `rank000${rank}.json`));
  });
  const own = await serve(...jobs.flat());
  const { page, close } = await openAddress(own.url, DESK);
  assert.ok((await page.locator('.view-tab').allTextContents()).includes('Ranks'));
  const warning = page.locator('#top .note.jobs');
  assert.match(await warning.textContent(), /^These look like 2 jobs; the Ranks view judges each by itself\./);
  await warning.getByRole('link', { name: 'Ranks view' }).click();
  const view = page.locator('#view-ranks');
  await view.locator('.rank-collective').first().waitFor();
  const titles = ['job 1: 4 ranks', 'job 2: 3 ranks'];
  const heads = (await view.locator('h2').allTextContents()).filter((text) => text.startsWith('Collectives of the r'));
  assert.deepEqual(
    heads,
    titles.map((title) => `Collectives of the ranks, ${title}`),
  );
  assert.deepEqual(await view.locator('.account-name').allTextContents(), titles);
  assert.equal(await view.locator('.rank-name').count(), 7);
  assert.match(await view.locator('.note.warning').textContent(), /^These traces are of 2 jobs/);
  await view.locator('.rank-box').first().click(); // whose trace is it?
  assert.equal(await page.locator('#page').getAttribute('data-view'), 'ranks');
  for (const width of [1280, 800]) {
    await page.setViewportSize({ width, height: 900 });
    await assertFits(page, `${width} px`);
    await shoot(page, `live-jobs-${width}`);
  }
  assert.deepEqual(await complaints(page), []);
  await close();
  await own.stop();
});

test('a server that ends is missed, with the way to start it again', async () => {
  const own = await serve(TRACE);
  const { page } = await openAddress(own.url, DESK);
  await own.stop();
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))); // asks whether it is there
  const banner = page.locator('.banner');
  await banner.waitFor();
  assert.match(await banner.textContent(), /The server of this page has ended.*gputime view .*llama_train_compiled/);
  assert.ok(await page.locator('#account').isVisible(), 'what is shown stays');
  await page.context().close();
});

/** A server that says what it is told to: the page before its report, and errors. */
async function pretend(answers) {
  const view = {
    version: 1,
    title: 'a trace',
    inputs: [{ input: 'a trace', path: 'a.json' }],
    command: 'gputime view a.json',
  };
  const bundle = readFileSync(join(ROOT, 'web/dist/page.html'), 'utf8');
  const page = bundle
    .replace("default-src 'none'", "default-src 'none'; connect-src 'self'")
    .replace('{{definitions}}', '""')
    .replace('{{report}}', () => JSON.stringify({ view }));
  const asked = [];
  let hear;
  const gone = new Promise((resolve) => (hear = resolve));
  const made = createServer((request, response) => {
    const path = request.url.slice('/token/'.length).split('?')[0];
    asked.push(path);
    if (path === 'gone') hear();
    if (path === '') return response.setHeader('content-type', 'text/html').end(page);
    const answer = answers[path];
    if (answer) return answer(response);
    return response.writeHead(404).end('{"error": "no such address"}');
  });
  await new Promise((resolve) => made.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => (made.closeAllConnections(), made.close(resolve)));
  return { url: `http://127.0.0.1:${made.address().port}/token/`, stop, asked, gone };
}

test('the frame is there before anything has been analysed, and errors are kind', async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const fake = await pretend({
    report: (response) => void held.then(() => response.writeHead(500).end('{"error": "no memory left for this"}')),
    alive: (response) => response.end('{}'),
    gone: (response) => response.end('{}'),
  });
  const { page } = await openAddress(fake.url, { ...DESK, until: 'frame' });
  assert.equal(await page.locator('h1').first().textContent(), 'a trace');
  assert.equal(await page.locator('#account.waiting').count(), 1);
  assert.equal(await page.locator('#timeline').count(), 1);
  assert.match(await page.title(), /^a trace · gputime view$/);
  await shoot(page, 'live-waiting');
  release();
  await page.locator('.trouble', { hasText: 'no memory left for this' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.trouble', { hasText: 'no memory left for this' }).waitFor();
  assert.ok(fake.asked.filter((path) => path === 'report').length >= 2);
  await page.goto('about:blank');
  await fake.gone;
  await page.context().close();
  await fake.stop();
});
