// Who sends how much to whom in all_to_alls: a row for each sender, a column for each receiver.

import type { Cells } from '../cells/blocks';
import { hasColumns, type Table } from '../data';
import { decimal, withUnit } from '../format';
import { cutNote, rankCells, valuesOf, type RankCells } from './rank-cells';

function sums(places: Int32Array, count: number, values: Float64Array): Float64Array {
  const made = new Float64Array(count);
  places.forEach((place, cell) => (made[place]! += values[cell]!));
  return made;
}

/** Pairs that several groups have are one cell. */
function joined(cells: RankCells, values: readonly Float64Array[]): [RankCells, Float64Array[]] {
  const first = new Map<number, number>();
  const kept: number[] = [];
  const added = values.map(() => [] as number[]);
  cells.row.forEach((row, cell) => {
    const key = row * cells.columnNames.length + cells.column[cell]!;
    const place = first.get(key) ?? kept.length;
    if (place === kept.length) {
      first.set(key, place);
      kept.push(cell);
      for (const each of added) each.push(0);
    }
    values.forEach((each, v) => (added[v]![place]! += each[cell]!));
  });
  const pick = (from: Int32Array): Int32Array => Int32Array.from(kept, (cell) => from[cell]!);
  const rows = kept.map((cell) => cells.rows[cell]!);
  return [
    { ...cells, rows, row: pick(cells.row), column: pick(cells.column) },
    added.map((each) => Float64Array.from(each)),
  ];
}

export function allToAllCells(table: Table): Cells | null {
  if (!hasColumns(table, 'src', 'dst', 'count', 'bytes')) return null;
  const all = rankCells(table, 'src', 'dst');
  if (all.rows.length === 0) return null;
  const [cells, [bytes, counts]] = joined(all, [valuesOf(all, table, 'bytes'), valuesOf(all, table, 'count')]);
  const sent = sums(cells.row, cells.rowNames.length, bytes!);
  const received = sums(cells.column, cells.columnNames.length, bytes!);
  const mean = received.reduce((sum, value) => sum + value, 0) / received.length;
  const most = received.reduce((best, value, place) => (value > received[best]! ? place : best), 0);
  const times = (value: number): string => `${decimal(mean ? value / mean : 0, 2)} times the mean`;
  const note = cutNote(table, 'pairs of ranks');
  return {
    title: 'Bytes of all_to_alls, from rank to rank',
    summary: `${cells.rowNames.length} ranks send; rank ${cells.columnNames[most]} receives most, ${withUnit(received[most]!, 'bytes')}, ${times(received[most]!)}`,
    ...(note === undefined ? {} : { note }),
    rowWord: 'from rank',
    columnWord: 'to rank',
    ...cells,
    measures: [{ name: 'Bytes', unit: 'bytes', values: bytes! }],
    describe: (cell) => [
      `in ${withUnit(counts![cell]!, 'count')} all_to_alls`,
      `sent by rank ${cells.rowNames[cells.row[cell]!]} to all: ${withUnit(sent[cells.row[cell]!]!, 'bytes')}`,
      `received by rank ${cells.columnNames[cells.column[cell]!]} from all: ${withUnit(received[cells.column[cell]!]!, 'bytes')}, ${times(received[cells.column[cell]!]!)}`,
    ],
  };
}
