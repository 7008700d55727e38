// Agent that tries to read what it must not, and answers with what it got.
import { createInterface } from "node:readline";
import { closeSync, openSync, readFileSync, readSync, readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";

const targets = JSON.parse(readFileSync(join(dirname(process.argv[1]), "targets.json")));
const parent = (pid) => Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ")[1]);

const attempts = {};
const attempt = (name, read) => {
  try {
    read();
    attempts[name] = "read";
  } catch (error) {
    attempts[name] = error.code ?? String(error);
  }
};
const head = (path) => {
  const file = openSync(path);
  try {
    // Address 0 of a process is not mapped; reading anything but that error means that its memory is open.
    try { readSync(file, Buffer.alloc(16)); } catch (error) { if (error.code !== "EIO") throw error; }
  } finally { closeSync(file); }
};
const process_files = (name, pid) => {
  attempt(`${name} environ`, () => { if (readFileSync(`/proc/${pid}/environ`).length === 0) throw new Error("empty"); });
  attempt(`${name} memory`, () => head(`/proc/${pid}/mem`));
  attempt(`${name} folder`, () => readlinkSync(`/proc/${pid}/cwd`));
  attempt(`${name} program`, () => head(`/proc/${pid}/exe`));
  attempt(`${name} descriptors`, () => readlinkSync(`/proc/${pid}/fd/${readdirSync(`/proc/${pid}/fd`)[0]}`));
};
const reach = (port) => new Promise((done) => {
  const socket = connect({ host: "127.0.0.1", port }, () => { socket.destroy(); done("read"); });
  socket.on("error", (error) => done(error.code));
});

for await (const line of createInterface({ input: process.stdin })) {
  const { hello } = JSON.parse(line);
  if (!hello) continue;
  let launcher = 0, evaluator = 0;
  attempt("process list", () => { launcher = process.ppid; evaluator = parent(launcher); });
  process_files("launcher", launcher);
  process_files("evaluator", evaluator || targets.evaluator);
  process_files("sibling", targets.sibling_process);
  for (const name of ["store", "case", "program", "sibling_token", "script"]) attempt(name, () => head(targets[name]));
  attempt("sibling signal", () => process.kill(targets.sibling_process, 0));
  attempts["foreign port"] = await reach(targets.port);
  attempts["our port"] = await reach(Number(new URL(hello.mcp.url).port));
  process.stdout.write(JSON.stringify({ say: JSON.stringify(attempts) }) + "\n");
}
