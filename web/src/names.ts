// Names of kernels: of a C++ signature the function's own name matters most.

import type { Report } from './data';
import { element } from './dom';

const SIGNATURE = /^((?:[\w:]+ )?(?:(?:\(anonymous namespace\)|<unnamed>|\w+)::)*)(\w+)([<(].*)$/s;

/** A name that gives up its scope and its arguments first where room is short. */
export function nameView(name: string): HTMLElement {
  const parts = SIGNATURE.exec(name);
  if (!parts) return element('bdi', {}, name);
  const [, scope = '', own = '', rest = ''] = parts;
  return element(
    'bdi',
    { class: 'signature' },
    scope && element('span', { class: 'scope' }, scope),
    element('span', { class: 'own' }, own),
    element('span', { class: 'arguments' }, rest),
  );
}

/** Simplified names by full name, where the report tells them. */
export function shortNames(report: Report): (name: string) => string {
  const kernels = report.tables['kernels'];
  const name = kernels?.columns.findIndex((column) => column.key === 'name') ?? -1;
  const short = kernels?.columns.findIndex((column) => column.key === 'short_name') ?? -1;
  const known = new Map(kernels?.rows.map((row) => [row[name], row[short]]));
  return (full) => String(known.get(full) ?? SIGNATURE.exec(full)?.[2] ?? full);
}
