// Perfetto's trace processor loads a trace and sums its kernels: node perfetto_read.mjs TRACE.
import { load } from "./trace_processor.mjs";

const engine = await load(process.argv[2]);
const answer = await engine.query(
  "select count(*) as kernels, cast(sum(dur) as int) as ns from slice where category = 'kernel'");
const row = answer.firstRow({ kernels: 0, ns: 0 });
console.log(`kernels ${row.kernels} kernel_ns ${row.ns}`);
process.exit(0);
