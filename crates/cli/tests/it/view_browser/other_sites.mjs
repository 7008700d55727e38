// A page of another site in the browser of a user who is logged in: it must not read, frame, change or open anything of the viewer.
import http from "node:http";
import { check, finish, start } from "./browser.mjs";

const url = new URL(process.env.VIEW_URL);
const site = http.createServer((request, answer) => answer.writeHead(200, { "content-type": "text/html" }).end("<h1>attacker</h1>"));
await new Promise((done) => site.listen(0, "127.0.0.1", done));
const port = site.address().port;
const browser = await start(["--host-resolver-rules=MAP attacker.test 127.0.0.1"]);

await finish(browser, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  check((await page.goto(url.href)).status() === 200, "not logged in");
  const secret = await page.locator("tbody th code").first().innerText();
  const wrong = [];
  let attempts = 0;
  const answers = new Map();
  page.on("response", (response) => answers.set(response.url(), response.status()));
  const attempt = async (what, leaks) => {
    attempts += 1;
    const found = await leaks();
    if (found) wrong.push(`${what}: ${found}`);
  };
  // Another port of this machine is the same site for cookies; attacker.test is another one.
  for (const from of [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, `http://attacker.test:${port}/`]) {
    await page.goto(from);
    const read = (mode, credentials) =>
      page.evaluate(([target, mode, credentials]) => fetch(target, { mode, credentials }).then((answer) => answer.text(), () => ""), [`${url.origin}/runs`, mode, credentials]);
    await attempt(`fetch from ${from}`, () => read("cors", "include"));
    await attempt(`opaque fetch from ${from}`, async () => (await read("no-cors", "include")) || (answers.get(`${url.origin}/runs`) === 200 && "answered 200"));
    await attempt(`frame in ${from}`, async () => {
      await page.setContent(`<iframe src="${url.origin}/runs"></iframe>`);
      await page.waitForTimeout(300);
      const frame = page.frames()[1];
      return (await frame.content().catch(() => "")).includes(secret) && "framed";
    });
    await attempt(`script and image from ${from}`, async () => {
      answers.clear();
      await page.setContent(`<script src="${url.origin}/runs"></script><img src="${url.origin}/static/style.css">`);
      await page.waitForTimeout(200);
      return [...answers.values()].includes(200) && "answered 200";
    });
    await attempt(`form from ${from}`, async () => {
      await page.goto(from);
      await page.setContent(`<form method="post" action="${url.origin}/runs"><button>x</button></form>`);
      await Promise.all([page.waitForLoadState("load"), page.click("button")]).catch(() => {});
      await page.waitForTimeout(200);
      return (await page.content()).includes(secret) && "posted";
    });
    await attempt(`window of ${from}`, async () => {
      await page.goto(from);
      const opened = context.waitForEvent("page");
      const text = page.evaluate(
        (target) =>
          new Promise((done) => {
            const other = window.open(target);
            setTimeout(() => {
              try {
                done(other.document.body.textContent);
              } catch {
                done("");
              }
            }, 300);
          }),
        `${url.origin}/runs`,
      );
      await (await opened).close().catch(() => {});
      return (await text).includes(secret) && "read";
    });
  }
  // A name of the attacker that now resolves to this machine, on the port of the viewer.
  await attempt("rebinding", async () => {
    const answer = await page.goto(`http://attacker.test:${url.port}/runs`);
    return (answer.status() === 200 || (await page.content()).includes(secret)) && `${answer.status()}`;
  });
  const stranger = await browser.newContext();
  const other = await stranger.newPage();
  for (const address of ["/runs", "/runs?token=wrong", `${url.pathname}${url.search}`, "/static/style.css"]) {
    await attempt(`stranger at ${address}`, async () => {
      const answer = await other.goto(`${url.origin}${address}`);
      return (answer.status() === 200 || (await other.content()).includes(secret)) && `${answer.status()}`;
    });
  }
  // The user of the viewer is not locked out by all this.
  check((await page.goto(`${url.origin}/runs`)).status() === 200, "the user is locked out");
  check(wrong.length === 0, wrong.join("\n"));
  return { attempts, refused: attempts - wrong.length };
});
site.close();
