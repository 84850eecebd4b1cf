// Perfetto's trace processor answers SQL about a trace: node perfetto_query.mjs TRACE < JSON list of queries. Prints a JSON
// list of answers, each a list of rows; integers are texts, which are exact.
import { readFileSync } from "node:fs";

import { load } from "./trace_processor.mjs";

const queries = JSON.parse(readFileSync(0, "utf8"));
const engine = await load(process.argv[2]);
const answers = [];
for (const sql of queries) {
  const answer = await engine.query(sql);
  const columns = answer.columns();
  const rows = [];
  for (const it = answer.iter({}); it.valid(); it.next())
    rows.push(columns.map((column) => it.get(column)));
  answers.push(rows);
}
process.stdout.write(JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? String(value) : value)), () => process.exit(0));
