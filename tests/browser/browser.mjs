// What the tests of the page share: pages made by the program, and a browser in which anything unexpected is an error.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const DATA = join(ROOT, 'tests/data');
const SHARED = process.env.GPUTIME_SHARED;
const { chromium } = createRequire(join(ROOT, 'web/package.json'))('playwright-core');
export const GPUTIME = join(ROOT, process.env.GPUTIME ?? 'build/gputime');
const SHOTS = join(ROOT, 'build/browser');

/** In which schemes and widths a chart is looked at. */
export const LOOKS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
];

export const folder = mkdtempSync(join(tmpdir(), 'gputime-browser-'));
mkdirSync(SHOTS, { recursive: true });

/** A test on files that the repository does not have, of the folder that GPUTIME_SHARED names; skipped without them. */
export function sharedTest(name, files, body) {
  const paths = files.map((file) => join(SHARED || '/nowhere', file));
  const skip = paths.every((path) => existsSync(path)) ? false : 'needs more samples than the repository has';
  test(`${name} (shared samples)`, { skip }, () => body(paths));
}

function run(...args) {
  const env = {
    ...process.env,
    XDG_CACHE_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  try {
    return execFileSync(GPUTIME, args, {
      env,
      maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    if (error.status !== 3) throw error; // a limit that is broken: all is written all the same
    return error.stdout;
  }
}

/** The path of a page, and the same report as JSON. */
export function makePage(name, ...args) {
  const path = join(folder, `${name}.html`);
  run(...args, '--html', '-q', '-o', path);
  const report = JSON.parse(run(...args, '--json').toString());
  return { path, report, bytes: readFileSync(path).length };
}

let browser = null;
const ends = [];

/** What has to end with the tests, also where one of them failed before it ended it: else they would never end. */
export function atEnd(end) {
  ends.push(end);
}

export async function openBrowser() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
  });
}

export async function closeBrowser() {
  await browser?.close();
  for (const end of ends) await end();
  rmSync(folder, { recursive: true, force: true });
}

/** Waits until the timeline shows a part of the time, with not much around it. */
export async function timelineShows(page, start, end) {
  await page.waitForFunction(
    ([from, to]) => {
      const shown = document.querySelector('#timeline .timeline-port')?.dataset;
      return (
        shown && Number(shown.start) <= from && Number(shown.end) >= to && shown.end - shown.start < 4 * (to - from)
      );
    },
    [start, end],
  );
}

/** What axe-core finds that is serious or critical, in words: of the first screen, or of the view that is shown. */
export async function complaints(page) {
  const source = readFileSync(join(ROOT, 'web/node_modules/axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source); // the page's policy allows no script of others
  return page.evaluate(async () => {
    const first = ['nav', '#top', '#account', '#findings', '#timeline', '#table-accounting', '#table-measures'];
    const isOverview = document.getElementById('page').dataset.view === 'overview';
    const include = isOverview ? first.filter((each) => document.querySelector(each)) : ['nav', '#stage'];
    const { violations, passes } = await globalThis.axe.run({ include }, { resultTypes: ['violations'] });
    if (passes.length < 10) return [`only ${passes.length} rules applied`];
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .map(({ html }) => html.slice(0, 120))
            .slice(0, 3)
            .join(' | ')}`,
      );
  });
}

/** Opens a page; whatever it logs, asks for or fails at is collected, and must be nothing when `check` is called. */
export async function open({ path }, settings = {}) {
  const own = pathToFileURL(path).href;
  return openPage(own, (url) => url.split('#')[0] === own, settings);
}

/** The page of a server, which it may ask. */
export async function openAddress(address, settings = {}) {
  return openPage(address, (url) => url.startsWith(address), settings);
}

async function openPage(address, mayAsk, { width = 1280, height = 800, hash = '', until = 'ready', ...settings }) {
  const context = await browser.newContext({
    viewport: { width, height },
    ...settings,
  });
  const page = await context.newPage();
  const oddities = [];
  page.on('console', (message) => oddities.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => oddities.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => oddities.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (!mayAsk(request.url()) && !request.url().startsWith('data:')) oddities.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    // Pages from files have no clipboard of their own here.
    globalThis.copied = [];
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text) => void globalThis.copied.push(text) },
    });
  });
  await page.goto(address + hash);
  await page.locator(`#page[data-${until}]`).waitFor();
  const close = async () => {
    assert.deepEqual(oddities, []);
    await context.close();
  };
  return { page, close, oddities };
}

/** Until what has been asked for is drawn: drawings follow within a frame or two. */
export async function frames(page) {
  await page.evaluate(
    () =>
      new Promise((done) => {
        let left = 3;
        const next = () => (left-- > 0 ? requestAnimationFrame(next) : done());
        next();
      }),
  );
}

const PATIENCE_MS = 20_000;

/** Repeats a check until it holds; what it says at last is what fails. */
export async function eventually(check) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Nothing is wider than the window, once all has been laid out in it. */
export async function assertFits(page, what = 'the page') {
  await eventually(async () => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${what}: ${overflow} px too wide`);
  });
}

/** Seconds of CPU time that the page's own thread takes for something, however busy the machine is. */
export async function workOf(page, action) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const seconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value;
  };
  const before = await seconds();
  await action();
  await frames(page);
  const taken = (await seconds()) - before;
  await session.detach();
  assert.ok(taken > 0, 'something is measured');
  return taken;
}

/** Scrolls to a chart and waits until it is drawn. */
export async function showChart(page, host) {
  await host.scrollIntoViewIfNeeded();
  await host.locator('canvas').first().waitFor();
  await frames(page);
}

/** Scrolls through the page, so that every chart is drawn. */
export async function scrollThrough(page) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let y = 0; y < height; y += 600) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await frames(page);
  }
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.canvas')].every((host) => host.clientWidth === 0 || host.querySelector('canvas')),
  );
  await page.evaluate(() => scrollTo(0, 0));
  await frames(page);
}

export async function shoot(target, name) {
  await target.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** How many pixels of a chart have each colour. */
export async function colours(page, section, place = 0) {
  return page.evaluate(
    ([id, at]) => {
      const canvas = document.querySelectorAll(`#${id} canvas`)[at];
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const counts = {};
      for (let i = 0; i < data.length; i += 4) {
        const key = `#${[0, 1, 2].map((c) => data[i + c].toString(16).padStart(2, '0')).join('')}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    },
    [section, place],
  );
}

/** The cells of one column as the table shows them: text and what hovering shows. */
export async function column(page, section, key) {
  return page.evaluate(
    ([id, name]) => {
      const table = document.querySelector(`#${id} table`);
      const place = [...table.querySelectorAll('th')].findIndex((th) => th.querySelector(`[data-column="${name}"]`));
      return [...table.querySelectorAll('tr[data-place]')].map((row) => ({
        text: row.children[place].textContent,
        exact: row.children[place].title,
      }));
    },
    [section, key],
  );
}

/** What is written on canvases while something is done: names, values and tooltips of charts. */
export async function textsDuring(page, action) {
  await page.evaluate(() => {
    globalThis.written = [];
    const { prototype } = CanvasRenderingContext2D;
    globalThis.fillText ??= prototype.fillText;
    prototype.fillText = function (text, ...rest) {
      globalThis.written.push(text);
      return globalThis.fillText.call(this, text, ...rest);
    };
  });
  await action();
  await frames(page);
  return page.evaluate(() => {
    CanvasRenderingContext2D.prototype.fillText = globalThis.fillText;
    return globalThis.written;
  });
}
