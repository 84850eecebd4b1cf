// The timeline in a real browser: zooming, panning, hovering, keys and touch; what it shows against the JSON output.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { closeBrowser, DATA, eventually, folder, GPUTIME, makePage, open, openBrowser, shoot } from './browser.mjs';
import { settled } from './explore.mjs';

const TRAINING = join(DATA, 'torch/llama_train_compiled.json.gz');

before(openBrowser);
after(closeBrowser);

/** Kernels that make a page join its items: one every 5 us. */
function longTrace() {
  const events = Array.from({ length: 300_000 }, (_, i) => ({
    ph: 'X',
    cat: 'kernel',
    name: `kernel_${i % 7}`,
    pid: 0,
    tid: 7,
    ts: 5 * i,
    dur: 3,
    args: { device: 0, stream: 7 },
  }));
  const path = join(folder, "it's long.json");
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

async function openTimeline(made, settings = {}) {
  const opened = await open(made, { reducedMotion: 'reduce', ...settings });
  await opened.page.locator('#timeline').scrollIntoViewIfNeeded();
  await settled(opened.page);
  return opened;
}

async function span(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return page.evaluate(() => {
    const { start, end } = document.querySelector('.timeline-port').dataset;
    return { start: Number(start), end: Number(end), length: Number(end) - Number(start) };
  });
}

const tip = (page) =>
  page.evaluate(() => {
    const made = document.querySelector('.explorer-tip');
    return made.hidden ? '' : [...made.children].map((line) => line.textContent).join('\n');
  });

/** Points at a time in the row whose tooltip ends in that text. */
async function hover(page, share, place) {
  const box = await page.locator('.timeline-port').boundingBox();
  const { gutter } = await settled(page);
  for (let y = box.y + 30; y < box.y + box.height; y += 6) {
    await page.mouse.move(box.x + gutter + share * (box.width - gutter), y);
    const text = await tip(page);
    if (text.split('\n').at(-1).startsWith(place)) return text;
  }
  return '';
}

test('rows add up to the tables', async () => {
  const made = makePage('timeline-sums', TRAINING);
  const { page, close } = await openTimeline(made);
  const { streams, accounting } = made.report.tables;
  await page.locator('.explorer-tables summary').click();
  await page.locator('.timeline-rows table').first().waitFor();
  const shown = new Map(
    await page.evaluate(() =>
      [...document.querySelector('.timeline-rows table').tBodies[0].rows].map((row) => [
        row.cells[0].textContent,
        [Number(row.cells[1].title), Number.parseInt(row.cells[2].title, 10)],
      ]),
    ),
  );
  for (const row of streams.rows) {
    assert.deepEqual(shown.get(`GPU ${row.device}, stream ${row.stream}`), [row.count, row.busy_ns]);
  }
  for (const row of accounting.rows) assert.equal(shown.get(`GPU ${row.device}, idle`)[1], row.idle_ns);
  await shoot(page.locator('#timeline'), 'timeline');
  await close();
});

test('wheel, drag, buttons and keys zoom and pan', async () => {
  const { page, close } = await openTimeline(makePage('timeline-zoom', TRAINING));
  const whole = await span(page);
  const box = await page.locator('.timeline-port').boundingBox();
  const { gutter } = await settled(page);
  const middle = [box.x + gutter + (box.width - gutter) / 2, box.y + 60];

  await page.mouse.move(...middle);
  const again = await page.locator('.timeline-port').boundingBox();
  await page.mouse.wheel(0, 20);
  assert.deepEqual(await span(page), whole, 'a wheel alone scrolls');
  await page.keyboard.down('Control');
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -120);
  await page.keyboard.up('Control');
  await page.waitForFunction((most) => {
    const { start, end } = document.querySelector('.timeline-port').dataset;
    return end - start < most;
  }, whole.length * 0.2);
  const wheeled = await span(page);
  const at = (wheeled.start + wheeled.end) / 2 - (whole.start + whole.end) / 2;
  assert.ok(Math.abs(at) < whole.length / 200, 'what is under the pointer stays there');

  await page.mouse.down();
  await page.mouse.move(again.x + 250, again.y + 60, { steps: 5 });
  await page.mouse.up();
  await eventually(async () => {
    const dragged = await span(page);
    assert.ok(dragged.start > wheeled.start && Math.abs(dragged.length - wheeled.length) < 2);
  });

  await page.locator('.timeline-port').focus();
  for (const [keys, check] of [
    ['d', (was, is) => is.start > was.start],
    ['a', (was, is) => is.start < was.start],
    ['w', (was, is) => is.length < was.length],
    ['s', (was, is) => is.length > was.length],
    ['+', (was, is) => is.length < was.length],
    ['-', (was, is) => is.length > was.length],
    ['End', (was, is) => is.end >= whole.end],
    ['Home', (was, is) => is.start <= whole.start],
    ['f', (was, is) => is.length === whole.length],
  ]) {
    const was = await span(page);
    await page.keyboard.press(keys);
    await eventually(async () => assert.ok(check(was, await span(page)), keys));
  }
  await page.getByRole('button', { name: 'Zoom in' }).click();
  assert.ok((await span(page)).length < whole.length);
  await page.getByRole('button', { name: 'Fit' }).click();
  assert.deepEqual(await span(page), whole);
  for (let i = 0; i < 80; i++) (await page.keyboard.press('Tab'), await page.locator('.timeline-port').press('w'));
  assert.ok((await span(page)).length >= 20, 'zooming ends');
  await close();
});

