// Chromium for the tests of the viewer: one browser, no connection but those to the viewer, and checks that every page must pass.
import { createRequire } from "node:module";
import fs from "node:fs";

const require = createRequire(`${process.env.TOOLS}/node_modules/`);
const { chromium } = require("playwright-core");
const axeSource = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export class Failure extends Error {}

export const check = (holds, what) => {
  if (!holds) throw new Failure(what);
};

export const start = (more = []) =>
  chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });

// Opens a context that notes scripts, dialogs, blocked content and requests to other hosts. Such requests are refused.
export const open = async (browser, options, cookies, origin) => {
  const context = await browser.newContext(options);
  if (cookies) await context.addCookies(cookies);
  const seen = [];
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if ((origin && url.startsWith(`${origin}/`)) || url.startsWith("file://")) return route.continue();
    seen.push(`request to ${url}`);
    return route.abort();
  });
  context.on("page", (page) => {
    page.on("dialog", (dialog) => {
      seen.push(`dialog ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("pageerror", (error) => seen.push(`script error ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (404|500)/.test(message.text())) seen.push(`console ${message.text()}`);
    });
    page.on("popup", () => seen.push("popup"));
  });
  if (!options || options.javaScriptEnabled !== false) {
    await context.exposeBinding("reportTrap", (_, what) => seen.push(what));
    await context.addInitScript(() => {
      Object.defineProperty(window, "pwned", { set: () => window.reportTrap("pwned was set"), get: () => undefined });
      document.addEventListener("securitypolicyviolation", (event) =>
        window.reportTrap(`blocked ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
      );
    });
  }
  return { context, seen, page: await context.newPage() };
};

// Fails if the page has markup that our pages never write: then a text became part of the document.
export const foreignMarkup = (page) =>
  page.evaluate(() => {
    const wrong = [];
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      if (/^(img|image|iframe|frame|object|embed|base|audio|video|source|template|math|foreignobject|animate|set|marquee|portal|textarea|applet)$/i.test(name))
        wrong.push(`<${name}>`);
      if (name === "script" && element.getAttribute("src") !== "/static/view.js") wrong.push("<script>");
      if (name === "style" && !document.querySelector("meta[http-equiv='Content-Security-Policy']")) wrong.push("<style>");
      if (name === "meta" && /refresh/i.test(element.getAttribute("http-equiv") || "")) wrong.push("<meta refresh>");
      for (const { name: key, value } of element.attributes) {
        if (/^on/i.test(key) || key === "style" || key === "srcdoc" || key === "formaction") wrong.push(`${name}[${key}]`);
        if ((key === "href" || key === "src" || key === "action" || key === "xlink:href") && !/^([/?#]|$)/.test(value)) wrong.push(`${name}[${key}=${value.slice(0, 60)}]`);
        if ((key === "href" || key === "action") && /^\/[/\\]/.test(value)) wrong.push(`${name}[${key}=${value.slice(0, 60)}]`);
      }
    }
    const hidden = /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u001b\u0000]/.exec(document.documentElement.textContent);
    if (hidden) wrong.push(`hidden character ${hidden[0].codePointAt(0).toString(16)}`);
    return wrong.slice(0, 5);
  });

export const axe = async (page, name) => {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] });
    return result.violations.map((one) => ({ id: one.id, impact: one.impact, at: one.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`) }));
  });
  const serious = found.filter((one) => one.impact === "serious" || one.impact === "critical");
  check(serious.length === 0, `${name}: ${JSON.stringify(serious, null, 1)}`);
  return found.length;
};

// Wider than the screen means that people must scroll sideways to read.
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

export const finish = async (browser, run) => {
  try {
    console.log(JSON.stringify(await run()));
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error.stack);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
};
