// First paint of every page in Chromium. Called by scripts/bench-view.py with VIEW_ORIGIN, COOKIE and PAGES.
import { start } from "../crates/cli/tests/it/view_browser/browser.mjs";

const [name, value] = process.env.COOKIE.split("=");
const browser = await start();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
await context.addCookies([{ name, value, url: process.env.VIEW_ORIGIN }]);
const page = await context.newPage();
console.log("first paint in Chromium, ms (largest of 5):");
for (const [label, address] of Object.entries(JSON.parse(process.env.PAGES))) {
  const times = [];
  for (let n = 0; n < 5; n += 1) {
    await page.goto(`${process.env.VIEW_ORIGIN}${address}`);
    const paint = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    times.push(await paint.jsonValue());
  }
  console.log(`  ${label.padEnd(24)}${Math.max(...times).toFixed(0).padStart(6)}`);
}
await browser.close();
