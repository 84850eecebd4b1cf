// Reports of several jobs: ranks of one are not those of another, so what is drawn of ranks is drawn of each job.

import { reader, type Report, type Table } from './data';

/** The jobs of a report by their names; one job has none to tell it from others. */
function namesOf(report: Report): readonly string[] {
  const jobs = report.inputs.filter(({ format }) => format === 'job').map(({ input }) => input);
  return jobs.length > 1 ? jobs : [];
}

function rowsOf(table: Table, job: string): Table {
  if (!table.columns.some(({ key }) => key === 'input')) return table;
  const input = reader(table, 'input');
  return { ...table, rows: table.rows.filter((row) => input(row) === job) };
}

/** A report for each job, with its name where there are several. */
export function jobsOf(report: Report): readonly { readonly name: string | null; readonly report: Report }[] {
  const names = namesOf(report);
  if (names.length === 0) return [{ name: null, report }];
  return names.map((name) => ({
    name,
    report: {
      ...report,
      inputs: report.inputs.filter(({ input }) => input === name),
      tables: Object.fromEntries(Object.entries(report.tables).map(([key, table]) => [key, rowsOf(table, name)])),
    },
  }));
}
