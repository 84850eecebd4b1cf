// The charts of many ranks: steps over time and as shades, bytes between ranks, bandwidth by size.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  assertFits,
  LOOKS,
  ROOT,
  closeBrowser,
  colours,
  folder,
  makePage,
  open,
  openBrowser,
  shoot,
  showChart,
  textsDuring,
  workOf,
} from './browser.mjs';

const STEPS = 'table-rank_steps';
const FLOWS = 'table-all_to_all';
const COLLECTIVES = 'table-job_collectives';
const PARTS = {
  compute_ns: '#3f7cc4',
  exposed_transfer_ns: '#cf4b43',
  exposed_wait_ns: '#e9b44c',
  idle_ns: '#9da7b3',
};
const HOSTILE = '</script><img src=x onerror=alert(1)> {a|b} \u202etp';
const sum = (values) => values.reduce((total, value) => total + value, 0);
const sumOf = (rows, key) => sum(rows.map((row) => row[key]));

before(openBrowser);
after(closeBrowser);

/** A simulated job; the same for the same options. */
function makeJob(name, ...options) {
  const path = join(folder, name);
  execFileSync(join(ROOT, 'build/jobgen'), [...options, path], { stdio: 'ignore' });
  rmSync(join(path, 'truth.json')); // is no trace
  return path;
}

const made = new Map();

function jobPage(name, ...options) {
  if (!made.has(name)) made.set(name, makePage(name, 'ranks', makeJob(`${name}-job`, ...options)));
  return made.get(name);
}

const small = () => jobPage('ranks-small', '--ranks', '4', '--tp', '2', '--dp', '2', '--straggler', '2:more:1.5');
const MANY = ['--ranks', '256', '--tp', '8', '--dp', '32', '--steps', '12', '--layers', '2', '--kernels', '1'];
const many = () => jobPage('ranks-many', ...MANY, '--straggler', '77:more:2');
const FAULTS = ['--straggler', '3:slower:1.2', '--straggler', '9:host:1.3', '--overlap', '--noise', '0.02'];
const two = () => jobPage('ranks-two', '--ranks', '16', '--tp', '2', '--pp', '2', ...FAULTS);
const experts = () => jobPage('ranks-experts', '--ranks', '8', '--ep', '4', '--dp', '8', '--hot-expert', '1:0.5');

/** Two ranks that call their group what they like; the second comes 50 us later. Times are in us. */
function writeNamedJob(description, folderName = 'named-job') {
  const path = join(folder, folderName);
  mkdirSync(path, { recursive: true });
  for (const rank of [0, 1]) {
    const traceEvents = [];
    const add = (cat, name, tid, ts, dur, args = {}) =>
      traceEvents.push({ ph: 'X', cat, name, pid: 1, tid, ts, dur, args });
    for (let step = 0; step < 3; step++) {
      const begin = 1000 * step;
      add('user_annotation', `ProfilerStep#${step}`, 1, begin, 900);
      const compute = 100 + 50 * rank;
      const ops = [
        ['gemm', begin + 100, compute, {}],
        [
          'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
          begin + 100 + compute,
          400 - compute,
          {
            'Collective name': 'allreduce',
            'In msg nelems': 4096 << (4 * step),
            'Out msg nelems': 4096 << (4 * step),
            'Group size': 2,
            dtype: 'BFloat16',
            'In split size': '[]',
            'Out split size': '[]',
            'Process Group Name': '7',
            'Process Group Description': description,
            'Process Group Ranks': '[0, 1]',
          },
        ],
      ];
      if (description === null) ops.pop(); // nothing in common
      ops.forEach(([name, ts, dur, args], place) => {
        const correlation = 10 * step + place + 1;
        add('cuda_runtime', 'cudaLaunchKernel', 1, begin + 10 + place, 0.5, { correlation });
        add('kernel', name, 7, ts, dur, { device: 0, stream: 7, correlation, ...args });
      });
    }
    const distributedInfo = { rank, world_size: 2 };
    writeFileSync(join(path, `rank${rank}.json`), JSON.stringify({ schemaVersion: 1, distributedInfo, traceEvents }));
  }
  return path;
}

async function openSection(report, section, settings = {}) {
  const { page, close } = await open(report, settings);
  const figures = page.locator(`#${section} figure`);
  for (let i = 0; i < (await figures.count()); i++) {
    await showChart(page, figures.nth(i));
  }
  await assertFits(page);
  return { page, close, section: page.locator(`#${section}`), cells: page.locator(`#${section} .cells`) };
}

