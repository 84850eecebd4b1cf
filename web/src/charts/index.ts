// Which tables have a chart. A table that is not listed is shown as a table.

import type { Report, Table } from '../data';
import { chartView, type Chart } from '../chart';
import { accountingChart } from './accounting';
import { categoryChart } from './categories';
import { causesChart } from './causes';
import { histogramChart } from './histogram';
import { icicleView } from './icicle';
import { namesChart } from './names';
import { pathChart } from './path';
import { queueChart } from './queue';
import { stepsChart } from './steps';

type Maker<T> = (table: Table, report: Report) => T | null;

function drawn(make: Maker<Chart>): Maker<HTMLElement> {
  return (table, report) => {
    const chart = make(table, report);
    return chart && chartView(chart);
  };
}

/** Bars of the largest rows, by the column that names them. */
function named(title: string, name: string, value: string): Maker<HTMLElement> {
  return drawn((table, report) => namesChart(title, table, report, name, value));
}

export const charts: Readonly<Record<string, Maker<HTMLElement>>> = {
  accounting: drawn(accountingChart),
  categories: drawn((table) => categoryChart('GPU time by category', table, 'input', 'wall_ns')),
  class_stats: named('Kernel time per iteration by class', 'class', 'time_per_iter_ns'),
  graph: drawn((table) => categoryChart('Elapsed time by category', table, 'input', 'elapsed_ns')),
  histogram: drawn(histogramChart),
  idle_causes: drawn(causesChart),
  kernel_launches: drawn((table, report) => queueChart('Queue time by kernel', table, report)),
  kernels: named('Kernels by total time', 'name', 'total_ns'),
  launches: drawn((table, report) => queueChart('Queue time by launch call', table, report)),
  path_kinds: drawn((_, report) => pathChart(report.tables.path_windows)),
  phases: named('GPU time by phase', 'phase', 'exclusive_ns'),
  range_tree: icicleView,
  ranges: named('Ranges by exclusive GPU time', 'name', 'exclusive_ns'),
  steps: drawn(stepsChart),
};
