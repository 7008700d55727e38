// The same with cast, Foundry's command line: JSON lines on stdin and stdout for the tools, cast for what the chain says about the trade.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";
const deal = { token_in: "USDC", token_out: "WETH", amount: "250", chain: "base" };
let rpc, action_id;

// npm's package, or the program in PATH.
function program() {
  try {
    const system = { win32: "win32", darwin: "darwin" }[process.platform] ?? "linux";
    return createRequire(import.meta.url).resolve(`@foundry-rs/cast-${system}-${process.arch === "arm64" ? "arm64" : "amd64"}/bin/cast`);
  } catch {
    return "cast";
  }
}
const cast = async (...args) => (await promisify(execFile)(program(), [...args, "--rpc-url", rpc])).stdout.trim();

function require(fact, what) {
  if (!fact) throw new Error(what);
}

async function check(tx_hash) {
  const receipt = JSON.parse(await cast("receipt", tx_hash, "--confirmations", "2", "--json"));
  require(receipt.status === "0x1", "the swap reverted");
  const account = receipt.to;
  const transfer = await cast("logs", "--from-block", "0", "--address", USDC, "Transfer(address,address,uint256)", account, "--json");
  require(JSON.parse(transfer).some((log) => log.transactionHash === tx_hash), "the node does not list the transfer");
  const [balance] = (await cast("call", USDC, "balanceOf(address)(uint256)", account)).split(" ");
  const { stdout } = await promisify(execFile)(program(), ["calldata", "balanceOf(address)", account]);
  const batch = await cast("call", MULTICALL3, "aggregate3((address,bool,bytes)[])((bool,bytes)[])", `[(${USDC},false,${stdout.trim()})]`);
  const [, word] = batch.match(/true, (0x[0-9a-f]{64})/);
  require(BigInt(word) === BigInt(balance), "two readings of one balance differ");
  require((await cast("call", USDC, "nonces(address)(uint256)", account)) === "0", "a permit was used");
}

async function next(news) {
  if (news.user) return { call: { tool: "swap_get_quote", args: deal } };
  if (news.peer) {
    if (news.peer.said.decision !== "approve") return { say: JSON.stringify({ status: "rejected" }) };
    return { call: { tool: "swap_execute", args: { ...deal, slippage_bps: 50, action_id } } };
  }
  if (news.answer?.error) return { refuse: news.answer.error.message };
  const { tool, result } = news.answer;
  if (tool === "swap_get_quote") {
    action_id = result.action_id;
    return { call: { tool: "tx_simulate", args: { action_id } } };
  }
  if (tool === "tx_simulate") return { delegate: { to: "safety-guardian", params: { action_id } } };
  try {
    await check(result.tx_hash);
    return { say: JSON.stringify({ status: "success" }) };
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    return { say: JSON.stringify({ status: "failed", message: error.message }) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  rpc ??= message.hello?.rpc["8453"];
  process.stdout.write(JSON.stringify(await next(message.news.at(-1) ?? {})) + "\n");
}