/** The value with its unit as ns; the page shows four digits. */
function nsOf(text) {
  const [, number, unit] = /^(\u2212?[\d,.]+) (ns|\u00b5s|ms|s)$/.exec(text) ?? assert.fail(text);
  const factor = { ns: 1, '\u00b5s': 1e3, ms: 1e6, s: 1e9 }[unit];
  return Number(number.replace('\u2212', '-').replaceAll(',', '')) * factor;
}

function assertNear(text, expected, what) {
  assert.ok(Math.abs(nsOf(text) - expected) <= Math.abs(expected) * 0.002 + 0.5, `${what}: ${text} for ${expected}`);
}

/** Goes through all cells with the keyboard, and returns what is said about each. */
async function readCells(page, cells, rows, columns) {
  const said = [];
  const spoken = cells.locator('xpath=following-sibling::p[@aria-live]');
  await cells.focus();
  for (let row = 0; row < rows; row++) {
    const isForth = row % 2 === 0;
    for (let column = 0; column < columns; column++) {
      await page.keyboard.press(
        column === 0 ? (row === 0 ? 'ArrowRight' : 'ArrowDown') : isForth ? 'ArrowRight' : 'ArrowLeft',
      );
      said.push(await spoken.textContent());
    }
  }
  return said;
}

test('each of several jobs is drawn by itself, and the first screen says that there are several', async () => {
  const names = ['ranks-run-a', 'ranks-run-b'];
  const jobs = names.map((name, seed) => makeJob(name, '--ranks', String(4 - seed), '--seed', String(seed + 1)));
  const report = makePage('ranks-runs', 'ranks', ...jobs);
  const { page, close, section, cells } = await openSection(report, STEPS);
  assert.equal(await page.locator('h1').textContent(), '2 jobs');
  const warnings = page.locator('#top .note.warning');
  assert.match(await warnings.first().textContent(), /^These traces are of 2 jobs, whose world sizes/);
  assert.ok(await warnings.first().isVisible());
  assert.deepEqual(await section.locator('h3').allTextContents(), ['job 1: 4 ranks', 'job 2: 3 ranks']);
  const labels = await cells.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
  for (const ranks of [4, 3]) {
    const own = labels.filter((label) => label.includes(`. ${ranks} ranks, 6 steps of `));
    assert.equal(own.length, 1, labels.join('\n'));
  }
  assert.deepEqual(await page.locator('#account .account-name').allTextContents(), [
    'job 1: 4 ranks',
    'job 2: 3 ranks',
  ]);
  const { rows } = report.report.tables.ranks;
  for (const [place, { input }] of report.report.inputs.entries()) {
    const own = rows.filter((row) => row.input === input);
    const total = await page.locator('#account .account-total').nth(place).textContent();
    assertNear(total, sumOf(own, 'span_ns') / own.length, input);
  }
  await close();
});

test('of several jobs none is the whole, whether or not they have a folder; each has a line with its traces and verdict', async () => {
  const jobs = ['lines-a', 'lines-b'].map((name, seed) => makeJob(name, '--ranks', String(4 - seed), '--steps', '2'));
  const cut = join(jobs[1], 'rank0001.json');
  writeFileSync(cut, readFileSync(cut).subarray(0, -4000));
  for (const options of [[], ['--redact']]) {
    const report = makePage(`ranks-lines${options.length}`, 'ranks', ...jobs, ...options);
    const isHidden = options.length > 0;
    assert.equal(report.report.inputs[0].path === null, isHidden);
    const { page, close } = await open(report);
    assert.equal(await page.locator('h1').textContent(), '2 jobs');
    assert.deepEqual(await page.locator('#table-inputs thead th').allTextContents(), [
      'Fact',
      'job 1: 4 ranks',
      'job 2: 3 ranks',
    ]);
    assert.equal(await page.locator('#table-inputs h2').textContent(), 'Jobs');
    const [ofAll, ofOne, ...others] = await page.locator('#top .note.warning').allTextContents();
    assert.match(ofAll, /^These traces are of 2 jobs, /);
    assert.match(ofOne, /^job 2: 3 ranks: '[^']+' was only partly read \(input_cut\)/);
    assert.deepEqual(others, []);
    const lines = await page.locator('#top .note.job').allTextContents();
    assert.equal(lines.length, 2);
    lines.forEach((line, place) => {
      const { input, notes } = report.report.inputs[place];
      const name = isHidden ? `input ${4 * place + 1}` : join(jobs[place], 'rank*.json');
      assert.ok(line.startsWith(`${input} Traces: '${name}'`), line);
      assert.ok(line.includes(notes[place === 0 ? 2 : 1]), line);
    });
    assert.equal(await page.locator('#top .note').count(), 4, 'nothing is said twice');
    await close();
  }
});