test('hovering shows what an item is', async () => {
  const made = makePage('timeline-hover', 'ranges', TRAINING, '--name', 're:^triton|Memcpy|nvjet');
  const { page, close } = await openTimeline(made);
  const { length, start } = await span(page);
  const { range_instances: ranges } = made.report.tables;
  const longest = ranges.rows.filter((row) => row.level === 0).sort((a, b) => b.projected_ns - a.projected_ns)[0];
  const text = await hover(
    page,
    (longest.start_ns - start + longest.projected_ns / 2) / length,
    `ranges, thread ${longest.tid}`,
  );
  assert.equal(text.split('\n')[0], longest.name);
  await page.mouse.move(5, 5);
  assert.equal(await tip(page), '');
  await close();
});

test('quick keys and clicks all count', async () => {
  const { page, close } = await openTimeline(makePage('timeline-quick', TRAINING), { reducedMotion: 'no-preference' });
  const whole = await span(page);
  const settled = (length) =>
    page.waitForFunction((wanted) => {
      const { start, end } = document.querySelector('.timeline-port').dataset;
      return Math.abs((end - start) / wanted - 1) < 1e-6;
    }, length);
  await page.locator('.timeline-port').focus();
  await page.keyboard.type('wwwwwwww', { delay: 20 });
  await settled(whole.length * 0.6 ** 8);
  await page.keyboard.type('ssdda', { delay: 20 });
  await settled(whole.length * 0.6 ** 6);
  await page.keyboard.press('f');
  await settled(whole.length);
  for (let i = 0; i < 5; i++) await page.getByRole('button', { name: 'Zoom in' }).click({ delay: 0 });
  await settled(whole.length * 0.6 ** 5);
  await close();
});

test('where nothing scrolls a wheel alone says how to zoom', async () => {
  const { page, close } = await openTimeline(makePage('timeline-hint', join(DATA, 'devices.json')), { height: 1200 });
  const box = await page.locator('.timeline-port').boundingBox();
  await page.mouse.move(box.x + 400, box.y + 60);
  await page.mouse.wheel(0, 10);
  await page.locator('.timeline-hint.is-shown').waitFor();
  assert.match(await page.locator('.timeline-hint').textContent(), /Ctrl/);
  await close();
});

test('gaps show their cause', async () => {
  const made = makePage('timeline-gaps', 'gaps', '--per', 'device', TRAINING);
  const { page, close } = await openTimeline(made);
  const { length, start } = await span(page);
  const [gap] = made.report.tables.gaps.rows;
  const text = await hover(page, (gap.start_ns - start + gap.gap_ns / 2) / length, `GPU ${gap.device}, idle`);
  assert.match(text, new RegExp(`^Idle: ${gap.cause}`));
  await close();
});

