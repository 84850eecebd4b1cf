// Makes the pictures of the page in docs/: node tests/browser/pictures.mjs, after make. Needs Chromium.
import { statSync } from 'node:fs';
import { join } from 'node:path';

import { DATA, ROOT, closeBrowser, openAddress, openBrowser } from './browser.mjs';
import { serve, settled } from './explore.mjs';

const TRACES = ['torch/llama_train_compiled.json.gz', 'diff/llama_train_eager.json.gz'].map((name) => join(DATA, name));
const RANKS = [0, 1, 2, 3].map((rank) => join(DATA, `ranks/rank${rank}.json.gz`));
const MOST_BYTES = 300_000;
const SCREEN = { width: 1400, height: 900, reducedMotion: 'reduce' };

async function take(page, name, target = page) {
  const path = join(ROOT, 'docs', `${name}.png`);
  await page.mouse.move(0, 0);
  await target.screenshot({ path });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${name}.png has ${size} bytes`);
  console.log(`docs/${name}.png: ${size} bytes`);
}

/** One page of a server on these traces, and what is done before its picture is taken. */
async function film(traces, hash, act) {
  const { url, stop } = await serve(...traces);
  const { page, close } = await openAddress(url, { ...SCREEN, hash });
  await act(page);
  await close();
  await stop();
}

await openBrowser();
await film(TRACES.slice(0, 1), '', async (page) => {
  await settled(page);
  await take(page, 'page');
});
await film(TRACES.slice(0, 1), '#at=0&window=300000,2600000', async (page) => {
  await settled(page);
  await page.locator('#timeline .timeline-port').focus();
  for (let i = 0; i < 9; i++) await page.keyboard.press('ArrowRight'); // pins one op after the other
  await settled(page);
  await take(page, 'page-timeline', page.locator('#timeline'));
});
await film(TRACES.slice(0, 1), '#view=flame', async (page) => {
  await page.locator('#view-flame .range').nth(3).waitFor();
  await take(page, 'page-flame');
});
await film(TRACES.slice(0, 1), '#view=kernel', async (page) => {
  await page.locator('#view-kernel tr[data-place="0"]').click();
  await page.locator('#view-kernel .canvas canvas').nth(1).waitFor();
  await take(page, 'page-kernel');
});
await film([...TRACES].reverse(), '#view=compare', async (page) => {
  const change = page.locator('#view-compare #change');
  await change.locator('canvas').waitFor();
  await take(page, 'page-compare');
});
await film(RANKS, '#view=ranks', async (page) => {
  await page.locator('#view-ranks .rank-collective').first().waitFor();
  await take(page, 'page-ranks');
});
await closeBrowser();
