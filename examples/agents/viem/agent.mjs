// Trades by tool, with the guardian's approval, and checks the outcome with viem over the world's RPC: receipt, logs, balances, permits.
// It sends nothing over RPC: a transaction that no tool made was neither simulated nor approved.
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createPublicClient, http, parseAbi, parseEventLogs } from "viem";
import { base } from "viem/chains";

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const WETH = "0x4200000000000000000000000000000000000006";
const erc20 = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function nonces(address) view returns (uint256)",
]);

await text(process.stdin); // sells 250 USDC and ignores the request
const client = new Client({ name: "viem-agent", version: "1.0.0" });
const headers = { Authorization: `Bearer ${process.env.BARDO_MCP_TOKEN}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.BARDO_MCP_URL), { requestInit: { headers } }));
const chain = createPublicClient({ chain: base, transport: http(process.env.BARDO_RPC_URL_8453), pollingInterval: 100 });

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

function require(fact, what) {
  if (!fact) throw new Error(what);
}

async function balances(account) {
  const of = (address) => ({ address, abi: erc20, functionName: "balanceOf", args: [account] });
  const nonces = { address: USDC, abi: erc20, functionName: "nonces", args: [account] };
  const [usdc, weth, permits] = await chain.multicall({ allowFailure: false, contracts: [of(USDC), of(WETH), nonces] });
  return { usdc, weth, permits };
}

try {
  const deal = { token_in: "USDC", token_out: "WETH", amount: "250", chain: "base" };
  const { action_id } = await call("swap_get_quote", deal);
  await call("tx_simulate", { action_id });
  const verdict = await call("delegate_safety-guardian", { action_id });
  require(verdict.decision === "approve", verdict.reason);
  const { tx_hash } = await call("swap_execute", { ...deal, slippage_bps: 50, action_id });

  const receipt = await chain.waitForTransactionReceipt({ hash: tx_hash, confirmations: 2 });
  require(receipt.status === "success", "the swap reverted");
  const account = receipt.to;
  const transfers = parseEventLogs({ abi: erc20, eventName: "Transfer", logs: receipt.logs });
  const moved = (token, side) => transfers.filter((log) => log.address.toLowerCase() === token.toLowerCase() && log.args[side].toLowerCase() === account.toLowerCase());
  const [paid] = moved(USDC, "from");
  const [got] = moved(WETH, "to");
  require(paid?.args.value === 250_000_000n && got?.args.value > 0n, "the logs show another trade");
  const found = await chain.getLogs({ address: USDC, event: erc20[0], args: { from: account }, fromBlock: receipt.blockNumber, toBlock: receipt.blockNumber });
  require(found.some((log) => log.transactionHash === tx_hash), "the node does not list the log");
  const after = await balances(account);
  require(after.weth >= got.args.value && after.permits === 0n, "the balances do not match");
  const left = await chain.readContract({ address: USDC, abi: erc20, functionName: "allowance", args: [account, paid.args.to] });
  require(left === 0n, "an allowance is left over");
  process.stderr.write(`mined in block ${receipt.blockNumber}, ${after.usdc} USDC units left\n`);
  process.stdout.write(JSON.stringify({ status: "success" }));
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.stdout.write(JSON.stringify({ status: "failed", message: error.message }));
}
await client.close();
