// Runs viem, the public Ethereum client, against our RPC. One JSON argument: { tools, url, chain, key, usdc, account, router, stranger }. Prints its results as JSON.
import { createRequire } from "node:module";

const job = JSON.parse(process.argv[2]);
const require = createRequire(`${job.tools}/`);
const viem = require("viem");
const { privateKeyToAccount, generatePrivateKey } = require("viem/accounts");

const chain = viem.defineChain({
  id: job.chain, name: "world", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 }, rpcUrls: { default: { http: [job.url] } },
});
const transport = viem.http(job.url, { batch: true, retryCount: 0 });
const reader = viem.createPublicClient({ chain, transport, pollingInterval: 50 });
const key = privateKeyToAccount(job.key);
const holder = viem.createWalletClient({ chain, transport, account: key });
const remote = viem.createWalletClient({ chain, transport, account: key.address });
const erc20 = viem.parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const cage = viem.parseAbi(["function execute(address target, uint256 value, bytes data) returns (bytes)"]);
const described = (error) => ({ name: error.name, message: error.shortMessage ?? error.message });
const seen = {};

seen.chain = await reader.getChainId();
seen.block = (await reader.getBlock()).number;
seen.sameBlock = (await reader.getBlock({ blockHash: (await reader.getBlock()).hash })).number;
seen.balance = await reader.getBalance({ address: key.address });
seen.usdc = await reader.readContract({ address: job.usdc, abi: erc20, functionName: "balanceOf", args: [job.account] });
seen.code = (await reader.getCode({ address: job.usdc })).length > 2;
seen.storage = await reader.getStorageAt({ address: job.usdc, slot: "0x0" });
seen.fees = await reader.estimateFeesPerGas();
seen.history = (await reader.getFeeHistory({ blockCount: 4, rewardPercentiles: [25, 75] })).baseFeePerGas.length;
seen.addresses = await remote.getAddresses();

// Signed by the client, one of every transaction type.
seen.raw = [];
const fee = { gas: 50000n, maxFeePerGas: 2000000000n, maxPriorityFeePerGas: 0n };
const plain = { gas: 50000n, gasPrice: 2000000000n };
for (const extra of [
  { type: "eip1559", ...fee },
  { type: "legacy", ...plain },
  { type: "eip2930", accessList: [{ address: job.usdc, storageKeys: [] }], ...plain },
]) {
  const nonce = await reader.getTransactionCount({ address: key.address });
  const serializedTransaction = await key.signTransaction({ chainId: job.chain, to: job.stranger, value: 1000n, nonce, ...extra });
  const hash = await reader.sendRawTransaction({ serializedTransaction });
  const receipt = await reader.waitForTransactionReceipt({ hash, timeout: 20000 });
  const transaction = await reader.getTransaction({ hash });
  seen.raw.push({
    right: hash === viem.keccak256(serializedTransaction) && transaction.hash === hash, status: receipt.status, type: receipt.type,
    typed: transaction.type, from: transaction.from, gas: receipt.gasUsed, block: receipt.blockNumber,
  });
}
seen.received = await reader.getBalance({ address: job.stranger });

// EIP-7702: the account delegates to a contract.
const authorization = await holder.signAuthorization({ contractAddress: job.router, executor: "self" });
const delegated = await holder.sendTransaction({ to: job.stranger, value: 1n, authorizationList: [authorization], ...fee, gas: 200000n });
seen.delegated = { status: (await reader.waitForTransactionReceipt({ hash: delegated })).status, code: await reader.getCode({ address: key.address }) };

// Nonce, fees and gas filled in by the client.
const transfer = (value) => viem.encodeFunctionData({ abi: erc20, functionName: "transfer", args: [job.stranger, value] });
const filled = await holder.writeContract({ address: job.account, abi: cage, functionName: "execute", args: [job.usdc, 0n, transfer(5000000n)] });
const moved = await reader.waitForTransactionReceipt({ hash: filled });
seen.moved = { status: moved.status, logs: moved.logs.length };
seen.transfers = (await reader.getLogs({ address: job.usdc, event: erc20[2], fromBlock: 0n, args: { to: job.stranger } })).map((log) => log.args);
seen.none = (await reader.getLogs({ address: job.router, fromBlock: 0n })).length;
seen.usdcAfter = await reader.readContract({ address: job.usdc, abi: erc20, functionName: "balanceOf", args: [job.account] });

