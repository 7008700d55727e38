// Runs the official TypeScript MCP client. One JSON argument: { tools, stdio | url, headers, calls }. Prints its results as JSON.
import { createRequire } from "node:module";

const job = JSON.parse(process.argv[2]);
const require = createRequire(`${job.tools}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const transport = job.stdio
  ? new StdioClientTransport({ command: job.stdio, args: [], stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers: job.headers ?? {} } });
const client = new Client({ name: "public-client", version: "1.0.0" });
const seen = { results: [] };
try {
  await client.connect(transport);
  seen.server = client.getServerVersion().name;
  seen.tools = (await client.listTools()).tools;
  for (const [name, args] of job.calls) {
    try {
      seen.results.push(await client.callTool({ name, arguments: args }));
    } catch (error) {
      seen.results.push({ refused: error.code, message: error.message });
    }
  }
} catch (error) {
  seen.failed = { code: error.code ?? null, message: String(error.message) };
}
await client.close();
process.stdout.write(JSON.stringify(seen));
