"""MCP server in Python without a library: notes in memory, JSON-RPC lines on stdin and stdout."""
import json
import sys

NOTES = {"groceries": "milk, bread, two lemons", "plan": "call the plumber on Monday"}


def text(description):
    return {"type": "string", "description": description}


def schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TOOLS = [
    {
        "name": "list_notes",
        "description": "Lists the names of all notes, in alphabetical order. Use it to find out which notes there are.",
        "inputSchema": schema(),
        "outputSchema": schema(names={"type": "array", "items": {"type": "string"}}),
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "read_note",
        "description": "Shows the whole text of one note. Fails if there is no note with this name.",
        "inputSchema": schema(name=text("Name of the note, such as groceries.")),
        "outputSchema": schema(name=text("Name."), text=text("Text.")),
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "write_note",
        "description": "Stores a text under a name and replaces the note that had it before.",
        "inputSchema": schema(name=text("Name of the note."), text=text("New text of the note.")),
        "outputSchema": schema(stored=text("Name of the stored note.")),
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    },
]


def call(name, args):
    """Returns the answer of a tool; raises KeyError for an unknown note."""
    if name == "list_notes":
        return {"names": sorted(NOTES)}
    if name == "read_note":
        return {"name": args["name"], "text": NOTES[args["name"]]}
    NOTES[args["name"]] = args["text"]
    return {"stored": args["name"]}


def result(method, params):
    if method == "initialize":
        about = {"name": "notes", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "ping":
        return {}
    if method != "tools/call":
        raise NotImplementedError(method)
    try:
        answer = call(params["name"], params.get("arguments") or {})
    except KeyError as error:
        return {"content": [{"type": "text", "text": f"there is no note {error}"}], "isError": True}
    return {"content": [{"type": "text", "text": json.dumps(answer)}], "structuredContent": answer}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:  # a notification gets no answer
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        answer["result"] = result(message["method"], message.get("params") or {})
    except NotImplementedError as error:
        answer["error"] = {"code": -32601, "message": f"method {error} is not known"}
    print(json.dumps(answer), flush=True)
