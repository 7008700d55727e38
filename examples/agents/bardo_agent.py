"""Helper for agents of bardo-eval: copy this file beside your agent. Standard library only.

    from bardo_agent import run, call, say

    def handler(news, trial):            # what is new -> your next move
        return say("Hello.")

    run(handler)

bardo-eval run --subject 'process:python3 my_agent.py'
"""
import json
import sys


class Trial:
    """One trial: the seat that your agent plays, its endpoints, and a memory of your own."""

    def __init__(self, hello):
        self.id = hello["trial"]
        self.seat = hello["seat"]      # agent, prompt, tools, skills, delegates, colleagues, output
        self.mcp = hello["mcp"]        # url and token of the tools over MCP
        self.rpc = hello["rpc"]        # chain id -> URL
        self.pages = hello["pages"]
        self.memory = {}

    @property
    def tools(self):
        """The tools by name: {"description": ..., "input_schema": ...}."""
        return {tool["name"]: tool for tool in self.seat["tools"]}


# The moves. `call` takes the arguments of the tool as keywords; `calls` makes several calls in one move.
def say(text):
    return {"say": text}


def ask(text):
    return {"ask": text}


def refuse(text):
    return {"refuse": text}


def report(text):
    return {"report": text}


def call(tool, **args):
    return {"call": {"tool": tool, "args": args}}


def calls(*moves):
    return {"call": [move["call"] for move in moves]}


def delegate(to, **params):
    return {"delegate": {"to": to, "params": params}}


def activate(skill, **params):
    return {"activate": {"skill": skill, "params": params}}


def stop():
    return {"stop": True}


def run(handler):
    """Plays one trial: calls handler(news, trial) for each turn and sends the move that it returns.

    `news` is a list of observations, each with one key: user, handover, answer, peer or message.
    """
    # Moves are all that stdout may carry, so print() goes to stderr, which bardo-eval keeps and shows.
    moves, sys.stdout = sys.stdout, sys.stderr
    trial = None
    for line in sys.stdin:
        message = json.loads(line)
        if "hello" in message:
            trial = Trial(message["hello"])
        move = handler(message["news"], trial)
        if not isinstance(move, dict):
            raise TypeError(f"the handler must return a move, such as say(...), and not {move!r}")
        moves.write(json.dumps(move) + "\n")
        moves.flush()
