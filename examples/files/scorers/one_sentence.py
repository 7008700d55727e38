"""Counts the answers of a trial that are one sentence. A full stop inside of a word, as in todo.md, ends none."""
import json, re, sys

case, *events = [json.loads(line) for line in sys.stdin]
words = [event["happened"][kind]["text"] for event in events for kind in ("said", "asked") if kind in event["happened"]]
long = [f"more than one sentence: {text}" for text in words if len(re.findall(r"[.!?](?:\s|$)", text)) > 1]
print(json.dumps({"hit": len(words) - len(long), "of": len(words), "because": long} if words else {"unscorable": "nothing was said"}))
