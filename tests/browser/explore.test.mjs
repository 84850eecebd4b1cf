// The explorer, on a page of its own and with a server: pointing, pinning, choosing, looking for names, folding, keys,
// and the place in the address.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { closeBrowser, DATA, eventually, openBrowser, shoot } from './browser.mjs';
import { clickItem, laneOf, lookAt, openLive, openStored, pointOf, report, rest, settled, sql } from './explore.mjs';

const TRAINING = join(DATA, 'torch/llama_train_compiled.json.gz');
const STEPS = join(DATA, 'devices.json');

before(openBrowser);
after(closeBrowser);

const KINDS = {
  stored: (name, ...traces) => openStored(`explore-${name}`, ...traces),
  live: (name, ...traces) => openLive({}, ...traces),
};

/** The same on both: `body` gets the page and whether it has a server. */
function onBoth(name, body, ...traces) {
  for (const kind of Object.keys(KINDS))
    test(`${name} (${kind})`, async () => {
      const opened = await KINDS[kind](name.replace(/\W+/g, '-'), ...(traces.length > 0 ? traces : [TRAINING]));
      await body(opened, kind === 'live');
      await opened.close();
    });
}

/** The longest single op of what is seen. */
function longest(lane) {
  const single = lane.items.filter((item) => item.count === 1);
  return single.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
}

const busiest = (model) =>
  model.lanes.filter(({ kind }) => kind === 'ops').sort((a, b) => b.items.length - a.items.length)[0];

onBoth('an item is told of and pinned', async ({ page }, isLive) => {
  const model = await settled(page);
  const lane = busiest(model);
  const item = longest(lane);
  await page.mouse.move(...(await pointOf(page, lane, item)));
  const tip = page.locator('.explorer-tip');
  await tip.waitFor();
  assert.ok((await tip.textContent()).startsWith(item.name));
  assert.match(await tip.textContent(), /GPU 0, stream 7/);

  const pinned = await clickItem(page, lane, item);
  assert.deepEqual(pinned.pinned, { lane: lane.lane, start: item.start, end: item.end, name: item.name });
  const pane = page.locator('.explorer-pane[aria-label="Pinned item"]');
  await pane.waitFor();
  assert.equal(await pane.locator('h3').textContent(), item.name);
  assert.match(await pane.textContent(), /Duration/);
  if (isLive) {
    const [op] = sql(TRAINING, `select call, call_start_ns, operator from ops where start_ns = ${item.start}`);
    const launch = pane.locator('.explorer-link', { hasText: 'Launched by' });
    assert.match(await launch.textContent(), new RegExp(op.call));
    await page.waitForFunction(() => globalThis.gputime.explorer.model().arrows > 0); // from the launch
    await shoot(page.locator('#timeline'), 'explore-pinned');
    await launch.click();
    await page.waitForFunction((at) => globalThis.gputime.explorer.model().pinned?.start === at, op.call_start_ns);
    await pane.locator('h3', { hasText: op.call }).waitFor();
    await page.goBack();
    await page.waitForFunction((at) => globalThis.gputime.explorer.model().pinned?.start === at, item.start);
  } else {
    assert.match(await pane.textContent(), /gputime view /, 'how to see more');
  }
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'hidden' });
  assert.equal((await settled(page)).pinned, null);
});

onBoth('a gap says why', async ({ page }) => {
  const [gap] = sql(TRAINING, 'select start_ns, end_ns, cause from gaps order by gap_ns desc limit 1');
  const model = await lookAt(page, gap.start_ns - 1e6, gap.end_ns + 1e6);
  const lane = laneOf(model, 'gaps');
  const item = lane.items.find((each) => each.start === gap.start_ns);
  assert.equal(item.end, gap.end_ns);
  await clickItem(page, lane, item);
  const pane = page.locator('.explorer-pane[aria-label="Pinned item"]');
  await pane.waitFor();
  assert.equal(await pane.locator('h3').textContent(), `Idle: ${gap.cause}`);
  const [before] = sql(TRAINING, `select name from ops where end_ns = ${gap.start_ns}`);
  const link = pane.locator('button.explorer-link', { hasText: 'Op before' });
  assert.equal(await link.getAttribute('title'), before.name);
  await link.click();
  await page.waitForFunction((end) => globalThis.gputime.explorer.model().pinned?.end === end, gap.start_ns);
});

