// Takes the pictures of scripts/screenshots. Variables: VIEW_URL, RUN, ATTACKED, IMAGES.
import { start } from "../crates/cli/tests/it/view_browser/browser.mjs";

const url = new URL(process.env.VIEW_URL);
const short = (id) => id.trim().slice(0, 12);
const [run, attacked] = [short(process.env.RUN), short(process.env.ATTACKED)];
const browser = await start();
const context = await browser.newContext({ colorScheme: "light" });
const page = await context.newPage();
await page.goto(url.href);
const at = (path) => page.goto(`${url.origin}${path}`);

// A trial of an agent that moved money, with misses; and the comparison with the reference before it.
await at(`/runs/${run}/trials?outcome=failed&suite=behavior&scorer=simulate_first`);
if (!(await page.locator("tbody th a").count())) await at(`/runs/${run}/trials?outcome=failed&suite=behavior`);
const trial = await page.locator("tbody th a").first().getAttribute("href");
await at("/runs");
const ids = await page.locator("tbody th a code").allInnerTexts();
const reference = ids[ids.length - 1];
const pictures = { run: `/runs/${run}`, trial, compare: `/compare?a=${reference}&b=${run}`, redteam: `/runs/${attacked}/redteam` };
for (const [name, address] of Object.entries(pictures)) {
  for (const [width, height] of [[1280, 1000], [400, 900]]) {
    await page.setViewportSize({ width, height });
    await at(address);
    await page.screenshot({ path: `${process.env.IMAGES}/view-${name}-${width}.png` });
  }
}
await browser.close();
