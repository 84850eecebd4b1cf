// Ranks over one time axis: each step of a rank is a bar of its parts, where the aligned clocks say that it was.

import type { Cells } from '../cells/blocks';
import { hasColumns, reader, type Report, type Table } from '../data';
import { percent, withUnit } from '../format';
import { colorOf } from '../theme';
import { cutNote, rankCells, valuesOf } from './rank-cells';

const PARTS = [
  ['compute', 'compute_ns', colorOf('compute')],
  ['exposed transfer', 'exposed_transfer_ns', colorOf('comm')],
  ['exposed wait', 'exposed_wait_ns', colorOf('launch')],
  ['exposed memory', 'exposed_memory_ns', colorOf('exposed memory')],
  ['idle', 'idle_ns', colorOf('idle')],
] as const;

const ORDER = 'Parts of a step are drawn in this order, not in order of time.';

/** Clocks of ranks that have nothing in common cannot be compared: each part of the job begins at 0. */
function clockNote(clocks: Table | undefined): string | undefined {
  if (!clocks) return undefined;
  const trees = new Set(clocks.rows.map(reader(clocks, 'reference'))).size;
  return trees > 1 ? `The clocks of ${trees} groups of ranks are not connected: each begins at 0.` : undefined;
}

export function rankTimeCells(table: Table, report: Report): Cells | null {
  const keys = PARTS.map(([, key]) => key);
  if (!hasColumns(table, 'rank', 'step', 'step_ns', 'aligned_start_ns', 'own_ns', ...keys)) return null;
  const cells = rankCells(table, 'rank', 'step');
  if (cells.rows.length === 0) return null;
  const parts = PARTS.map(([name, key, color]) => ({ name, color, values: valuesOf(cells, table, key) }));
  const sums = parts.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const whole = sums.reduce((sum, value) => sum + value, 0);
  const said = parts.map(({ name }, p) => `${name} ${percent(whole ? sums[p]! / whole : 0)}`);
  const mean = whole / cells.rows.length;
  return {
    title: 'Steps of ranks over time',
    summary: `${cells.rowNames.length} ranks, ${cells.columnNames.length} steps of ${withUnit(mean, 'ns')} on average: ${said.join(', ')}`,
    note: [ORDER, clockNote(report.tables['clocks']), cutNote(table, 'steps of ranks')].filter(Boolean).join(' '),
    rowWord: 'rank',
    columnWord: 'step',
    ...cells,
    measures: [{ name: 'own time', unit: 'ns', values: valuesOf(cells, table, 'own_ns') }],
    bars: {
      start: valuesOf(cells, table, 'aligned_start_ns'),
      length: valuesOf(cells, table, 'step_ns'),
      parts: parts.filter((_, p) => sums[p]! > 0),
    },
  };
}
