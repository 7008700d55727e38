// Texts of attackers on every page and in the HTML report. Variables: VIEW_URL with its token, PAGES and REPORT as addresses.
import { check, finish, foreignMarkup, open, overflow, start } from "./browser.mjs";

const url = new URL(process.env.VIEW_URL);
const browser = await start();

await finish(browser, async () => {
  const { page, context, seen } = await open(browser, { viewport: { width: 400, height: 800 } }, null, url.origin);
  await page.goto(url.href);
  const marks = {};
  const test = async (address, statuses) => {
    const answer = await page.goto(address, { waitUntil: "load" });
    check(!answer || statuses.includes(answer.status()), `${address} answers ${answer && answer.status()}`);
    // Addresses that are not UTF-8 are refused in plain text, which a browser shows in a page of its own.
    if (answer && answer.status() === 400) {
      const kind = answer.headers()["content-type"];
      check(kind.startsWith("text/plain") && answer.headers()["x-content-type-options"] === "nosniff", `${address} answers 400 as ${kind}`);
      check(seen.filter((what) => !what.startsWith("console")).length === 0, `${address}: ${seen.slice(0, 5)}`);
      seen.length = 0;
      return;
    }
    const wrong = await foreignMarkup(page);
    check(wrong.length === 0, `${address}: ${wrong}`);
    check(seen.length === 0, `${address}: ${seen.slice(0, 5)}`);
    // Still a page: a heading in sight, nothing over it, nothing that widens it.
    const heading = page.locator("h1");
    check((await heading.count()) === 1 && (await heading.isVisible()), `${address} has no heading`);
    check((await overflow(page)) <= 1, `${address} is ${await overflow(page)} pixels too wide`);
    const path = new URL(address).pathname.replace(/\/runs\/[0-9a-f]{12}/, "/runs/ID").replace(/\/trials\/\d+/, "/trials/N");
    const kind = address === process.env.REPORT ? "report" : path;
    marks[kind] = (marks[kind] || 0) + (await page.evaluate(() => document.body.textContent.split("pwned").length - 1));
  };
  for (const address of JSON.parse(process.env.PAGES)) await test(`${url.origin}${address}`, [200, 400, 404]);
  await page.goto(`${url.origin}/runs`);
  await page.keyboard.press("j");
  check((await page.locator("tr.chosen").count()) === 1, "the keys no longer work");
  await page.goto(process.env.REPORT);
  await test(process.env.REPORT, [200]);
  check(new URL(page.url()).protocol === "file:", "the report leads elsewhere");
  await context.close();
  return { pages: JSON.parse(process.env.PAGES).length + 1, marks };
});