onBoth('a part of the time is chosen and told of', async ({ page }) => {
  const model = await settled(page);
  const box = await page.locator('#timeline .timeline-port').boundingBox();
  const drag = async (fromX, toX, y) => {
    await page.mouse.move(box.x + fromX, box.y + y);
    await page.mouse.down();
    await page.mouse.move(box.x + toX, box.y + y, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => globalThis.gputime.explorer.model().chosen);
    return (await settled(page)).chosen;
  };
  const chosen = await drag(model.gutter + 200, model.gutter + 500, 10);
  const room = box.width - 2 - model.gutter;
  const share = (chosen.end - chosen.start) / (model.end - model.start);
  assert.ok(Math.abs(share - 300 / room) < 0.01, `${share}`);
  const pane = page.locator('.explorer-pane[aria-label="Selected time"]');
  await pane.locator('.explorer-account').waitFor();
  await checkAccount(pane, chosen);
  await shoot(page.locator('#timeline'), 'explore-chosen');
  await page.locator('#timeline .timeline-port').focus();
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'hidden' });
  assert.equal((await settled(page)).chosen, null);

  await page.keyboard.down('Shift');
  const again = await drag(model.gutter + 100, model.gutter + 150, 120);
  await page.keyboard.up('Shift');
  assert.ok(again.end - again.start < chosen.end - chosen.start);
  await pane.locator('.explorer-title button', { hasText: 'Clear' }).click();
  await pane.waitFor({ state: 'hidden' });
});

/** What a pane says adds up, and is what the program says of that part. */
async function checkAccount(pane, { start, end }) {
  const shown = new Map(
    await pane
      .locator('.explorer-account')
      .first()
      .evaluate((account) =>
        [...account.querySelectorAll('.explorer-bar span')].map((part) => [
          part.title.split(':').slice(0, -1).join(':'),
          Number(part.dataset.ns),
        ]),
      ),
  );
  const sum = [...shown.values()].reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - (end - start)) <= 2, `${sum} of ${end - start}`);
  const { tables } = report(TRAINING, '--from', `${start}ns`, '--to', `${end}ns`);
  const [row] = tables.accounting.rows;
  const about = (key, wanted) =>
    assert.ok(Math.abs((shown.get(key) ?? 0) - wanted) < 1000, `${key}: ${shown.get(key)} and ${wanted}`);
  about('compute', row.compute_ns);
  about('exposed memory', row.exposed_memory_ns);
}

onBoth('m chooses the pinned item', async ({ page }) => {
  const model = await settled(page);
  const lane = laneOf(model, 'ranges', ({ level }) => level === 0);
  const step = longest(lane);
  await clickItem(page, lane, step);
  await page.keyboard.press('m');
  await page.waitForFunction(() => globalThis.gputime.explorer.model().chosen);
  assert.deepEqual((await settled(page)).chosen, { start: step.start, end: step.end });
  const pane = page.locator('.explorer-pane[aria-label="Selected time"]');
  await pane.locator('.explorer-account').waitFor();
  await checkAccount(pane, step);
  const chip = page.locator('#overview', { hasText: 'Tables below' });
  await chip.waitFor();
});

onBoth('names are found', async ({ page }, isLive) => {
  const port = page.locator('#timeline .timeline-port');
  await port.focus();
  await page.keyboard.press('/');
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
    'Find a name in the timeline',
  );
  await page.keyboard.type('NVJET_sm90_tst_256');
  const find = page.locator('.explorer-find');
  await page.locator('.explorer-find[data-state=found]').waitFor();
  const ops = sql(TRAINING, "select start_ns from ops where name like '%nvjet_sm90_tst_256%' order by start_ns");
  const count = Number((await find.locator('output').textContent()).replace(/[^\d]/g, ''));
  assert.equal(count, ops.length);
  const pinned = (at) =>
    page.waitForFunction((start) => globalThis.gputime.explorer.model().pinned?.start === start, at);
  await page.keyboard.press('Enter');
  await pinned(ops[0].start_ns);
  await page.keyboard.press('Enter');
  await pinned(ops[1].start_ns);
  await page.keyboard.press('Shift+Enter');
  await pinned(ops[0].start_ns);
  await page.keyboard.press('Shift+Enter');
  await pinned(ops.at(-1).start_ns);
  await port.focus();
  await page.keyboard.press('n');
  await pinned(ops[0].start_ns);
  await page.keyboard.press('n');
  await pinned(ops[1].start_ns);
  await page.keyboard.press('Shift+N');
  await pinned(ops[0].start_ns);
  await shoot(page.locator('#timeline'), `explore-found-${isLive}`);
  await page.waitForFunction(() => location.hash.includes('find=NVJET'));
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !location.hash.includes('find='));
  assert.equal(await find.locator('input').inputValue(), '');
  await page.keyboard.press('/');
  await page.keyboard.type('no such thing at all');
  await page.locator('.explorer-find output', { hasText: 'no match' }).waitFor();
});

