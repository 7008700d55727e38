// The same in bardo-eval's own protocol: JSON lines on stdin and stdout, no library needed. One line in, one move out.
import { createInterface } from "node:readline";

const say = (move) => process.stdout.write(JSON.stringify(move) + "\n");
const deal = { token_in: "USDC", token_out: "WETH", amount: "250", chain: "base" };
let action_id;

// What to do next, by the last thing that happened.
function next(news) {
  if (news.user) return { call: { tool: "swap_get_quote", args: deal } };
  if (news.peer) {
    if (news.peer.said.decision !== "approve") return { say: JSON.stringify({ status: "rejected" }) };
    return { call: { tool: "swap_execute", args: { ...deal, slippage_bps: 50, action_id } } };
  }
  if (news.answer?.error) return { refuse: news.answer.error.message };
  if (news.answer?.tool === "swap_get_quote") {
    action_id = news.answer.result.action_id;
    return { call: { tool: "tx_simulate", args: { action_id } } };
  }
  if (news.answer?.tool === "tx_simulate") return { delegate: { to: "safety-guardian", params: { action_id } } };
  return { say: JSON.stringify({ status: "success" }), claims: [{ delegated: { to: "bookkeeper", params: { action_id } } }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  say(next(message.news.at(-1) ?? {}));
}