test('what was only partly read is a warning, also of the traces that are only counted', async () => {
  const job = makeJob('ranks-cut-job', '--ranks', '10', '--steps', '2', '--layers', '1', '--kernels', '3');
  for (let rank = 0; rank < 10; rank++) {
    const path = join(job, `rank000${rank}.json`);
    writeFileSync(path, readFileSync(path).subarray(0, -2000));
  }
  const report = makePage('ranks-cut', 'ranks', job);
  const { page, close } = await open(report);
  const warnings = await page.locator('#top .note.warning').allTextContents();
  assert.deepEqual(warnings, report.report.inputs[0].warnings);
  assert.equal(warnings.at(-1), '2 more traces were only partly read.');
  await close();
});

test('the colours of collectives have a legend', async () => {
  const { page, close } = await open(small());
  const lanes = page.locator('.panel', { hasText: 'Collectives of the ranks' }).first();
  const names = small().report.tables.groups.rows.map(({ group, desc }) => `group ${group} \u00b7 ${desc}`);
  const used = new Set(small().report.tables.job_collectives.rows.map(({ group }) => group));
  const items = await lanes.locator('.account-legend li').allTextContents();
  assert.deepEqual(
    items.slice(0, -3),
    names.filter((_, place) => used.has(place)),
  );
  assert.deepEqual(items.slice(-3), ['pale: waiting for the last rank', 'full: transfer', 'red: the last rank']);
  const drawn = await lanes.locator('.rank-box').evaluateAll((all) => all.map((box) => box.getAttribute('fill')));
  const legend = await lanes
    .locator('.account-swatch')
    .evaluateAll((all) => all.map((swatch) => swatch.style.getPropertyValue('--color')));
  for (const colour of new Set(drawn)) assert.ok(legend.includes(colour), colour);
  await close();
});

const lanesOf = (page) => page.locator('.panel', { hasText: 'Collectives of the ranks' }).first();
const thousands = (count) => count.toLocaleString('en-US');

/** How many boxes the picture has in each row, once all are drawn. */
async function boxesOf(page, expected) {
  await page.waitForFunction((count) => document.querySelectorAll('.rank-box').length === count, expected);
  return lanesOf(page)
    .locator('.rank-box')
    .evaluateAll((boxes) => {
      const counts = {};
      const names = new Map(
        [...document.querySelectorAll('.rank-name')].map((name) => [+name.getAttribute('y'), name]),
      );
      for (const box of boxes) {
        const rank = names.get(+box.getAttribute('y') + 13).textContent.replace('rank ', '');
        counts[rank] = (counts[rank] ?? 0) + 1;
      }
      return counts;
    });
}

/** Boxes by rank that the picture of a step needs. */
function neededBoxes({ report }, step) {
  const own = new Set(report.tables.job_collectives.rows.filter((row) => row.step === step).map(({ id }) => id));
  const counts = {};
  for (const { id, rank } of report.tables.collective_ranks.rows)
    if (own.has(id)) counts[rank] = (counts[rank] ?? 0) + 1;
  return { collectives: own.size, counts };
}

/** The step in which a rank is charged with most. */
function worstStep({ report }, rank) {
  const rows = report.tables.rank_steps.rows.filter((row) => row.rank === rank);
  return rows.reduce((worst, row) => (row.charged_ns > worst.charged_ns ? row : worst)).step;
}