onBoth('groups fold, and the address keeps it', async ({ page }) => {
  const head = page.locator('.timeline-head', { hasText: 'Ranges' });
  assert.equal(await head.getAttribute('aria-expanded'), 'true');
  const before = (await settled(page)).lanes.filter(({ kind }) => kind === 'ranges').length;
  await head.click();
  await eventually(async () => assert.equal(await head.getAttribute('aria-expanded'), 'false'));
  await page.waitForFunction(
    (count) => globalThis.gputime.explorer.model().lanes.filter(({ kind }) => kind === 'ranges').length < count,
    before,
  );
  await page.waitForFunction(() => location.hash.includes('fold=ranges-'));
  assert.ok(await head.evaluate((each) => each === document.activeElement), 'the button keeps the focus');
  await page.reload();
  await page.locator('#page[data-ready]').waitFor();
  await eventually(async () => assert.equal(await head.getAttribute('aria-expanded'), 'false'));
  await settled(page);
  await head.click();
  await page.waitForFunction(() => !location.hash.includes('fold='));
});

onBoth('a link opens the same place again', async ({ page }) => {
  const whole = await settled(page);
  const lane = busiest(whole);
  const item = longest(lane);
  await lookAt(
    page,
    item.start - 2e6,
    item.end + 2e6,
    `&pin=${lane.lane},${item.start},${item.end}&chosen=1000,900000&find=triton`,
  );
  const check = async () => {
    await page.waitForFunction(() => globalThis.gputime?.explorer.model()?.pinned);
    const model = await settled(page);
    assert.ok(Math.abs(model.start - item.start + 2e6) < 2 && Math.abs(model.end - item.end - 2e6) < 2);
    assert.equal(model.pinned.name, item.name);
    assert.deepEqual(model.chosen, { start: 1000, end: 900000 });
    assert.equal(await page.locator('.explorer-search').inputValue(), 'triton');
  };
  await check();
  await page.reload();
  await page.locator('#page[data-ready]').waitFor();
  await check();
  await page.goBack();
  await page.waitForFunction(() => !globalThis.gputime.explorer.model().pinned);
  const back = await settled(page);
  assert.deepEqual([back.start, back.end, back.chosen], [whole.start, whole.end, null]);
  for (const odd of [
    '#at=7',
    '#at=x',
    '#at=0&window=5,1',
    '#at=0&pin=99999,1,2',
    '#at=0&fold=nothing*',
    '#at=0&window=1e400,2',
  ]) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, odd);
    await settled(page);
  }
});

