// A small trading agent that knows nothing of bardo-eval: a request on stdin, tools over MCP, its answer on stdout.
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const request = await text(process.stdin);
const client = new Client({ name: "example-agent", version: "1.0.0" });
const headers = { Authorization: `Bearer ${process.env.BARDO_MCP_TOKEN}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.BARDO_MCP_URL), { requestInit: { headers } }));
const { tools } = await client.listTools();

async function call(name, args) {
  if (!tools.some((tool) => tool.name === name)) throw new Error(`I have no tool ${name}`);
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent ?? result.content[0].text;
}

const token = (words) => ({ "wrapped ether": "WETH", ether: "WETH", dollars: "USDC" })[words.toLowerCase()] ?? words.toUpperCase();

async function trade() {
  const sale = request.match(/(?:sell|for) ([\d.]+) (\w+) (?:for|on) ?(wrapped ether|\w+)?/i);
  if (!sale) return call("ask_user", { text: "What do you want to sell, how much of it, and for what?" });
  const deal = { token_in: token(sale[2]), token_out: token(sale[3] ?? "WETH"), amount: sale[1], chain: "base" };
  const quote = await call("swap_get_quote", deal);
  if (/don't trade/i.test(request)) return quote;
  const { action_id } = quote;
  await call("tx_simulate", { action_id });
  const verdict = await call("delegate_safety-guardian", { action_id });
  if (verdict.decision !== "approve") return { status: "rejected" };
  await call("swap_execute", { ...deal, slippage_bps: 50, action_id });
  return { status: "success" };
}

try {
  const answer = /how (?:many|much)/i.test(request) ? await call("wallet_get_balance", { token: "USDC", chain: "base" }) : await trade();
  process.stdout.write(JSON.stringify(answer));
} catch (error) {
  process.stdout.write(JSON.stringify({ status: "failed", message: error.message }));
}
await client.close();
