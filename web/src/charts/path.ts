// The critical path: what the time of each step, or of another window, was spent on.

import type { Chart } from '../chart';
import { hasColumns, numbers, reader, type Table } from '../data';
import { percent, withUnit } from '../format';
import { colorOf } from '../theme';
import { stackChart, type Stack } from './bars';
import { columnChart } from './columns';

/** As path_kinds has them. Colours are those of the parts and causes that mean the same. */
const KINDS = [
  ['kernel', colorOf('compute')],
  ['comm', colorOf('comm')],
  ['copy', colorOf('memcpy_h2d')],
  ['queue', colorOf('dependency')],
  ['launch', colorOf('launch')],
  ['cpu', colorOf('host')],
  ['call', colorOf('reduction')],
  ['sync', colorOf('loss')],
  ['unknown', colorOf('unknown')],
] as const;

const MOST_BARS = 12; // more windows are columns: steps over time
const MOST_COLUMNS = 600; // at once

interface Window extends Stack {
  readonly isStep: boolean;
}

function windowsOf(table: Table): Window[] {
  const input = reader(table, 'input');
  const pid = reader(table, 'pid');
  const name = reader(table, 'window');
  const kinds = KINDS.map(([kind]) => numbers(table, `${kind}_ns`));
  const [hasInputs, hasProcesses] = [input, pid].map((cell) => new Set(table.rows.map(cell)).size > 1);
  return table.rows.map((row) => {
    const words = [String(name(row))];
    if (hasProcesses) words.push(`process ${String(pid(row))}`);
    if (hasInputs) words.push(String(input(row)));
    return {
      name: words.join(' \u00b7 '),
      isStep: /^step -?\d+$/.test(words[0]!),
      values: kinds.map((value) => value(row)),
    };
  });
}

export function pathChart(table: Table | undefined): Chart | null {
  if (!table || !hasColumns(table, 'window', 'pid', ...KINDS.map(([kind]) => `${kind}_ns`))) return null;
  const all = windowsOf(table);
  const steps = all.filter((window) => window.isStep);
  const windows = steps.length > 0 ? steps : all; // a run is the sum of its steps
  if (windows.length === 0) return null;
  const used = KINDS.map((_, place) => place).filter((place) => windows.some(({ values }) => values[place]! > 0));
  const parts = used.map((place) => ({ name: KINDS[place]![0], color: KINDS[place]![1] }));
  const stacks = windows.map(({ name, values }) => ({ name, values: used.map((place) => values[place]!) }));
  const title = steps.length > 0 ? 'Critical path by step' : 'Critical path';
  if (windows.length <= MOST_BARS)
    return {
      ...stackChart(title, parts, stacks, { unit: 'ns' }),
      other: stackChart(`${title}, shares`, parts, stacks, { unit: 'ns', isShare: true }),
    };
  const sums = stacks.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const whole = sums.reduce((sum, value) => sum + value, 0);
  const places = windows.map(({ name }) => name.replace(/^step /, ''));
  const columns = (isShare: boolean): Chart =>
    columnChart(
      isShare ? `${title}, shares` : title,
      places,
      parts.map((part, p) => ({
        ...part,
        unit: isShare ? 'share' : 'ns',
        values: stacks.map(({ values }, s) => (isShare ? values[p]! / (sums[s] || 1) : values[p]!)),
      })),
      { stacked: true, axis: steps.length > 0 ? 'step' : 'window', ofColumn: !isShare, atOnce: MOST_COLUMNS },
    );
  const said = parts.map(({ name }, p) => {
    const sum = stacks.reduce((total, { values }) => total + values[p]!, 0);
    return `${name} ${withUnit(sum / windows.length, 'ns')} (${percent(whole ? sum / whole : 0)})`;
  });
  const summary = `${windows.length} ${steps.length > 0 ? 'steps' : 'windows'}, on average ${said.join(', ')}`;
  return { ...columns(false), summary, other: { ...columns(true), summary } };
}
