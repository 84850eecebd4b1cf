// Makes the page: build.mjs FOLDER bundles src/ into page.html and writes to FOLDER
//   page.html    the page, with marks where the program puts the definitions of the numbers and the report
//   modules.json the bytes that every module has in the bundle
//   notices.txt  the licences of the packages among them, which every page carries
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { noticesOf, packagesOf } from './notices.mjs';

const web = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) throw new Error('usage: node build.mjs FOLDER');

/** The text of the bundle, and the bytes that each module has in it. */
async function bundle(entry) {
  const result = await build({
    absWorkingDir: web,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: '.',
    format: 'iife',
    target: ['es2020', 'chrome100', 'firefox100', 'safari15'],
    legalComments: 'none', // notices.txt has them all
    logLevel: 'warning',
  });
  const [output] = Object.values(result.metafile.outputs);
  const modules = Object.entries(output.inputs)
    .map(([path, { bytesInOutput }]) => [path, bytesInOutput])
    .filter(([, bytes]) => bytes > 0);
  return { text: result.outputFiles[0].text.trim(), modules };
}

function hash(text) {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

/** Fills the marks of a template, each of which is there once; those not named are left to the program. */
function fill(template, parts) {
  return template.replace(/\{\{(\w+)\}\}/g, (mark, name) => parts[name] ?? mark);
}

const script = await bundle('src/main.ts');
const style = await bundle('src/style.css');
const modules = [...script.modules, ...style.modules].sort(([a], [b]) => (a < b ? -1 : 1));
const notices = noticesOf(packagesOf(modules.map(([path]) => path)), join(web, 'node_modules'));

if (/<\/script|<!--/i.test(script.text) || /<\/style/i.test(style.text))
  throw new Error('the bundle would end its own element');
if (/--!?>|<!--|<\/?script/i.test(notices)) throw new Error('the notices would end their own comment');

// Only this very script and style run; nothing is fetched, framed or submitted (`gputime view` allows its own server).
const policy = [
  "default-src 'none'",
  `script-src ${hash(script.text)}`,
  `style-src ${hash(style.text)}`,
  'img-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const page = fill(readFileSync(join(web, 'page.html'), 'utf8'), {
  policy,
  notices: notices.trim(),
  style: style.text,
  script: script.text,
});
const marks = page.match(/\{\{\w+\}\}/g);
if (String(marks) !== '{{definitions}},{{report}}') throw new Error(`the page has the marks ${marks}`);

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'modules.json'), `${JSON.stringify(Object.fromEntries(modules), null, 1)}\n`);
writeFileSync(join(folder, 'notices.txt'), notices);
writeFileSync(join(folder, 'page.html'), page);
