"""Counts the answers of a trial that are one sentence. A full stop inside of a word, as in todo.md, ends none."""
import json, re, sys

case, *events = [json.loads(line) for line in sys.stdin]
said = [event["happened"]["said"]["text"] for event in events if "said" in event["happened"]]
long = [f"more than one sentence: {text}" for text in said if len(re.findall(r"[.!?](?:\s|$)", text)) > 1]
print(json.dumps({"hit": len(said) - len(long), "of": len(said), "because": long} if said else {"unscorable": "nothing was said"}))
