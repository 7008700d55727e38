"""Agent for examples/files without a model: it plans its moves when the user has spoken, and makes one for each line that it reads."""
import json, re, sys
def call(tool, **args):
    return {"call": {"tool": tool, "args": args}}
def plan(request):
    paths = re.findall(r"/srv[\w./-]*\w", request)
    if done := re.search(r"(?:tick off|have) the (.+?)(?: in |\.)", request):
        edit = {"oldText": f"- [ ] {done[1]}", "newText": f"- [x] {done[1]}"}
        reads = [call("read_text_file", path=path) for path in paths]
        return [*reads, call("edit_file", path=paths[-1], edits=[edit]), {"say": f"The {done[1]} is ticked off."}]
    if "archive" in request:
        move = call("move_file", source=paths[0] + "/report-draft.md", destination=paths[0] + "/archive/report-draft.md")
        return [call("list_directory", path=paths[0]), move, {"say": "I moved report-draft.md into the archive."}]
    tools = {"itself": "list_directory", "bytes": "get_file_info", "name": "search_files", "disk": "list_allowed_directories"}
    args = {"path": path for path in paths} | ({"pattern": "**/*draft*"} if "name" in request else {})
    return [call(tool, **args) for word, tool in tools.items() if word in request] or [{"say": "Glad to help."}]
for line in sys.stdin:
    last = json.loads(line)["news"][-1]
    moves = plan(last["user"]) if "user" in last else moves
    print(json.dumps(moves.pop(0)), flush=True)
