"""Scorer of a workspace: counts the answers to the user that have at most 60 words."""
import json
import sys

case = json.loads(sys.stdin.readline())  # {"scorer", "case", "suite", "tags", "written", "ending"}
events = [json.loads(line) for line in sys.stdin]
said = [(event["n"], event["happened"][kind]["text"]) for event in events for kind in ("said", "asked") if kind in event["happened"]]
long = [f"answer {n} of case {case['case']} has {len(text.split())} words" for n, text in said if len(text.split()) > 60]
nothing = {"unscorable": "the agent said nothing"}
print(json.dumps({"hit": len(said) - len(long), "of": len(said), "because": long} if said else nothing))
