// Trades in the minimal workspace: the same agent as in the other languages, with the helper bardo-agent.mjs.
import { call, delegate, refuse, run, say } from "./bardo-agent.mjs";

const deal = { token_in: "USDC", token_out: "WETH", amount: "250", chain: "base" };

run((news, { memory }) => {
  const { user, peer, answer } = news.at(-1);
  if (user) return user.startsWith("How many") ? call("wallet_get_balance", { token: "USDC", chain: "base" }) : call("swap_get_quote", deal);
  if (peer) {
    if (peer.said.decision !== "approve") return say('{"status": "rejected"}');
    return call("swap_execute", { ...deal, slippage_bps: 50, action_id: memory.id });
  }
  if (answer.error) return refuse(answer.error.message);
  if (answer.tool === "swap_get_quote") {
    memory.id = answer.result.action_id;
    return call("tx_simulate", { action_id: memory.id });
  }
  return answer.tool === "tx_simulate" ? delegate("safety-guardian", { action_id: memory.id }) : say('{"status": "success"}');
});
