// The notices of packages: their NOTICE and LICENSE files, word for word.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LEGAL = /^(notice|licen[cs]e)(\.(txt|md))?$/i;
const OF_PARTS = 'licenses'; // a folder with the licences of parts that others wrote

/** The packages that these modules come from. */
export function packagesOf(modules) {
  const names = modules.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

/** Notices before licences. */
function legalFiles(folder) {
  const names = readdirSync(folder);
  const own = names
    .filter((name) => LEGAL.test(name))
    .sort()
    .reverse();
  const parts = names.includes(OF_PARTS) ? readdirSync(join(folder, OF_PARTS)).sort() : [];
  return [...own, ...parts.map((name) => `${OF_PARTS}/${name}`)];
}

function noticeOf(name, folder) {
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = legalFiles(folder);
  if (!license || !files.some((file) => /licen[cs]e/i.test(file))) throw new Error(`${name} has no licence file`);
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').replace(/\r\n/g, '\n').trimEnd());
  return `---- ${name} ${version} (${license}) ----\n\n${texts.join('\n\n')}\n`;
}

/** One text for all of these packages. */
export function noticesOf(names, modules) {
  const texts = names.map((name) => noticeOf(name, join(modules, name)));
  return `The page of gputime contains ${names.join(', ')}.\n\n${texts.join('\n')}`;
}
