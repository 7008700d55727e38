// Runs viem, ethers and cast with their defaults against our RPC. One JSON argument: { tools, url, mainnet, chain, key, hash, account, usdc, router, stranger }.
// Each waits for the transaction of a tool and delegates with EIP-7702. Prints the results as JSON.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";

const job = JSON.parse(process.argv[2]);
const require = createRequire(`${job.tools}/`);
const viem = require("viem");
const { privateKeyToAccount } = require("viem/accounts");
const ethers = require("ethers");
const multicall3 = { address: "0xcA11bde05977b3631167028862bE2a173976CA11" };
const erc20 = viem.parseAbi([
  "function balanceOf(address) view returns (uint256)", "function decimals() view returns (uint8)",
  "event Transfer(address indexed from, address indexed to, uint256 value)" ]);
const balance = viem.parseAbi(["function getEthBalance(address) view returns (uint256)"]);
const chainOf = (id, url) => viem.defineChain({
  id, name: "world", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 }, rpcUrls: { default: { http: [url] } }, contracts: { multicall3 } });

async function withViem() {
  const chain = chainOf(job.chain, job.url);
  const transport = viem.http(job.url);
  const reader = viem.createPublicClient({ chain, transport, pollingInterval: 50 });
  const account = privateKeyToAccount(job.key);
  const wallet = viem.createWalletClient({ chain, transport, account });
  const seen = {};
  seen.receipt = (await reader.waitForTransactionReceipt({ hash: job.hash, timeout: 20_000 })).status;
  seen.confirmed = (await reader.waitForTransactionReceipt({ hash: job.hash, confirmations: 2, timeout: 20_000 })).status;
  seen.transaction = (await reader.getTransaction({ hash: job.hash })).hash;
  seen.transfers = (await reader.getLogs({ address: job.usdc, event: erc20[2], args: { from: job.account }, fromBlock: 0n })).length;
  seen.multicall = await reader.multicall({ allowFailure: false, contracts: [
    { address: job.usdc, abi: erc20, functionName: "balanceOf", args: [job.account] },
    { address: job.usdc, abi: erc20, functionName: "decimals" },
    { ...multicall3, abi: balance, functionName: "getEthBalance", args: [account.address] } ] });
  seen.balance = await reader.getBalance({ address: account.address });
  const other = viem.createPublicClient({ chain: chainOf(1, job.mainnet), transport: viem.http(job.mainnet) });
  const ether = { ...multicall3, abi: balance, functionName: "getEthBalance", args: [account.address] };
  seen.elsewhere = await other.multicall({ allowFailure: false, contracts: [ether, ether] });
  const filter = await reader.createEventFilter({ fromBlock: 0n });
  seen.logs = (await reader.getFilterLogs({ filter })).length;
  await reader.uninstallFilter({ filter });
  const blocks = [];
  const stop = reader.watchBlockNumber({ onBlockNumber: (number) => blocks.push(number), emitOnBegin: true });
  const authorization = await wallet.signAuthorization({ contractAddress: job.router, executor: "self" });
  const hash = await wallet.sendTransaction({ to: job.stranger, value: 1n, authorizationList: [authorization] });
  seen.delegated = (await reader.waitForTransactionReceipt({ hash, confirmations: 3, timeout: 20_000 })).status;
  stop();
  seen.watched = blocks.length;
  return seen;
}

async function withEthers() {
  const provider = new ethers.JsonRpcProvider(job.url, job.chain, { staticNetwork: true });
  provider.pollingInterval = 50;
  const wallet = new ethers.Wallet(job.key, provider);
  const seen = {};
  const status = (receipt) => (receipt.status === 1 ? "success" : "reverted");
  seen.receipt = status(await provider.waitForTransaction(job.hash, 1, 20_000));
  const transaction = await provider.getTransaction(job.hash);
  seen.transaction = transaction.hash;
  seen.confirmed = status(await transaction.wait(2, 20_000));
  const nonce = await wallet.getNonce();
  const auth = await wallet.authorize({ address: job.usdc, nonce: nonce + 1, chainId: job.chain });
  const sent = await wallet.sendTransaction({ type: 4, to: job.stranger, value: 1n, authorizationList: [auth] });
  seen.delegated = status(await sent.wait(2, 20_000));
  provider.destroy();
  return seen;
}

async function withCast() {
  const cast = async (...args) => (await promisify(execFile)(require.resolve("@foundry-rs/cast/package.json").replace(/cast\/package\.json$/, `cast-${process.platform}-${process.arch === "x64" ? "amd64" : "arm64"}/bin/cast`), args, { env: {} })).stdout;
  const rpc = ["--rpc-url", job.url];
  const seen = {};
  seen.receipt = JSON.parse(await cast("receipt", job.hash, "--json", "--confirmations", "2", ...rpc)).status === "0x1" ? "success" : "reverted";
  seen.transaction = JSON.parse(await cast("tx", job.hash, "--json", ...rpc)).hash;
  const sent = JSON.parse(await cast("send", job.stranger, "--value", "1", "--auth", job.router, "--private-key", job.key, "--json", ...rpc));
  seen.delegated = sent.status === "0x1" ? "success" : "reverted";
  return seen;
}

const seen = { viem: await withViem(), ethers: await withEthers(), cast: await withCast() };
process.stdout.write(JSON.stringify(seen, (_, value) => (typeof value === "bigint" ? value.toString() : value)));
