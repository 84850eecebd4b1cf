// Rank by step, as shades: what each rank is charged with, how much longer than the median it took, what it waited.

import type { Cells } from '../cells/blocks';
import { columnIndex, hasColumns, type Table } from '../data';
import { withUnit } from '../format';
import { cutNote, rankCells, valuesOf, type RankCells } from './rank-cells';

const MEASURES = ['charged_ns', 'excess_ns', 'exposed_wait_ns'] as const;

function largest(cells: RankCells, values: Float64Array): string {
  let most = 0;
  for (let cell = 1; cell < values.length; cell++) if (values[cell]! > values[most]!) most = cell;
  const at = `rank ${cells.rowNames[cells.row[most]!]} in step ${cells.columnNames[cells.column[most]!]}`;
  return `${at}: ${withUnit(values[most]!, 'ns')}`;
}

export function rankHeatCells(table: Table): Cells | null {
  if (!hasColumns(table, 'rank', 'step', 'own_ns', ...MEASURES)) return null;
  const cells = rankCells(table, 'rank', 'step');
  if (cells.rows.length === 0) return null;
  const measures = MEASURES.map((key) => ({
    name: table.columns[columnIndex(table, key)]!.title,
    unit: 'ns' as const,
    isWide: true,
    isSigned: key === 'excess_ns',
    values: valuesOf(cells, table, key),
  }));
  const own = valuesOf(cells, table, 'own_ns');
  const note = cutNote(table, 'steps of ranks');
  return {
    title: 'Ranks by step',
    summary: measures.map(({ name, values }) => `${name}: most ${largest(cells, values)}`).join('; '),
    ...(note === undefined ? {} : { note }),
    rowWord: 'rank',
    columnWord: 'step',
    ...cells,
    measures,
    describe: (cell) => [`own time: ${withUnit(own[cell]!, 'ns')}`],
  };
}