test('the keyboard goes from item to item', async () => {
  const made = makePage('timeline-keys', TRAINING, '--device', '0');
  const { page, close } = await openTimeline(made, { colorScheme: 'dark' });
  await page.locator('.timeline-port').focus();
  for (let i = 0; i < 10; i++) await page.keyboard.press('w');
  const said = new Set();
  for (const key of ['.', '.', '.', 'ArrowUp', 'ArrowDown', ',']) {
    await page.keyboard.press(key);
    const { pinned } = await settled(page);
    const spoken = await page.locator('#timeline [aria-live]').textContent();
    assert.ok(spoken.includes(pinned.name), spoken);
    assert.ok((await page.locator('.explorer-pane h3').first().textContent()).includes(pinned.name));
    said.add(spoken);
  }
  assert.ok(said.size >= 4);
  await shoot(page.locator('#timeline'), 'timeline-dark');
  await page.keyboard.press('Escape');
  assert.equal((await settled(page)).pinned, null);
  await close();
});

test('past the stored detail a command shows more', async () => {
  const path = longTrace();
  const { page, close } = await openTimeline(makePage('timeline-long', path));
  await page.locator('.timeline-port').focus();
  assert.ok(await page.locator('.timeline-more').isHidden());
  for (let i = 0; i < 24; i++) await page.keyboard.press('w');
  await page.locator('.timeline-more').waitFor();
  const command = await page.locator('.timeline-more code').last().textContent();
  await shoot(page.locator('#timeline'), 'timeline-detail');
  await close();

  execFileSync('sh', ['-c', command.replace(/^gputime/, `'${GPUTIME}'`)], { cwd: folder });
  const { page: part, close: closePart } = await openTimeline({ path: join(folder, 'part.html') });
  await part.locator('.timeline-port').focus();
  for (let i = 0; i < 24; i++) await part.keyboard.press('w');
  await settled(part);
  assert.ok(await part.locator('.timeline-more').isHidden());
  await closePart();
});

test('names are text', async () => {
  const { page, close } = await openTimeline(makePage('timeline-hostile', join(DATA, 'hostile.json')));
  await page.locator('.timeline-port').focus();
  const pane = page.locator('.explorer-pane[aria-label="Pinned item"]');
  const seen = new Set();
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press(i % 10 === 9 ? 'ArrowDown' : '.');
    const { pinned } = await settled(page);
    seen.add(pinned.name);
    assert.equal(await pane.locator('script, img, iframe, a, style').count(), 0);
    assert.equal(await pane.locator('h3 bdi *').count(), 0);
  }
  assert.ok(seen.size > 3);
  await close();
});

test('fingers pan and pinch', async () => {
  const phone = { width: 390, height: 844, hasTouch: true };
  const { page, close } = await openTimeline(makePage('timeline-touch', TRAINING), phone);
  const whole = await span(page);
  const box = await page.locator('.timeline-port').boundingBox();
  const session = await page.context().newCDPSession(page);
  const y = box.y + 60;
  const touch = (type, ...xs) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x: box.x + x, y, id })) });
  await touch('touchStart', 180, 220);
  for (let i = 1; i <= 8; i++) await touch('touchMove', 180 - 8 * i, 220 + 8 * i);
  await touch('touchEnd');
  const pinched = await eventually(async () => {
    const now = await span(page);
    assert.ok(now.length < whole.length / 2, `${now.length} of ${whole.length}`);
    return now;
  });
  await touch('touchStart', 250);
  for (let i = 1; i <= 8; i++) await touch('touchMove', 250 - 12 * i);
  await touch('touchEnd');
  await eventually(async () => assert.ok((await span(page)).start > pinched.start));
  await shoot(page.locator('#timeline'), 'timeline-phone');
  await close();
});

test('several traces are looked at one after the other; a category can be highlighted', async () => {
  const { page, close } = await openTimeline(makePage('timeline-two', TRAINING, join(DATA, 'devices.json')));
  const before = await span(page);
  await page.getByRole('combobox', { name: 'Trace' }).selectOption({ index: 1 });
  await page.waitForFunction((end) => Number(document.querySelector('.timeline-port').dataset.end) < end, before.end);
  await page.getByRole('combobox', { name: 'Trace' }).selectOption({ index: 0 });
  await eventually(async () => assert.deepEqual(await span(page), before));
  const toggle = page.locator('.timeline-legend button').first();
  await toggle.click();
  assert.equal(await toggle.getAttribute('aria-pressed'), 'true');
  assert.equal(await page.locator('.timeline-legend [aria-pressed=true]').count(), 1);
  await shoot(page.locator('#timeline'), 'timeline-chosen');
  await close();
});
