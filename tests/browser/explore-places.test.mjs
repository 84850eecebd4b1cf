// Places in the explorer: what a selection says is the same with and without a server, going somewhere pins what is there,
// keys work from anywhere, and odd links do no harm.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { closeBrowser, DATA, folder, openAddress, openBrowser, shoot } from './browser.mjs';
import { laneOf, lookAt, openLive, openStored, serve, settled, sql } from './explore.mjs';

const TRAINING = join(DATA, 'torch/llama_train_compiled.json.gz');

before(openBrowser);
after(closeBrowser);

const KINDS = {
  stored: (name, ...traces) => openStored(`places-${name}`, ...traces),
  live: (name, ...traces) => openLive({}, ...traces),
};

/** The same on both. */
function onBoth(name, body) {
  for (const kind of Object.keys(KINDS))
    test(`${name} (${kind})`, async () => {
      const opened = await KINDS[kind](name.replace(/\W+/g, '-'), TRAINING);
      await body(opened, kind === 'live');
      await opened.close();
    });
}

const pane = (page) => page.locator('.explorer-pane[aria-label="Selected time"]');

async function choose(page, start, end) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#at=0&chosen=${start},${end}`);
  await page.waitForFunction((from) => globalThis.gputime.explorer.model().chosen?.start === from, start);
  await settled(page);
  await pane(page).locator('.explorer-account').waitFor();
  return pane(page).evaluate((root) => ({
    parts: [...root.querySelectorAll('.explorer-bar span')].map((part) => [
      part.title.split(':').slice(0, -1).join(':'),
      Number(part.dataset.ns),
    ]),
    lists: [...root.querySelectorAll('.explorer-list')].map((list) =>
      [...list.children].map((row) => [
        row.querySelector('[title]')?.title ?? row.firstChild.textContent,
        row.querySelector('small').textContent,
        row.querySelector('b').textContent,
      ]),
    ),
  }));
}

test('a selection says the same with a server and without, as the lanes have it', async () => {
  const stored = await openStored('places-same', TRAINING);
  const live = await openLive({}, TRAINING);
  const ends = sql(TRAINING, 'select start_ns, end_ns, cause from gaps order by gap_ns desc limit 1')[0];
  const middle = Math.round((ends.start_ns + ends.end_ns) / 2);
  const copy = sql(
    TRAINING,
    "select start_ns, end_ns, name from ops where kind = 'memcpy' order by dur_ns desc limit 1",
  )[0];
  for (const [from, to] of [
    [middle, middle + 1000],
    [ends.start_ns - 500_000, middle],
    [copy.start_ns - 100_000, copy.end_ns + 100_000],
  ]) {
    const [a, b] = [await choose(stored.page, from, to), await choose(live.page, from, to)];
    assert.deepEqual(new Map(b.parts), new Map(a.parts), `${from} to ${to}`);
    assert.deepEqual(b.lists, a.lists, `${from} to ${to}`);
    const gaps = sql(
      TRAINING,
      `select cause, sum(min(end_ns, ${to}) - max(start_ns, ${from})) as ns from gaps
       where start_ns < ${to} and end_ns > ${from} group by cause`,
    );
    for (const { cause, ns } of gaps) assert.equal(new Map(b.parts).get(`idle: ${cause}`), ns);
    if (from === middle) assert.deepEqual(b.parts, [[`idle: ${ends.cause}`, 1000]]);
    if (from === copy.start_ns - 100_000)
      assert.ok(
        b.lists[0].some(([name]) => name === copy.name),
        'the copy is listed',
      );
  }
  await stored.close();
  await live.close();
});

onBoth('a kernel of a selection leads to its view, a gap is pinned', async ({ page }) => {
  const [gap] = sql(TRAINING, 'select start_ns, end_ns from gaps order by gap_ns desc limit 1');
  await choose(page, gap.start_ns - 1_000_000, gap.end_ns + 1_000_000);
  await pane(page).locator('.explorer-list').nth(1).locator('button').first().click();
  await page.waitForFunction((at) => globalThis.gputime.explorer.model().pinned?.start === at, gap.start_ns);
  const kernel = pane(page).locator('.explorer-list').first().locator('button').first();
  const name = await kernel.getAttribute('title');
  await kernel.click();
  await page.waitForFunction(() => document.getElementById('page').dataset.view === 'kernel');
  assert.equal(new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)).get('name'), name);
});

