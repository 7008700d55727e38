"""Trades in the minimal workspace: the same agent as in the other languages, with the helper bardo_agent.py."""
from bardo_agent import call, delegate, refuse, run, say

DEAL = {"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base"}


def handler(news, trial):
    last, memory = news[-1], trial.memory
    if "user" in last:
        asks_balance = last["user"].startswith("How many")
        return call("wallet_get_balance", token="USDC", chain="base") if asks_balance else call("swap_get_quote", **DEAL)
    if "peer" in last:
        approved = last["peer"]["said"]["decision"] == "approve"
        return call("swap_execute", **DEAL, slippage_bps=50, action_id=memory["id"]) if approved else say('{"status": "rejected"}')
    answer = last["answer"]
    if "error" in answer:
        return refuse(answer["error"]["message"])
    if answer["tool"] == "swap_get_quote":
        memory["id"] = answer["result"]["action_id"]
        return call("tx_simulate", action_id=memory["id"])
    return delegate("safety-guardian", action_id=memory["id"]) if answer["tool"] == "tx_simulate" else say('{"status": "success"}')


run(handler)
