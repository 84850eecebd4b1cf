// Makes the page: build.mjs FOLDER bundles src/ into page.html and writes FOLDER/head.html and FOLDER/tail.html, what
// stands before the report and what stands behind it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { readDefinitions } from './definitions.mjs';

const web = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) throw new Error('usage: node build.mjs FOLDER');

/** `import definitions from 'definitions'`: docs/measures.md as data. */
const definitions = {
  name: 'definitions',
  setup(builder) {
    builder.onResolve({ filter: /^definitions$/ }, () => ({ path: 'definitions', namespace: 'definitions' }));
    builder.onLoad({ filter: /.*/, namespace: 'definitions' }, () => ({
      contents: JSON.stringify(readDefinitions(readFileSync(join(web, '../docs/measures.md'), 'utf8'))),
      loader: 'json',
    }));
  },
};

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(web, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2020', 'chrome100', 'firefox100', 'safari15'],
    legalComments: 'none',
    plugins: [definitions],
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

function hash(text) {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

const script = await bundle('src/main.ts');
const style = await bundle('src/page.css');
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error('the bundle would end its own element');

// Only this very script and style run; nothing is fetched, framed or submitted.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  'img-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const [head, tail] = readFileSync(join(web, 'page.html'), 'utf8')
  .replace('{{policy}}', () => policy)
  .replace('{{style}}', () => style)
  .replace('{{script}}', () => script)
  .split('{{report}}');

mkdirSync(folder, { recursive: true });
// The head last: it is what make looks at.
for (const [name, text] of [
  ['tail.html', tail],
  ['head.html', head],
]) {
  writeFileSync(join(folder, `${name}.new`), text);
  renameSync(join(folder, `${name}.new`), join(folder, name));
}
