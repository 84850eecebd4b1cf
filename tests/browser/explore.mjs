// What the tests of the explorer share: a server for a trace, pages of either kind, and what they draw.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { atEnd, folder, GPUTIME, makePage, open, openAddress } from './browser.mjs';

const ENV = { ...process.env, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder };

/** Starts `gputime view`; its address, and what ends it. */
export async function serve(...args) {
  const server = spawn(GPUTIME, ['view', '--no-open', '--idle', '0', ...args], {
    env: ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = [];
  const url = await new Promise((resolve, reject) => {
    const listen = (stream) =>
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line);
        const found = /http:\/\/\S+\//.exec(line);
        if (found) resolve(found[0]);
      });
    listen(server.stdout);
    listen(server.stderr);
    server.on('exit', (code) => reject(new Error(`gputime view ended with ${code}: ${said.join('\n')}`)));
  });
  let isEnded = false;
  server.on('exit', () => (isEnded = true));
  const stop = async () => {
    if (isEnded) return;
    const ended = new Promise((resolve) => server.on('exit', resolve));
    server.kill('SIGINT');
    await ended;
  };
  atEnd(stop);
  return { url, stop };
}

/** Rows of a query, by the program itself. */
export function sql(trace, query) {
  const text = execFileSync(GPUTIME, ['sql', trace, query, '--json', '--max-rows', '0'], {
    env: ENV,
    maxBuffer: 1 << 30,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(text).tables.rows.rows;
}

export function report(...args) {
  return JSON.parse(
    execFileSync(GPUTIME, [...args, '--json'], { env: ENV, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
}

/** Until all that is seen is as fine as it can be. */
export async function rest(page) {
  await page.waitForFunction(() => globalThis.gputime?.explorer.model()?.isSettled);
}

/** What is drawn then. */
export async function settled(page) {
  await rest(page);
  return page.evaluate(() => globalThis.gputime.explorer.model());
}

const CALM = { width: 1400, height: 900, reducedMotion: 'reduce' };

/** An explorer on a page with a report inside. */
export async function openStored(name, ...args) {
  const opened = await open(makePage(name, ...args), CALM);
  return ready(opened);
}

/** An explorer that asks a server; both end together. */
export async function openLive(settings, ...args) {
  const { url, stop } = await serve(...args);
  const opened = await openAddress(url, { ...CALM, ...settings });
  await ready(opened);
  const close = async () => {
    await opened.close();
    await stop();
  };
  return { ...opened, url, stop, close };
}

async function ready(opened) {
  await opened.page.locator('#timeline').scrollIntoViewIfNeeded();
  await settled(opened.page);
  return opened;
}

/** The page's place of an item: the middle of what is seen of it. */
export async function pointOf(page, lane, item) {
  const model = await settled(page);
  const box = await page.locator('#timeline .timeline-port').boundingBox();
  const room = box.width - 2 - model.gutter; // without its borders
  const xOf = (time) => model.gutter + ((time - model.start) / (model.end - model.start)) * room;
  const left = Math.max(xOf(item.start), model.gutter);
  const right = Math.min(xOf(item.end), model.gutter + room);
  return [box.x + 1 + (left + right) / 2, box.y + 1 + lane.top + lane.height / 2];
}

export async function clickItem(page, lane, item) {
  await page.mouse.click(...(await pointOf(page, lane, item)));
  await page.waitForFunction(() => globalThis.gputime.explorer.model().pinned);
  return settled(page);
}

/** Goes to a window through the address. */
export async function lookAt(page, start, end, more = '') {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#at=0&window=${start},${end}${more}`);
  await page.waitForFunction(
    ([from, to]) => {
      const model = globalThis.gputime.explorer.model();
      return model && Math.abs(model.start - from) < 2 && Math.abs(model.end - to) < 2;
    },
    [start, end],
  );
  return settled(page);
}

export function laneOf(model, kind, test = () => true) {
  const lane = model.lanes.find((each) => each.kind === kind && test(each));
  assert.ok(lane, `no lane of ${kind}`);
  return lane;
}
