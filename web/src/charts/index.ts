// Which tables have a chart. A table that is not listed is shown as a table.

import type { Chart } from '../chart';
import type { Table } from '../data';
import { accountingChart } from './accounting';
import { categoryChart } from './categories';

export const charts: Readonly<Record<string, (table: Table) => Chart | null>> = {
  accounting: accountingChart,
  categories: (table) => categoryChart('GPU time by category', table, 'input', 'wall_ns'),
  graph: (table) => categoryChart('GPU time of the runs', table, 'label', 'elapsed_ns'),
};
