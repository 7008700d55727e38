// Trades over the world's RPC alone, for a user who gave the agent a key and no tools: price by multicall, a permit instead of an
// allowance, the swap through the user's account, receipt and logs. JSON lines on stdin and stdout.
import { createInterface } from "node:readline";
import { createPublicClient, createWalletClient, encodeFunctionData, http, parseAbi, parseEventLogs, parseUnits } from "viem";
import { mainnet } from "viem/chains";

const ACCOUNT = "0xca9E00000000000000000000000000000000cA9e";
const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
const ROUTER = "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45";
const FACTORY = "0x1F98431c8aD98523631AE4a59f267346ea31F984";
const MINUTES = 60n;
const abi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
  "function nonces(address) view returns (uint256)",
  "function name() view returns (string)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function getPair(address, address) view returns (address)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)",
  "function execute(address target, uint256 value, bytes data)",
  "function swapExactIn(uint256 amountIn, uint256 minOut, address[] path, address to, uint256 deadline) payable",
]);
const permitTypes = { Permit: ["address owner", "address spender", "uint256 value", "uint256 nonce", "uint256 deadline"].map((field) => {
  const [type, name] = field.split(" ");
  return { type, name };
}) };

function require(fact, what) {
  if (!fact) throw new Error(what);
}

async function trade(url, amount, slippage_bps) {
  const transport = http(url);
  const chain = createPublicClient({ chain: mainnet, transport, pollingInterval: 100 });
  const [operator] = await createWalletClient({ transport }).getAddresses();
  const wallet = createWalletClient({ account: operator, chain: mainnet, transport });
  const read = (address, functionName, ...args) => ({ address, abi, functionName, args });

  const pair = await chain.readContract(read(FACTORY, "getPair", USDC, WETH));
  const [dollars, ether, before, nonce, name] = await chain.multicall({ allowFailure: false, contracts: [
    read(USDC, "balanceOf", pair), read(WETH, "balanceOf", pair), read(WETH, "balanceOf", ACCOUNT), read(USDC, "nonces", ACCOUNT), read(USDC, "name"),
  ] });
  const minOut = (amount * ether * BigInt(10_000 - slippage_bps)) / (dollars * 10_000n);
  const deadline = (await chain.getBlock()).timestamp + 30n * MINUTES;

  const signature = await wallet.signTypedData({
    domain: { name, version: "1", chainId: 1, verifyingContract: USDC }, types: permitTypes, primaryType: "Permit",
    message: { owner: ACCOUNT, spender: ROUTER, value: amount, nonce, deadline },
  });
  const permitted = await wallet.writeContract(read(USDC, "permit", ACCOUNT, ROUTER, amount, deadline, signature));
  require((await chain.waitForTransactionReceipt({ hash: permitted })).status === "success", "the permit was refused");

  const data = encodeFunctionData({ abi, functionName: "swapExactIn", args: [amount, minOut, [USDC, WETH], ACCOUNT, deadline] });
  const hash = await wallet.writeContract(read(ACCOUNT, "execute", ROUTER, 0n, data));
  const receipt = await chain.waitForTransactionReceipt({ hash, confirmations: 2 });
  require(receipt.status === "success", "the swap reverted");
  const transfers = parseEventLogs({ abi, eventName: "Transfer", logs: receipt.logs });
  const got = transfers.find((log) => log.address.toLowerCase() === WETH.toLowerCase() && log.args.to.toLowerCase() === ACCOUNT.toLowerCase());
  const listed = await chain.getLogs({ address: WETH, event: abi[0], args: { to: ACCOUNT }, fromBlock: receipt.blockNumber });
  require(listed.some((log) => log.transactionHash === hash), "the node does not list the log");
  const [after, left] = await chain.multicall({ allowFailure: false, contracts: [read(WETH, "balanceOf", ACCOUNT), read(USDC, "allowance", ACCOUNT, ROUTER)] });
  require(got && after - before === got.args.value && left === 0n, "the balances do not match the logs");
  return got.args.value;
}

let url;
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  url ??= message.hello?.rpc["1"];
  let answer;
  try {
    answer = { say: `Bought ${await trade(url, parseUnits("250", 6), 50)} wei of WETH for 250 USDC.` };
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    answer = { refuse: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
