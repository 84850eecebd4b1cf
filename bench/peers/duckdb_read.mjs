// DuckDB reads the events of a trace and sums the kernels by name: node duckdb_read.mjs THREADS TRACE.
import { DuckDBInstance } from "@duckdb/node-api";

const [threads, trace] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:", { threads });
const connection = await instance.connect();
const event = "STRUCT(ph VARCHAR, cat VARCHAR, name VARCHAR, ts DOUBLE, dur DOUBLE, " +
  "args STRUCT(device BIGINT, stream BIGINT, correlation BIGINT))[]";
const answer = await connection.runAndReadAll(`
  select sum(n)::bigint, sum(ns)::bigint from (
    select e.name, count(*) as n, round(sum(e.dur * 1000)) as ns from (
      select unnest(traceEvents) as e from read_json('${trace.replaceAll("'", "''")}', format = 'unstructured',
        maximum_object_size = 4294967295, columns = {traceEvents: '${event}'}))
    where e.cat = 'kernel' group by e.name)`);
const [kernels, ns] = answer.getRows()[0];
console.log(`kernels ${kernels} kernel_ns ${ns}`);
