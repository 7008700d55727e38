"""Checks the transcripts of the traces that the SDKs sent."""

import json
import sqlite3
import sys

ARGS = {"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base"}
file = sqlite3.connect(sys.argv[1])
rows = file.execute("SELECT hex(trace), facts, transcript FROM traces").fetchall()
failures = []


def check(trace, what, found, wanted):
    if found != wanted:
        failures.append(f"{trace}: {what} is {found!r}, expected {wanted!r}")


for trace, facts, transcript in rows:
    facts, events = json.loads(facts), json.loads(transcript)["events"]
    kinds = [next(iter(event["happened"].items())) for event in events]
    calls = [content for kind, content in kinds if kind == "called"]
    check(trace, "calls", [call["tool"] for call in calls], ["uniswap_get_quote"])
    check(trace, "arguments", calls[0]["args"] if calls else None, ARGS)
    check(trace, "answers", [content["answer"] for kind, content in kinds if kind == "answered"], [{"result": {"amount_out": "0.1"}}])
    check(trace, "delegations", [content["to"] for kind, content in kinds if kind == "delegated"], ["safety-guardian"])
    check(trace, "user turns", [content["text"] for kind, content in kinds if kind == "user_said"], ["What would 250 USDC buy on Base?"])
    check(trace, "tokens", [(chat["input_tokens"], chat["output_tokens"]) for chat in facts["chats"]], [(120, 34), (120, 34)])
    check(trace, "models", {chat["version"] for chat in facts["chats"]}, {"gpt-x-1"})
    check(trace, "agents", facts["agents"], ["safety-guardian", "trade-executor"])
spans = file.execute("SELECT group_concat(body, '') FROM spans").fetchone()[0] or ""
if "sk-test-0123" in str(spans):
    failures.append("a key is in the file")
check("all", "traces", len(rows), 5)
print(f"{len(rows)} traces from two SDKs, {len(failures)} differences")
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
