// Trades over the world's RPC with cast, Foundry's command line, as viem/by-key.mjs does: price by multicall, a permit instead of an
// allowance, the swap through the user's account, receipt and logs. JSON lines on stdin and stdout.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const ACCOUNT = "0xca9E00000000000000000000000000000000cA9e";
const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
const ROUTER = "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45";
const FACTORY = "0x1F98431c8aD98523631AE4a59f267346ea31F984";
const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";
const AMOUNT = 250_000_000n;
const SLIPPAGE_BPS = 50n;
let rpc;

// npm's package, or the program in PATH.
function program() {
  try {
    const system = { win32: "win32", darwin: "darwin" }[process.platform] ?? "linux";
    return createRequire(import.meta.url).resolve(`@foundry-rs/cast-${system}-${process.arch === "arm64" ? "arm64" : "amd64"}/bin/cast`);
  } catch {
    return "cast";
  }
}
const run = async (...args) => (await promisify(execFile)(program(), args)).stdout.trim();
const cast = (...args) => run(...args, "--rpc-url", rpc);

function require(fact, what) {
  if (!fact) throw new Error(what);
}

async function balances(...holders) {
  const calls = await Promise.all(holders.map(async ([token, holder]) => `(${token},false,${await run("calldata", "balanceOf(address)", holder)})`));
  const answer = await cast("call", MULTICALL3, "aggregate3((address,bool,bytes)[])((bool,bytes)[])", `[${calls.join(",")}]`);
  return [...answer.matchAll(/true, (0x[0-9a-f]{64})/g)].map(([, word]) => BigInt(word));
}

async function send(from, to, ...call) {
  const receipt = JSON.parse(await cast("send", "--unlocked", "--from", from, "--json", "--confirmations", "2", to, ...call));
  require(receipt.status === "0x1", `${call[0]} reverted`);
  return receipt;
}

async function trade() {
  const [operator] = JSON.parse(await cast("rpc", "eth_accounts"));
  const pair = await cast("call", FACTORY, "getPair(address,address)(address)", USDC, WETH);
  const [dollars, ether, before] = await balances([USDC, pair], [WETH, pair], [WETH, ACCOUNT]);
  const minOut = (AMOUNT * ether * (10_000n - SLIPPAGE_BPS)) / (dollars * 10_000n);
  const deadline = BigInt(await cast("block", "latest", "--field", "timestamp")) + 1800n;

  const nonce = await cast("call", USDC, "nonces(address)(uint256)", ACCOUNT);
  const name = JSON.parse(await cast("call", USDC, "name()(string)"));
  const field = (type, name) => ({ type, name });
  const permit = {
    domain: { name, version: "1", chainId: 1, verifyingContract: USDC },
    primaryType: "Permit",
    types: {
      EIP712Domain: [field("string", "name"), field("string", "version"), field("uint256", "chainId"), field("address", "verifyingContract")],
      Permit: [field("address", "owner"), field("address", "spender"), field("uint256", "value"), field("uint256", "nonce"), field("uint256", "deadline")],
    },
    message: { owner: ACCOUNT, spender: ROUTER, value: String(AMOUNT), nonce, deadline: String(deadline) },
  };
  const signature = JSON.parse(await cast("rpc", "eth_signTypedData_v4", operator, JSON.stringify(permit)));
  await send(operator, USDC, "permit(address,address,uint256,uint256,bytes)", ACCOUNT, ROUTER, String(AMOUNT), String(deadline), signature);

  const swap = "swapExactIn(uint256,uint256,address[],address,uint256)";
  const data = await run("calldata", swap, String(AMOUNT), String(minOut), `[${USDC},${WETH}]`, ACCOUNT, String(deadline));
  const receipt = await send(operator, ACCOUNT, "execute(address,uint256,bytes)", ROUTER, "0", data);
  const logs = await cast("logs", "--from-block", "0", "--address", USDC, "Transfer(address,address,uint256)", ACCOUNT, "--json");
  require(JSON.parse(logs).some((log) => log.transactionHash === receipt.transactionHash), "the node does not list the transfer");
  const [after] = await balances([WETH, ACCOUNT]);
  const left = await cast("call", USDC, "allowance(address,address)(uint256)", ACCOUNT, ROUTER);
  require(after >= before + minOut && left === "0", "the balances do not match the trade");
  return after - before;
}

for await (const line of createInterface({ input: process.stdin })) {
  rpc ??= JSON.parse(line).hello?.rpc["1"];
  let answer;
  try {
    answer = { say: `Bought ${await trade()} wei of WETH for 250 USDC.` };
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    answer = { refuse: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
