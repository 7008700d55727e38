// Plays written steps: `node player.mjs plan.json`. A back-reference takes a value from an earlier answer.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

let steps = JSON.parse(readFileSync(process.argv[2], "utf8"));
const answers = {};
let awaited;

const filled = (value) => {
  if (Array.isArray(value)) return value.map(filled);
  if (value === null || typeof value !== "object") return value;
  if ("from" in value && "path" in value) return value.path.split(".").reduce((found, key) => found[key], answers[value.from]);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filled(entry)]));
};

const move = ({ call, args, delegate, params, ask, say }) => {
  if (call) return { call: { tool: call, args: filled(args ?? {}) } };
  if (delegate) return { delegate: { to: delegate, params: filled(params ?? {}) } };
  return ask === undefined ? { say } : { ask };
};

for await (const line of createInterface({ input: process.stdin })) {
  const { hello, news } = JSON.parse(line);
  // Each agent of a trial is a program of its own.
  if (hello) steps = steps.filter((step) => !step.agent || step.agent === hello.seat.agent);
  const last = news.findLast((one) => one.answer || one.peer);
  if (awaited && last) answers[awaited] = last.answer?.result ?? last.peer?.said;
  const step = steps.shift();
  awaited = step?.as;
  process.stdout.write(JSON.stringify(step ? move(step) : { stop: true }) + "\n");
}