test('the picture of collectives has every rank of every step', async () => {
  const report = two();
  assert.ok(report.report.tables.collective_ranks.rows.length > 2000, 'more than a page has of other tables');
  const { page, close } = await open(report);
  const lanes = lanesOf(page);
  const words = lanes.locator('.counter');
  assert.match(
    await lanes.locator('.origin').textContent(),
    /^Steps 1\u20136 of 6; 1,974 of 1,974 collectives\. Boxes /,
  );
  const worst = worstStep(report, report.report.inputs[0].facts.verdict_rank);
  assert.ok((await words.textContent()).startsWith(`Step ${worst}: `), 'the worst step is the first to be seen');
  for (let step = worst; step > 1; step--) await lanes.getByLabel('Step before').click();
  for (let step = 1; step <= 6; step++) {
    const { collectives, counts } = neededBoxes(report, step);
    assert.ok((await words.textContent()).startsWith(`Step ${step}: ${collectives} of ${collectives} collectives, `));
    assert.deepEqual(await boxesOf(page, sum(Object.values(counts))), counts);
    assert.equal(await lanes.locator('.rank-collective').count(), collectives);
    await lanes.getByLabel('Next step').click();
  }
  await shoot(lanes, 'ranks-collectives');
  const box = lanes.locator('.rank-box').first();
  await box.hover();
  assert.match(await box.locator('title').textContent(), /^\w+ of group \d+ on rank \d+\n.* waiting\nlast: rank \d+$/);
  assert.equal(await page.locator('#table-drawn_ranks, #table-drawn_steps').count(), 0);
  await close();
});

test('a picture without room for all steps has the worst ones whole, and says so', async () => {
  const report = many();
  const [{ facts }] = report.report.inputs;
  const { page, close } = await open(report);
  const lanes = lanesOf(page);
  const worst = worstStep(report, 77);
  const { collectives, counts } = neededBoxes(report, worst);
  assert.equal(collectives, 273);
  assert.ok((await lanes.locator('.counter').textContent()).startsWith(`Step ${worst}: 273 of 273 collectives, `));
  assert.deepEqual(await boxesOf(page, sum(Object.values(counts))), counts);
  const here = Math.floor(30_000 / sum(Object.values(counts)));
  const said = await lanes.locator('.origin').textContent();
  const [, spans, drawn] =
    /^Steps ([\d, \u2013]+) of 12; ([\d,]+) of 3,276 collectives\. The page has room for the worst steps; /.exec(
      said,
    ) ?? assert.fail(said);
  const steps = sum(
    spans.split(', ').map((span) => {
      const [first, last = first] = span.split('\u2013').map(Number);
      return last - first + 1;
    }),
  );
  assert.equal(facts.collectives, 3276);
  assert.deepEqual([steps, drawn], [here, thousands(here * 273)]);
  await close();
});

/** The same page with fewer ranks in collectives, as where many jobs share the room. */
function crowd({ path }, rows) {
  const html = readFileSync(path, 'utf8');
  const [whole, start, json] = /(<script type="application\/json" id="report">)(.*?)<\/script>/s.exec(html);
  const report = JSON.parse(json);
  report.tables.drawn_ranks.rows.length = rows;
  const crowded = join(folder, `crowd-${rows}.html`);
  writeFileSync(
    crowded,
    html.replace(whole, () => `${start}${JSON.stringify(report)}</script>`),
  );
  return { path: crowded };
}

test('of several jobs in one page each has whole steps, or says what it has of one', async () => {
  const worst = worstStep(two(), 9);
  const boxes = sum(Object.values(neededBoxes(two(), worst).counts));
  for (const [rows, words] of [
    [boxes + 100, /^329 of 1,974 collectives\. The page has room for the worst steps; /],
    [
      boxes - 100,
      /^(?!329)\d+ of 1,974 collectives\. Of step \d those of rank 9 and those with the longest waits are /,
    ],
  ]) {
    const { page, close } = await open(crowd(two(), rows));
    const [start, said] = (await lanesOf(page).locator('.origin').textContent()).split('; ', 2);
    assert.equal(start, `Step ${worst} of 6`);
    assert.match(`${said}; `, words);
    await lanesOf(page).getByLabel('Next step').click();
    assert.ok((await lanesOf(page).locator('.counter').textContent()).startsWith(`Step ${worst}: `));
    await close();
  }
});

