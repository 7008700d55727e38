// A trading agent as an A2A server with the public SDK. The first message has a data part with the endpoints of the trial: it acts over MCP.
// With an argument it speaks the older version 0.3 of the protocol.
import express from "express";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { AGENT_CARD_PATH, Role, TaskState } from "@a2a-js/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const deal = { token_in: "USDC", token_out: "WETH", amount: "250", chain: "base" };

async function trade(text, { url, token }) {
  const client = new Client({ name: "a2a-agent", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
  try {
    if (text.startsWith("How many")) return await call("wallet_get_balance", { token: "USDC", chain: "base" });
    const { action_id } = await call("swap_get_quote", deal);
    await call("tx_simulate", { action_id });
    const verdict = await call("delegate_safety-guardian", { action_id });
    if (verdict.decision !== "approve") return { status: "rejected" };
    await call("swap_execute", { ...deal, slippage_bps: 50, action_id });
    return { status: "success" };
  } finally {
    await client.close();
  }
}

const message = (contextId, taskId, text) => ({
  messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts: [{ content: { $case: "text", value: text }, mediaType: "text/plain" }], extensions: [], referenceTaskIds: [],
});
const endpoints = new Map(); // by conversation

const executor = {
  async execute({ userMessage, taskId, contextId, task }, bus) {
    const part = (kind) => userMessage.parts.find((part) => part.content?.$case === kind)?.content.value;
    if (part("data")?.bardo) endpoints.set(contextId, part("data").bardo.mcp);
    const end = (state, text) => ({ id: taskId, contextId, status: { state, message: message(contextId, taskId, text), timestamp: new Date().toISOString() }, artifacts: [], history: [] });
    try {
      // A task is announced before anything is done for it.
      if (!task) bus.publish(AgentEvent.task({ ...end(TaskState.TASK_STATE_WORKING, "on it") }));
      const answer = await trade(part("text"), endpoints.get(contextId));
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: end(TaskState.TASK_STATE_COMPLETED, JSON.stringify(answer)).status }));
    } catch (error) {
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: end(TaskState.TASK_STATE_FAILED, error.message).status }));
    }
    bus.finished();
  },
  async cancelTask() {},
};

const old = process.argv[2] === "0.3";
const app = express();
const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const rpc = { url: `${url}/rpc`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: old ? "0.3" : "1.0" };
  const card = {
    name: "Trader", description: "Trades 250 USDC.", supportedInterfaces: [rpc], version: "1.0.0", capabilities: { streaming: false, extensions: [] },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ["text/plain", "application/json"], defaultOutputModes: ["text/plain"], skills: [], signatures: [],
  };
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const legacyCompat = { enabled: old };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: handler, legacyCompat }));
  app.use("/rpc", jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  console.log(url);
});
