// Makes the pictures of the page in docs/: node docs/make_pictures.mjs, after make and make page. Needs Chromium.
import { statSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, closeBrowser, openAddress, openBrowser } from '../tests/browser/browser.mjs';
import { serve, settled } from '../tests/browser/explore.mjs';

const DATA = join(ROOT, 'tests/data');
const TRACES = ['torch/llama_train_compiled.json.gz', 'diff/llama_train_eager.json.gz'].map((name) => join(DATA, name));
const RANKS = [0, 1, 2, 3].map((rank) => join(DATA, `ranks/rank${rank}.json.gz`));
const MOST_BYTES = 300_000;
const SCREEN = { width: 1280, height: 800, reducedMotion: 'reduce' };

async function take(page, name) {
    const path = join(ROOT, 'docs', `${name}.png`);
    await page.mouse.move(0, 0);
    await page.screenshot({ path });
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new Error(`${name}.png has ${size} bytes`);
    console.log(`docs/${name}.png: ${size} bytes`);
}

/** One page of a server on these traces, and what is done before its pictures are taken. */
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
    await page.locator('.finding summary').first().click(); // goes to its worst place
    await page.locator('.finding summary').first().click();
    await settled(page);
    await page.locator('#timeline').scrollIntoViewIfNeeded();
    await page.locator('#timeline .timeline-port').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await settled(page);
    await page.evaluate(() => document.getElementById('timeline').scrollIntoView());
    await take(page, 'page-timeline');
});
await film(TRACES.slice(0, 1), '#view=flame', async (page) => {
    await page.locator('.range').nth(3).waitFor();
    await take(page, 'page-flame');
});
await film(TRACES.slice(0, 1), '#view=kernel', async (page) => {
    await page.locator('#view-kernel tr[data-place="0"]').click();
    await page.locator('#view-kernel .canvas canvas').nth(1).waitFor();
    await page.locator('#view-kernel .later[aria-busy]').first().waitFor({ state: 'detached' });
    await take(page, 'page-kernel');
});
await film([...TRACES].reverse(), '#view=compare', async (page) => {
    await page.locator('#change canvas').waitFor();
    await page.locator('#change').evaluate((made) => scrollTo(0, made.offsetTop - 420));
    await take(page, 'page-compare');
});
await film(RANKS, '#view=ranks', async (page) => {
    await page.locator('.rank-collective').first().waitFor();
    await take(page, 'page-ranks');
});
await closeBrowser();