test('a step that has no room has the collectives of the culprit, and says how many are not there', async () => {
  const sizes = ['--layers', '30', '--micro-batches', '20', '--kernels', '1', '--steps', '4', '--gzip'];
  const report = jobPage(
    'ranks-dense',
    '--ranks',
    '16',
    '--tp',
    '2',
    '--dp',
    '8',
    ...sizes,
    '--straggler',
    '5:slower:1.5',
  );
  const worst = worstStep(report, 5);
  const { collectives, counts } = neededBoxes(report, worst);
  assert.ok(sum(Object.values(counts)) > 30_000);
  const { page, close } = await open(report);
  const lanes = lanesOf(page);
  const words = await lanes.locator('.counter').textContent();
  const [, drawn] = new RegExp(`^Step ${worst}: ([\\d,]+) of ${thousands(collectives)} collectives, `).exec(words);
  const said = await lanes.locator('.origin').textContent();
  const all = thousands(report.report.inputs[0].facts.collectives);
  assert.ok(said.startsWith(`Step ${worst} of 4; ${drawn} of ${all} collectives. `), said);
  assert.ok(said.includes(`Of step ${worst} those of rank 5 and those with the longest waits are here.`), said);
  await page.waitForFunction(
    (count) => document.querySelectorAll('.rank-collective').length === count,
    Number(drawn.replaceAll(',', '')),
  );
  const boxes = await boxesOf(page, await lanes.locator('.rank-box').count());
  assert.equal(boxes[5], counts[5], 'all of the culprit');
  assert.ok(sum(Object.values(boxes)) > 29_900);
  await close();
});

test('no cell of a page of ranks has more decimals than anybody reads', async () => {
  for (const report of [two(), experts()]) {
    const { page, close } = await open(report);
    await page
      .getByRole('button', { name: /^\+\d+ columns?$/ })
      .evaluateAll((all) => all.forEach((more) => more.click()));
    const cells = await page.locator('td').allTextContents();
    assert.ok(cells.length > 200, `${cells.length} cells`);
    assert.deepEqual(
      cells.filter((text) => /\d\.\d{7,}/.test(text)),
      [],
    );
    await close();
  }
  const { page, close } = await open(two());
  const shown = (table, key) =>
    page.evaluate(
      ([name, column]) => {
        const place = [...document.querySelectorAll(`#${name} th`)].findIndex((head) =>
          head.querySelector(`[data-column="${column}"]`),
        );
        return [...document.querySelectorAll(`#${name} tbody tr`)].map((row) => row.children[place].textContent);
      },
      [table, key],
    );
  const { groups, group_speeds: speeds } = two().report.tables;
  const short = (value) => (value === null ? '\u2013' : value < 0.0005 ? '<0.001' : value.toFixed(3));
  assert.deepEqual(
    await shown('table-groups', 'busbw_p50_gbs'),
    groups.rows.map((row) => short(row.busbw_p50_gbs)),
  );
  assert.deepEqual(
    await shown('table-group_speeds', 'busbw_gbs'),
    speeds.rows.map((row) => short(row.busbw_gbs)),
  );
  const cut = await page
    .locator('#table-groups .port')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  assert.ok(cut <= 0, `${cut} px are cut off`);
  await close();
});

test('steps of ranks are bars on aligned clocks, made of their parts', async () => {
  const report = small();
  const { rows } = report.report.tables.rank_steps;
  for (const [colorScheme, width] of LOOKS) {
    const { page, close, section, cells } = await openSection(report, STEPS, { colorScheme, width });
    await shoot(section, `ranks-${colorScheme}-${width}`);
    assert.match(await cells.first().getAttribute('aria-label'), /^Steps of ranks over time\. 4 ranks, 6 steps of /);
    const pixels = await colours(page, STEPS, 0);
    const drawn = sum(Object.values(PARTS).map((colour) => pixels[colour] ?? 0));
    const whole = sum(Object.keys(PARTS).map((key) => sumOf(rows, key)));
    if (width === 1280)
      for (const [key, colour] of Object.entries(PARTS)) {
        const [seen, expected] = [(pixels[colour] ?? 0) / drawn, sumOf(rows, key) / whole];
        assert.ok(Math.abs(seen - expected) < 0.04, `${key}: ${seen} for ${expected}`);
      }
    await close();
  }
});

