// Helper for agents of bardo-eval in JavaScript and TypeScript: copy this file beside your agent. Node only, no package.
//
//   import { run, call, say } from "./bardo-agent.mjs";
//   run((news, trial) => say("Hello."));          // what is new -> your next move; may be async
//
// bardo-eval run --subject 'process:node my-agent.mjs'
import { createInterface } from "node:readline";
import { Console } from "node:console";

/**
 * @typedef {{ name: string, description: string, input_schema: object }} Tool
 * @typedef {{ agent: string, prompt: string, tools: Tool[], skills: object[], delegates: string[], colleagues: object[], output?: object }} Seat
 * @typedef {{ id: string, seat: Seat, mcp: { url: string, token: string }, rpc: Record<string, string>, pages: string, memory: Record<string, any> }} Trial
 * @typedef {{ tool: string, result?: any, error?: { code: string, message: string } }} Answer
 * @typedef {{ user?: string, handover?: { from: string, params: object }, answer?: Answer, peer?: { agent: string, said: any }, message?: { from: string, text: string } }} Observation
 * @typedef {Record<string, any>} Move
 */

// The moves. `calls` makes several calls in one move.
/** @param {string} text @returns {Move} */
export const say = (text) => ({ say: text });
/** @param {string} text @returns {Move} */
export const ask = (text) => ({ ask: text });
/** @param {string} text @returns {Move} */
export const refuse = (text) => ({ refuse: text });
/** @param {string} text @returns {Move} */
export const report = (text) => ({ report: text });
/** @param {string} tool @param {object} args @returns {Move} */
export const call = (tool, args = {}) => ({ call: { tool, args } });
/** @param {Move[]} moves @returns {Move} */
export const calls = (...moves) => ({ call: moves.map((move) => move.call) });
/** @param {string} to @param {object} params @returns {Move} */
export const delegate = (to, params = {}) => ({ delegate: { to, params } });
/** @param {string} skill @param {object} params @returns {Move} */
export const activate = (skill, params = {}) => ({ activate: { skill, params } });
/** @returns {Move} */
export const stop = () => ({ stop: true });

/**
 * Plays one trial: calls the handler for each turn and sends the move that it returns.
 * @param {(news: Observation[], trial: Trial) => Move | Promise<Move>} handler
 */
export async function run(handler) {
  // Moves are all that stdout may carry, so console.log goes to stderr, which bardo-eval keeps and shows.
  globalThis.console = new Console(process.stderr, process.stderr);
  /** @type {Trial | undefined} */
  let trial;
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.hello) {
      const { trial: id, seat, mcp, rpc, pages } = message.hello;
      trial = { id, seat, mcp, rpc, pages, memory: {} };
    }
    const move = await handler(message.news, /** @type {Trial} */ (trial));
    if (typeof move !== "object" || move === null) {
      throw new TypeError(`the handler must return a move, such as say("..."), and not ${JSON.stringify(move)}`);
    }
    process.stdout.write(JSON.stringify(move) + "\n");
  }
}
