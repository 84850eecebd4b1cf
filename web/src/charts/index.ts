// Which tables have a chart. A table that is not listed is shown as a table.

import type { Report, Table } from '../data';
import { chartView, type Chart } from '../chart';
import { cellsView } from '../cells/view';
import type { Cells } from '../cells/blocks';
import { element, visible } from '../dom';
import { jobsOf } from '../jobs';
import { accountingChart } from './accounting';
import { allToAllCells } from './all-to-all';
import { bandwidthChart } from './bandwidth';
import { categoryChart } from './categories';
import { causesChart } from './causes';
import { histogramChart } from './histogram';
import { icicleView } from './icicle';
import { memoryChart } from './memory';
import { namesChart } from './names';
import { pathChart } from './path';
import { queueChart } from './queue';
import { rankHeatCells } from './rank-heat';
import { rankTimeCells } from './rank-time';
import { rooflineChart } from './roofline';
import { stepsChart } from './steps';
import { waterfallChart } from './waterfall';

type Maker<T> = (table: Table, report: Report) => T | null;

function drawn(make: Maker<Chart>): Maker<HTMLElement> {
  return (table, report) => {
    const chart = make(table, report);
    return chart && chartView(chart);
  };
}

/** One drawing of cells after the other, of those that the table has. */
function inCells(...makers: readonly Maker<Cells>[]): Maker<HTMLElement> {
  return (table, report) => {
    const made = makers.map((make) => make(table, report)).filter((cells): cells is Cells => cells !== null);
    return made.length > 0 ? element('div', { class: 'charts' }, ...made.map(cellsView)) : null;
  };
}

/** A drawing of each job, of those that have rows of the table. */
function byJob(key: string, make: Maker<HTMLElement>): Maker<HTMLElement> {
  return (table, report) => {
    const made = jobsOf(report).map(({ name, report: own }) => {
      const rows = name === null ? table : own.tables[key];
      const drawing = rows && rows.rows.length > 0 ? make(rows, own) : null;
      return drawing && name !== null ? element('div', {}, element('h3', {}, visible(name)), drawing) : drawing;
    });
    const shown = made.filter((drawing): drawing is HTMLElement => drawing !== null);
    return shown.length > 1 ? element('div', { class: 'charts' }, ...shown) : (shown[0] ?? null);
  };
}

/** Bars of the largest rows, by the column that names them. */
function named(title: string, name: string, value: string): Maker<HTMLElement> {
  return drawn((table, report) => namesChart(title, table, report, name, value));
}

export const charts: Readonly<Record<string, Maker<HTMLElement>>> = {
  accounting: drawn(accountingChart),
  all_to_all: byJob('all_to_all', inCells(allToAllCells)),
  categories: drawn((table) => categoryChart('GPU time by category', table, 'input', 'wall_ns')),
  class_stats: named('Kernel time per iteration by class', 'class', 'time_per_iter_ns'),
  graph: drawn((table) => categoryChart('Elapsed time by category', table, 'input', 'elapsed_ns')),
  histogram: drawn(histogramChart),
  idle_causes: drawn(causesChart),
  job_collectives: byJob(
    'job_collectives',
    drawn((table, report) => bandwidthChart(table, report)),
  ),
  kernel_launches: drawn((table, report) => queueChart('Queue time by kernel', table, report)),
  kernels: named('Kernels by total time', 'name', 'total_ns'),
  launches: drawn((table, report) => queueChart('Queue time by launch call', table, report)),
  memory_timeline: drawn(memoryChart),
  path_kinds: drawn((_, report) => pathChart(report.tables.path_windows)),
  phases: named('GPU time by phase', 'phase', 'exclusive_ns'),
  range_tree: icicleView,
  rank_steps: byJob('rank_steps', inCells(rankTimeCells, rankHeatCells)),
  ranges: named('Ranges by exclusive GPU time', 'name', 'exclusive_ns'),
  roofline: drawn(rooflineChart),
  steps: drawn(stepsChart),
  waterfall: drawn(waterfallChart),
};
