// Drives `gputime mcp` by the official SDK's client: node client.mjs PROGRAM TRACE OTHER. Prints what it saw as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [program, trace, other] = process.argv.slice(2);
const transport = new StdioClientTransport({ command: program, args: ["mcp"], env: process.env, stderr: "inherit" });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
await client.ping();
const { tools } = await client.listTools();
const call = (name, args) => client.callTool({ name, arguments: args });
const unknown = await client.callTool({ name: "nonsense", arguments: {} }).then(() => null, (error) => error.code);
const seen = {
  server: client.getServerVersion(),
  tools: tools.map((tool) => tool.name),
  summary: await call("summary", { traces: [trace] }),
  diff: await call("diff", { a: [trace], b: [other], of: "measures" }),
  failed: await call("kernels", { traces: ["/nowhere.json"] }),
  unknown,
};
await client.close();
console.log(JSON.stringify(seen));
