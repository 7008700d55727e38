// The same behind an address: every POST carries all that was heard, every answer is one move. Nothing has to be remembered.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const deal = { token_in: "USDC", token_out: "WETH", amount: "250", chain: "base" };

function next(heard) {
  const last = heard.at(-1);
  const action_id = heard.find((news) => news.answer?.tool === "swap_get_quote")?.answer.result?.action_id;
  if (last.user) return { call: { tool: "swap_get_quote", args: deal } };
  if (last.answer?.tool === "swap_get_quote") return { call: { tool: "tx_simulate", args: { action_id } } };
  if (last.answer?.tool === "tx_simulate") return { delegate: { to: "safety-guardian", params: { action_id } } };
  if (last.peer?.said.decision === "approve") return { call: { tool: "swap_execute", args: { ...deal, slippage_bps: 50, action_id } } };
  return { say: JSON.stringify({ status: last.answer?.tool === "swap_execute" && last.answer.result ? "success" : "rejected" }) };
}

const server = createServer(async (request, response) => {
  const { heard } = await json(request);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(next(heard)));
});
server.listen(Number(process.env.PORT ?? 8099), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