// Signed by the world; transactions beyond the account's limits revert.
const reverted = await remote.sendTransaction({ to: job.account, data: viem.encodeFunctionData({
  abi: cage, functionName: "execute", args: [job.usdc, 0n, transfer(viem.maxUint256)] }) });
seen.reverted = (await reader.waitForTransactionReceipt({ hash: reverted })).status;
const sent = await remote.sendTransaction({ to: job.stranger, value: 7n });
seen.sent = (await reader.waitForTransactionReceipt({ hash: sent })).status;
// viem's gas estimate fails for a transaction that would revert.
try { await reader.estimateGas({ account: key.address, to: job.account, data: viem.encodeFunctionData({
  abi: cage, functionName: "execute", args: [job.usdc, 0n, transfer(viem.maxUint256)] }) }); } catch (error) { seen.estimate = described(error); }

// Signatures.
const typed = {
  domain: { name: "USD Coin", version: "1", chainId: job.chain, verifyingContract: job.usdc },
  types: { Permit: [
    { name: "owner", type: "address" }, { name: "spender", type: "address" }, { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" }, { name: "deadline", type: "uint256" } ] },
  primaryType: "Permit",
  message: { owner: job.account, spender: job.stranger, value: viem.maxUint256, nonce: 0n, deadline: 2000000000n },
};
const signature = await remote.signTypedData(typed);
seen.typed = signature === (await key.signTypedData(typed)) && (await viem.verifyTypedData({ ...typed, address: key.address, signature }));
const personal = await remote.signMessage({ message: "I agree to everything." });
seen.personal = await viem.verifyMessage({ address: key.address, message: "I agree to everything.", signature: personal });
const opaque = viem.keccak256("0x1234");
const bare = await remote.request({ method: "eth_sign", params: [key.address, opaque] });
seen.bare = await viem.verifyMessage({ address: key.address, message: { raw: opaque }, signature: bare });
const prepared = await remote.request({ method: "eth_signTransaction", params: [{ from: key.address, to: job.stranger, value: "0x9" }] });
seen.signedOnly = (await viem.recoverTransactionAddress({ serializedTransaction: prepared.raw })) === key.address;

// Refusals with messages that viem recognizes.
seen.refused = {};
const attempt = async (name, doing) => { try { await doing(); seen.refused[name] = null; } catch (error) { seen.refused[name] = [error.name, error.cause?.name, error.walk?.()?.name, error.details ?? error.message]; } };
const signed = (account, extra) => account.signTransaction({ chainId: job.chain, to: job.stranger, value: 1n, type: "eip1559", nonce: 0, ...fee, ...extra });
const pass = (account, extra) => async () => reader.sendRawTransaction({ serializedTransaction: await signed(account, extra) });
await attempt("low", pass(key, {}));
await attempt("high", pass(key, { nonce: 1000 }));
await attempt("highAgain", pass(key, { nonce: 1000 }));
await attempt("chain", pass(key, { chainId: 5 }));
await attempt("poor", pass(privateKeyToAccount(generatePrivateKey()), {}));
await attempt("cheap", pass(key, { maxFeePerGas: 1n }));
await attempt("stranger", () => remote.sendTransaction({ account: job.stranger, to: key.address, value: 1n }));
await attempt("method", () => reader.request({ method: "debug_everything" }));
await attempt("past", () => reader.getBalance({ address: key.address, blockNumber: 1n }));
await attempt("missing", () => reader.getTransaction({ hash: opaque }));
await attempt("unprotected", async () => reader.sendRawTransaction({
  serializedTransaction: await key.signTransaction({ type: "legacy", to: job.stranger, nonce: 0, ...plain }) }));

// A key created by the agent: its signatures are not recorded, its transactions are. Identical bytes are accepted once.
const fresh = privateKeyToAccount(generatePrivateKey());
await reader.waitForTransactionReceipt({ hash: await remote.sendTransaction({ to: fresh.address, value: 10n ** 16n }) });
const once = await signed(fresh, { value: 3n });
await reader.waitForTransactionReceipt({ hash: await reader.sendRawTransaction({ serializedTransaction: once }) });
seen.fresh = fresh.address;
await attempt("again", () => reader.sendRawTransaction({ serializedTransaction: once }));

process.stdout.write(JSON.stringify(seen, (_, value) => (typeof value === "bigint" ? value.toString() : value)));