test('a bar of a step says what the table has', async () => {
  const report = small();
  const { rows } = report.report.tables.rank_steps;
  const { page, close, cells } = await openSection(report, STEPS);
  const said = await readCells(page, cells.first(), 4, 6);
  assert.equal(new Set(said).size, 24);
  for (const text of said) {
    const [, rank, step, length, start, parts] =
      /^rank (\d+) \u00b7 step (\d+), ([^,]+), from ([^,]+), (.*)$/.exec(text) ?? assert.fail(text);
    const row = rows.find((each) => each.rank === Number(rank) && each.step === Number(step));
    assertNear(length, row.step_ns, text);
    assertNear(start, row.aligned_start_ns, text);
    const values = Object.fromEntries(parts.split(', ').map((part) => part.split(': ')));
    assertNear(values['exposed wait'].replace(/ \(.*/, ''), row.exposed_wait_ns, text);
    assertNear(values.compute.replace(/ \(.*/, ''), row.compute_ns, text);
  }
  await close();
});

test('shades show what ranks are charged with, their excess, or their wait', async () => {
  const report = small();
  const { rows } = report.report.tables.rank_steps;
  const { page, close, section, cells } = await openSection(report, STEPS);
  const heat = cells.nth(1);
  const said = await readCells(page, heat, 4, 6);
  assert.equal(new Set(said).size, 24);
  for (const text of said) {
    const [, rank, step, charged, excess, wait] =
      /^rank (\d+) \u00b7 step (\d+), Charged: (.*), Over median: (.*), Exposed wait: (.*), own time: .*$/.exec(text) ??
      assert.fail(text);
    const row = rows.find((each) => each.rank === Number(rank) && each.step === Number(step));
    assertNear(charged, row.charged_ns, text);
    assertNear(excess, row.excess_ns, text);
    assertNear(wait, row.exposed_wait_ns, text);
  }
  const most = rows.reduce((best, row) => (row.charged_ns > best.charged_ns ? row : best));
  assert.match(
    await heat.getAttribute('aria-label'),
    new RegExp(`^Ranks by step\\. Charged: most rank ${most.rank} in step ${most.step}: `),
  );
  const strongest = '#b3332b';
  assert.ok((await colours(page, STEPS, 1))[strongest] > 100, 'the largest value has the strongest shade');
  const choice = (name) => section.getByRole('button', { name, exact: true });
  assert.equal(await choice('Charged').getAttribute('aria-pressed'), 'true');
  const texts = await textsDuring(page, () => choice('Exposed wait').click());
  assert.equal(await choice('Charged').getAttribute('aria-pressed'), 'false');
  const values = texts.filter((text) => /^[\d.,]+ (ns|\u00b5s|ms)$/.test(text)).slice(-24);
  rows.sort((a, b) => a.rank - b.rank || a.step - b.step);
  values.sort((a, b) => nsOf(a) - nsOf(b));
  const waits = rows.map((row) => row.exposed_wait_ns).sort((a, b) => a - b);
  waits.forEach((wait, place) => assertNear(values[place], wait, `wait ${place}`));
  await choice('Over median').click();
  assert.ok((await colours(page, STEPS, 1))['#b3332b'] > 0);
  assert.match(await section.locator('.cells-legend').nth(1).textContent(), /^\u2212/, 'a difference has two sides');
  await shoot(section, 'ranks-excess');
  await close();
});

test('many ranks are joined to blocks, which open', async () => {
  const report = many();
  const { rows } = report.report.tables.rank_steps;
  assert.equal(rows.length, 256 * 12);
  const { page, close, section, cells } = await openSection(report, STEPS);
  await shoot(section, 'ranks-many');
  const heat = cells.nth(1);
  const note = section.locator('.chart-note').nth(1);
  assert.equal(await note.textContent(), 'Each row is 2 ranks: the largest value is drawn.');
  const most = rows.reduce((best, row) => (row.charged_ns > best.charged_ns ? row : best));
  await heat.scrollIntoViewIfNeeded();
  const box = await heat.locator('canvas').boundingBox();
  const y = (Math.floor(most.rank / 2) + 0.5) * 4;
  const x = 60 + ((most.step - 0.5) / 12) * (box.width - 60);
  await heat.hover({ position: { x, y } });
  const tip = heat.locator('.timeline-tip p');
  assert.equal(await tip.first().textContent(), `rank ${most.rank} \u00b7 step ${most.step}`);
  assertNear((await tip.nth(1).textContent()).replace('Charged: ', ''), most.charged_ns, 'charged');
  const pair = most.rank - (most.rank % 2);
  assert.equal(await tip.last().textContent(), `most charged of ranks ${pair}\u2013${pair + 1}; click to open`);
  const texts = await textsDuring(page, () => heat.click({ position: { x, y } }));
  for (const rank of [pair, pair + 1]) assert.ok(texts.includes(String(rank)), `rank ${rank} has a row`);
  assert.equal(await note.textContent(), '');
  await section.getByRole('button', { name: 'Show all' }).click();
  assert.match(await note.textContent(), /^Each row is 2 ranks: /);
  await heat.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  assert.equal(await note.textContent(), '');
  await page.keyboard.press('Escape');
  assert.match(await note.textContent(), /^Each row is 2 ranks: /);
  await close();
});

/** The page of a small job with the steps of a large one in it. */
function enlarge({ path }, ranks, steps) {
  const html = readFileSync(path, 'utf8');
  const [whole, start, json] = /(<script type="application\/json" id="report">)(.*?)<\/script>/s.exec(html);
  const report = JSON.parse(json);
  const table = report.tables.rank_steps;
  const keys = table.columns.map(({ key }) => key);
  table.rows = [];
  table.total_rows = 200_000;
  for (let step = 0; step < steps; step++)
    for (let rank = 0; rank < ranks; rank++) {
      const waits = 1e6 * ((rank * 7 + step * 3) % 5);
      const row = { step, rank, step_ns: 1e7, aligned_start_ns: 1.1e7 * step, own_ns: 5e6, exposed_wait_ns: waits };
      row.compute_ns = row.own_ns;
      row.exposed_transfer_ns = row.step_ns - row.own_ns - waits;
      row.charged_ns = rank === 700 && step === 50 ? 9e8 : waits;
      table.rows.push(keys.map((key) => row[key] ?? 0));
    }
  const large = join(folder, 'large.html');
  writeFileSync(
    large,
    html.replace(whole, () => `${start}${JSON.stringify(report)}</script>`),
  );
  return { path: large };
}

test('100,000 steps of ranks leave the page usable', async () => {
  const { page, close, section, cells } = await openSection(enlarge(small(), 1024, 97), STEPS);
  await shoot(section, 'ranks-large');
  assert.match(await section.locator('.counter').textContent(), /^99,328 rows; the trace has 200,000$/);
  const cut = 'The page has the first 99,328 of 200,000 steps of ranks.';
  for (const place of [0, 1]) assert.ok((await section.locator('.chart-note').nth(place).textContent()).endsWith(cut));
  const heat = cells.nth(1);
  assert.match(await heat.getAttribute('aria-label'), /Charged: most rank 700 in step 50: 900\.0 ms/);
  await heat.scrollIntoViewIfNeeded();
  const box = await heat.locator('canvas').boundingBox();
  const seconds = await workOf(page, async () => {
    await heat.hover({ position: { x: 72 + (50.5 / 97) * (box.width - 72), y: (Math.floor(700 / 8) + 0.5) * 4 } });
    assert.equal(await heat.locator('.timeline-tip p').first().textContent(), 'rank 700 \u00b7 step 50');
  });
  assert.ok(seconds < 3, `${seconds} s`);
  await close();
});

test('Ctrl and the wheel look closer at steps; a double click shows all', async () => {
  const { page, close, cells } = await openSection(small(), STEPS);
  const heat = cells.nth(1);
  await heat.scrollIntoViewIfNeeded();
  await heat.hover({ position: { x: 300, y: 20 } });
  const steps = (texts) => new Set(texts.filter((text) => /^[1-6]$/.test(text)));
  const zoomed = await textsDuring(page, async () => {
    await page.keyboard.down('Control');
    for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
  });
  assert.ok(zoomed.length > 0);
  const last = await textsDuring(page, () => heat.hover({ position: { x: 500, y: 60 } }));
  assert.ok(steps(last.filter((text) => !['0', '1', '2', '3'].includes(text))).size < 3);
  const all = await textsDuring(page, () => heat.dblclick({ position: { x: 400, y: 60 } }));
  for (const step of ['4', '5', '6']) assert.ok(all.includes(step), `step ${step}`);
  await close();
});

test('bytes of all_to_alls are a matrix', async () => {
  const report = experts();
  const { rows } = report.report.tables.all_to_all;
  const { page, close, cells, section } = await openSection(report, FLOWS);
  await shoot(section, 'ranks-all-to-all');
  const ranks = [...new Set(rows.map((row) => row.dst))];
  const received = (rank) =>
    sumOf(
      rows.filter((row) => row.dst === rank),
      'bytes',
    );
  const hot = ranks.reduce((best, rank) => (received(rank) > received(best) ? rank : best));
  assert.match(
    await cells.getAttribute('aria-label'),
    new RegExp(`^Bytes of all_to_alls, from rank to rank\\. ${ranks.length} ranks send; rank ${hot} receives most`),
  );
  await cells.focus();
  await page.keyboard.press('ArrowRight');
  const spoken = section.locator('p[aria-live]');
  const text = await spoken.textContent();
  const first = rows.find((row) => row.src === 0 && row.dst === 0);
  assert.match(
    text,
    new RegExp(`^from rank 0 \\u00b7 to rank 0, Bytes: [\\d.]+ [kMG]B, in ${first.count} all_to_alls, `),
  );
  await page.keyboard.press('ArrowRight');
  assert.match(await spoken.textContent(), /^from rank 0 \u00b7 to rank 1, /);
  await close();
});

test('bandwidth of collectives is drawn by size, against a link that is given', async () => {
  const report = makePage('ranks-named', 'ranks', writeNamedJob('tp'));
  const { rows } = report.report.tables.job_collectives;
  assert.equal(rows.length, 3);
  for (const colorScheme of ['light', 'dark']) {
    const { page, close, section } = await openSection(report, COLLECTIVES, { colorScheme });
    const canvas = section.locator('.canvas');
    const fastest = rows.reduce((best, row) => (row.busbw_gbs > best.busbw_gbs ? row : best));
    const label = await canvas.getAttribute('aria-label');
    assert.match(
      label,
      /^Bus bandwidth of collectives by size\. 3 collectives; medians: group 0 \u00b7 tp \u00b7 ranks 0,1 /,
    );
    assert.ok(label.includes(`up to ${fastest.busbw_gbs.toFixed(2)} GB/s at `), label);
    const texts = await textsDuring(page, () => section.locator('input[type=number]').fill('20'));
    assert.ok(texts.includes('link'));
    await shoot(section, `ranks-bandwidth-${colorScheme}`);
    const share = Math.round((100 * fastest.busbw_gbs) / 20);
    assert.ok((await canvas.getAttribute('aria-label')).includes(`, ${share}% of the link`));
    const without = await textsDuring(page, () => section.locator('input[type=number]').fill(''));
    assert.ok(!without.includes('link'));
    await close();
  }
});

test('names of groups stay text', async () => {
  const report = makePage('ranks-hostile', 'ranks', writeNamedJob(HOSTILE));
  for (const section of [STEPS, COLLECTIVES]) {
    const { page, close, section: root } = await openSection(report, section);
    assert.equal(await page.locator('img, svg[onload], iframe').count(), 0);
    const canvas = root.locator('.canvas, .cells').first();
    await canvas.hover({ position: { x: 200, y: 60 } });
    assert.ok(!/[\u202e]/.test(await root.locator('figure').first().textContent()));
    if (section === COLLECTIVES) {
      const texts = await textsDuring(page, () => root.locator('input[type=number]').fill('3'));
      assert.ok(!texts.some((text) => /[{}\u202e]/.test(text)), texts.join('\n'));
    }
    await close();
  }
});

test('ranks with nothing in common have clocks of their own', async () => {
  const report = makePage('ranks-apart', 'ranks', writeNamedJob(null, 'apart-job'));
  const { close, section } = await openSection(report, STEPS);
  const note = await section.locator('.chart-note').first().textContent();
  assert.ok(note.includes('The clocks of 2 groups of ranks are not connected: each begins at 0.'), note);
  const starts = report.report.tables.rank_steps.rows
    .filter((row) => row.step === 0)
    .map((row) => row.aligned_start_ns);
  assert.deepEqual(starts, [0, 0]);
  await close();
});

test('tables without rows or with one rank have no broken charts', async () => {
  const job = makeJob('ranks-one-job', '--ranks', '2', '--steps', '2');
  const report = makePage('ranks-one', 'ranks', join(job, 'rank0000.json'));
  const { page, close } = await open(report);
  for (const section of [FLOWS, COLLECTIVES]) assert.equal(await page.locator(`#${section} figure`).count(), 0);
  const cells = page.locator(`#${STEPS} .cells`);
  assert.equal(await cells.count(), 2);
  await showChart(page, cells.first());
  await close();
});