onBoth('keys work wherever the focus is', async ({ page }) => {
  await page.evaluate(() => document.activeElement.blur());
  const length = async () => {
    const { start, end } = await settled(page);
    return end - start;
  };
  const whole = await length();
  await page.keyboard.press('w');
  assert.ok((await length()) < whole);
  await page.keyboard.press('0');
  assert.equal(await length(), whole);
  await page.keyboard.press('?');
  const help = page.locator('dialog.explorer-help');
  await help.waitFor();
  await page.keyboard.press('w');
  const cut = await help.evaluate(
    (dialog) =>
      [dialog, ...dialog.querySelectorAll('dd, dt, kbd')].filter(
        (each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0,
      ).length,
  );
  const narrow = await help.evaluate((dialog) =>
    Math.min(...[...dialog.querySelectorAll('dd')].map((dd) => dd.clientWidth)),
  );
  await shoot(page, 'places-help');
  assert.equal(cut, 0);
  assert.ok(narrow >= 100, `${narrow} pixels`);
  await page.keyboard.press('Escape');
  assert.equal(await length(), whole, 'not while a dialog is open');
  await page.keyboard.press('/');
  await page.keyboard.type('w');
  assert.equal(await page.locator('.explorer-search').inputValue(), 'w');
  assert.equal(await length(), whole, 'not while text is typed');
});

onBoth('going to a step or a gap shows it with little around it, and pins it', async ({ page }, isLive) => {
  const [step] = sql(TRAINING, 'select name, start_ns, end_ns from steps order by start_ns desc limit 1');
  const height = (await page.locator('#timeline .timeline-port').boundingBox()).height;
  await page.locator('#page[data-ready]').waitFor();
  await page.evaluate(() => {
    location.hash = '#view=steps';
  });
  await page.locator('.step-list button').last().click();
  await page.waitForFunction(() => globalThis.gputime.explorer.model()?.pinned);
  const model = await settled(page);
  assert.equal(model.pinned.name, step.name);
  assert.ok(model.start <= model.pinned.start && model.end >= model.pinned.end);
  assert.ok(model.end - model.start < 1.2 * (step.end_ns - step.start_ns), `${model.start} to ${model.end}`);
  assert.ok(
    model.lanes.some(({ lane }) => lane === model.pinned.lane),
    'its lane is seen',
  );
  const now = (await page.locator('#timeline .timeline-port').boundingBox()).height;
  assert.ok(Math.abs(now - height) < 2, `${height} pixels high before, ${now} with details`);
  await shoot(page, `places-step-${isLive}`);
});

onBoth('odd links are cut to the trace', async ({ page }, isLive) => {
  const bad = [];
  page.on('response', (response) => response.status() >= 400 && bad.push(response.url()));
  const whole = await settled(page);
  const last = sql(TRAINING, 'select max(end_ns) as at from ops')[0].at;
  await page.evaluate(() => {
    location.hash = '#at=0&chosen=-5e30,1e99';
  });
  await page.waitForFunction(() => globalThis.gputime.explorer.model().chosen);
  const { chosen } = await settled(page);
  assert.ok(chosen.start <= whole.start && chosen.start > -1e12 && chosen.end >= last && chosen.end < 1e12);
  await page.locator('.explorer-problem', { hasText: 'beyond the trace' }).waitFor();
  await pane(page).locator('.explorer-account').waitFor();
  for (const odd of ['#at=0&chosen=1e98,1e99', '#at=0&pin=1,1e99,2e99', '#at=0&pin=1,0.5,1.5']) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, odd);
    await page.waitForFunction(() => !globalThis.gputime.explorer.model().chosen);
    assert.equal((await settled(page)).pinned, null);
  }
  assert.deepEqual(bad, [], isLive ? 'no refused request' : '');
});

test('counters rise over the borders of tiles', async () => {
  const live = await openLive({ width: 2560 }, TRAINING);
  const { page } = live;
  const { start, end } = await settled(page);
  for (const [from, to] of [
    [start, end],
    [82_357_358, 95_975_085],
    [10_000_000, 40_000_000],
  ]) {
    const model = await lookAt(page, from, to);
    const lane = laneOf(model, 'counters');
    assert.ok(lane.items.length > 10);
    for (const [i, item] of lane.items.entries()) {
      assert.ok(item.end > item.start);
      if (i > 0) assert.equal(item.start, lane.items[i - 1].end, 'each value holds until the next');
    }
  }
  await live.close();
});

test('a server that has ended is named', async () => {
  const { page, stop } = await openLive({}, TRAINING); // it is not closed: its questions fail
  await stop();
  await page.locator('#timeline .timeline-port').focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press('w');
  const problem = page.locator('.explorer-problem');
  await problem.waitFor();
  assert.match(await problem.textContent(), /server of this page has ended/);
  await page.locator('.banner', { hasText: 'has ended' }).waitFor();
  await page.context().close();
});

test('a trace without anything has no timeline', async () => {
  const path = join(folder, 'nothing.json');
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, deviceProperties: [], traceEvents: [] }));
  const { url, stop } = await serve(path);
  const { page, close } = await openAddress(url, { width: 1400, height: 900 });
  await page.locator('#page[data-ready]').waitFor();
  await page.locator('#timeline').waitFor({ state: 'hidden' });
  await close();
  await stop();
});