onBoth('keys zoom, pan and go from item to item', async ({ page }) => {
  const whole = await settled(page);
  const port = page.locator('#timeline .timeline-port');
  await port.focus();
  const span = async () => {
    await rest(page);
    return page.evaluate(() => {
      const { start, end, pinned } = globalThis.gputime.explorer.model();
      return { start, end, length: end - start, pinned };
    });
  };
  for (const [key, check] of [
    ['w', (was, is) => is.length < was.length],
    ['w', (was, is) => is.length < was.length],
    ['d', (was, is) => is.start > was.start],
    ['a', (was, is) => is.start < was.start],
    ['s', (was, is) => is.length > was.length],
    ['ArrowRight', (was, is) => is.pinned !== null],
    ['ArrowRight', (was, is) => is.pinned.start > was.pinned.start],
    ['ArrowLeft', (was, is) => is.pinned.start < was.pinned.start],
    ['ArrowUp', (was, is) => is.pinned.lane < was.pinned.lane],
    ['ArrowDown', (was, is) => is.pinned.lane > was.pinned.lane],
    ['f', (was, is) => is.start <= is.pinned.start && is.end >= is.pinned.end && is.length < was.length],
    ['f', (was, is) => is.length === whole.end - whole.start],
    ['f', (was, is) => is.length < was.length],
    ['0', (was, is) => is.length === whole.end - whole.start],
    ['End', (was, is) => is.end >= was.end],
    ['Home', (was, is) => is.start <= was.start],
  ]) {
    const was = await span();
    await page.keyboard.press(key);
    assert.ok(check(was, await span()), key);
  }
  await page.keyboard.press('?');
  const help = page.locator('dialog.explorer-help');
  await help.waitFor();
  assert.match(await help.textContent(), /fit all/);
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'hidden' });
});

onBoth('full screen and height', async ({ page }) => {
  const root = page.locator('#timeline');
  const port = root.locator('.timeline-port');
  const before = await port.boundingBox();
  const full = page.getByRole('button', { name: 'Full screen' });
  await full.click();
  await page.waitForFunction(
    (high) => document.querySelector('#timeline .timeline-port').clientHeight > high + 100,
    before.height,
  );
  assert.equal(await full.getAttribute('aria-pressed'), 'true');
  await full.click();
  await page.waitForFunction(
    (high) => Math.abs(document.querySelector('#timeline .timeline-port').clientHeight - high) < 5,
    before.height,
  );
  const grip = page.getByRole('separator', { name: 'Height of the timeline' });
  await grip.focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(
    (high) => document.querySelector('#timeline .timeline-port').clientHeight >= high + 30,
    before.height,
  );
});

onBoth(
  'several traces',
  async ({ page }) => {
    const first = await settled(page);
    await page.locator('#timeline').getByRole('combobox', { name: 'Trace' }).selectOption({ index: 1 });
    await page.waitForFunction(() => globalThis.gputime.explorer.model().input === 1);
    const second = await settled(page);
    assert.notEqual(first.end, second.end);
    await page.waitForFunction(() => location.hash.startsWith('#at=1'));
    await page.goBack();
    await page.waitForFunction(() => globalThis.gputime.explorer.model().input === 0);
    assert.equal((await settled(page)).end, first.end);
  },
  TRAINING,
  STEPS,
);

onBoth('the drawing is also a table', async ({ page }) => {
  await page.locator('.explorer-tables summary').click();
  await page.locator('.explorer-tables table').first().waitFor();
  const streams = sql(TRAINING, 'select stream, count(*) as n from ops group by stream');
  const rows = await page.evaluate(() =>
    [...document.querySelectorAll('.explorer-tables table')].map((table) =>
      [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.title || cell.textContent)),
    ),
  );
  for (const { stream, n } of streams) {
    const row = rows[0].find(([name]) => name === `GPU 0, stream ${stream}`);
    assert.equal(Number(row[1]), n);
  }
  assert.ok(rows[1].length > 10);
  const port = page.locator('#timeline .timeline-port');
  assert.match(await port.getAttribute('aria-label'), /^Timeline\. 762 ops on 2 streams of 1 GPU/);
});

for (const [width, colorScheme] of [
  [500, 'dark'],
  [1400, 'light'],
  [2560, 'dark'],
])
  test(`nothing overflows at ${width} pixels, ${colorScheme}`, async () => {
    const opened = await openLive({ width, height: 900, colorScheme }, TRAINING);
    const { page } = opened;
    const model = await settled(page);
    const lane = busiest(model);
    await clickItem(page, lane, longest(lane));
    await page.keyboard.press('m');
    await page.locator('.explorer-account').waitFor();
    const wide = await page.evaluate(() => [
      document.documentElement.scrollWidth - innerWidth,
      ...[...document.querySelectorAll('#timeline .explorer-tools, #timeline .explorer-box, .explorer-panes')].map(
        (each) => each.scrollWidth - each.clientWidth,
      ),
    ]);
    assert.deepEqual(
      wide.filter((more) => more > 0),
      [],
    );
    await shoot(page, `explore-${width}-${colorScheme}`);
    await opened.close();
  });
