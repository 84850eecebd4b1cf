// What the page says of its numbers comes from docs/measures.md.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { paragraphsAbout, readDefinitions } from '../../web/definitions.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const definitions = readDefinitions(readFileSync(join(ROOT, 'docs/measures.md'), 'utf8'));

test('columns, borrowed columns and paragraphs are found', () => {
  const read = readDefinitions(`# Title

## \`first\`: one row for each

Prose with \`code\` and *stress*.

| column | unit | formula |
|---|---|---|
| \`a\`, \`b\` (data) | ns | \\|all ops\\| |

More
prose. \`third\` has the rest.

## Something else

Nothing.
### \`second\`: other rows

\`a\` and \`b\` as in \`first\`.
`);
  const columns = { a: '|all ops|', b: '|all ops|' };
  assert.deepEqual(read, {
    first: { about: ['Prose with code and stress.', 'More prose. third has the rest.'], columns },
    second: { about: ['a and b as in first.'], columns },
  });
  assert.deepEqual(paragraphsAbout(read, 'third'), ['More prose. third has the rest.']);
});

test('every table of every analysis is explained', () => {
  const list = execFileSync(join(ROOT, process.env.GPUTIME ?? 'build/gputime'), [
    'list',
    'analyses',
    '--format',
    'json',
  ]);
  const tables = JSON.parse(list)
    .tables.analyses.rows.flatMap((row) => row.detail.split(','))
    .filter(Boolean);
  const unknown = tables.filter(
    (table) => table !== 'findings' && !definitions[table] && paragraphsAbout(definitions, table).length === 0,
  );
  assert.deepEqual(unknown, []);
});
