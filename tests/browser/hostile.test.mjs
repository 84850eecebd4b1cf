// Whatever a trace calls its kernels, it stays text.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  assertFits,
  closeBrowser,
  folder,
  makePage,
  open,
  openBrowser,
  scrollThrough,
  shoot,
  workOf,
} from './browser.mjs';

const NAMES = [
  '</script><img src=x onerror=alert(1)>',
  '<!--<script>alert(2)</script>',
  '"><svg onload=alert(3)>',
  '${alert(4)}',
  '{{constructor.constructor("alert(5)")()}}',
  '{a|rich} {style|text}',
  'line\u2028and\u2029paragraph',
  '\u202egnp.lenrek\u202c',
  '\u200fright\u200e',
  'tab\tnewline\nnul\u0000',
  '=HYPERLINK("http://example.invalid")',
  '__proto__',
  'constructor',
  `long ${'x'.repeat(10_000)}`,
  `${'deep<'.repeat(2000)}${'>'.repeat(2000)}(int)`,
];

function trace(path, names) {
  const events = names.flatMap((name, i) => [
    {
      ph: 'X',
      cat: 'kernel',
      name,
      pid: 0,
      tid: 7,
      ts: 20 * i,
      dur: 10,
      args: { device: 0, stream: 7, correlation: i + 1 },
    },
    {
      ph: 'X',
      cat: 'cuda_runtime',
      name: 'cudaLaunchKernel',
      pid: 1,
      tid: 1,
      ts: 20 * i - 5,
      dur: 2,
      args: { correlation: i + 1 },
    },
    {
      ph: 'X',
      cat: 'user_annotation',
      name,
      pid: 1,
      tid: 1,
      ts: 20 * i - 6,
      dur: 4,
    },
  ]);
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

before(openBrowser);
after(closeBrowser);

test('markup, direction marks, templates and endless names stay text', async () => {
  const file = trace(join(folder, '<img src=x onerror=alert(6)>.json'), NAMES);
  for (const command of ['summary', 'kernels', 'gaps', 'ranges']) {
    const made = makePage(`hostile-${command}`, command, file);
    const { page, close } = await open(made);
    await scrollThrough(page);
    assert.equal(await page.locator('img, svg[onload], iframe').count(), 0);
    assert.equal(await page.locator('script').count(), 3);
    assert.ok(await page.locator('main section').count());
    if (command === 'kernels') {
      const shown = await page.locator('#table-kernels td.name').allTextContents();
      for (const name of NAMES.slice(0, 6)) assert.ok(shown.includes(name), name);
      assert.ok(!shown.some((text) => /[\u200e\u200f\u2028-\u202e\u0000-\u001f]/.test(text)));
      const long = page.locator('#table-kernels tr[data-place]', { hasText: 'long xxx' });
      await long.locator('.row-more button').click();
      const dialog = page.locator('dialog[open]');
      assert.ok((await dialog.textContent()).includes('x'.repeat(10_000)));
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.locator('#table-kernels .canvas').hover({ position: { x: 500, y: 20 } });
      await shoot(page, 'hostile');
      for (const { name } of made.report.tables.kernels.rows) {
        await page.locator('nav [data-view="kernel"]').click();
        const place = made.report.tables.kernels.rows.findIndex((row) => row.name === name);
        await page.locator(`#view-kernel tr[data-place="${place}"]`).click();
        await page.locator('#view-kernel .facts').waitFor(); // the view of this name, by way of the address
        assert.equal(await page.locator('img, iframe').count(), 0);
        await assertFits(page);
      }
      const command = await page.locator('#view-kernel .missing code').textContent();
      assert.equal(command, `gputime view '${file}'`);
    }
    await close();
  }
});

test('50,000 names leave the page usable', async () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `kernel_${i}<${'float, '.repeat(10)}${i}>(int)`);
  const made = makePage('many', 'kernels', trace(join(folder, 'many.json'), names));
  assert.ok(made.bytes < 2_000_000, `${made.bytes} bytes`);
  const { page, close } = await open(made);
  const section = page.locator('#table-kernels');
  assert.match(await section.locator('.counter').textContent(), /^2,000 rows; the trace has 50,000$/);
  assert.ok((await section.locator('tr[data-place]').count()) < 60);
  await section.locator('.port').evaluate((port) => port.scrollTo(0, port.scrollHeight));
  await section.locator('tr[data-place="1999"]').waitFor();
  const seconds = await workOf(page, async () => {
    await section.locator('input[type=search]').fill(made.report.tables.kernels.rows[500].name);
    assert.equal(await section.locator('tr[data-place]').count(), 1);
  });
  assert.ok(seconds < 2, `${seconds} s`);
  await close();
});
