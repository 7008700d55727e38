// Every page, search, filters, paging, keys, a live run, dark mode, no JavaScript, 400 pixels. Variables: VIEW_URL with its token, PAGES as JSON.
import { axe, check, finish, foreignMarkup, open, overflow, start } from "./browser.mjs";

const url = new URL(process.env.VIEW_URL);
const origin = url.origin;
const names = JSON.parse(process.env.PAGES);
const browser = await start();

await finish(browser, async () => {
  const desk = await open(browser, { viewport: { width: 1280, height: 900 } }, null, origin);
  const first = await desk.page.goto(url.href);
  check(first.status() === 200, `the printed address answers ${first.status()}`);
  check(!desk.page.url().includes("token"), "the address still has the token");
  const cookies = await desk.context.cookies();
  check(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === "Strict", `cookie ${JSON.stringify(cookies)}`);

  // The other pages are found by links, as people find them.
  const { page } = desk;
  const link = async (selector) => {
    const href = await page.locator(selector).first().getAttribute("href");
    check(href, `no ${selector} on ${page.url()}`);
    return href;
  };
  await page.goto(`${origin}/runs`);
  const run = names.run;
  const pages = ["/runs", run, names.sliced, names.attacked, `${run}/trials`, "/search", "/search?q=transfer", "/compare", names.compare, "/redteam", `${names.attacked}/redteam`, "/production", "/production?window=7d", "/workspace"];
  await page.goto(`${origin}${run}/trials`);
  const trial = await link("tbody th a");
  pages.push(trial, `${trial}/raw`, `${trial}/input`);
  await page.goto(`${origin}${names.compare}`);
  pages.push(await link("a[href^='/compare/trials']"));

  const sizes = {};
  const looks = [
    ["light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
    ["dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" }],
    ["narrow", { viewport: { width: 400, height: 800 } }],
  ];
  for (const [look, options] of looks) {
    const view = await open(browser, options, cookies, origin);
    for (const address of pages) {
      const name = `${look} ${address}`;
      const answer = await view.page.goto(`${origin}${address}`);
      check(answer.status() === 200, `${name} answers ${answer.status()}`);
      if (look === "light") sizes[address] = (await answer.body()).length;
      check((await view.page.locator("h1").count()) === 1, `${name} has no heading`);
      const wrong = await foreignMarkup(view.page);
      check(wrong.length === 0, `${name}: ${wrong}`);
      check((await overflow(view.page)) <= 1, `${name} is ${await overflow(view.page)} pixels too wide`);
      await axe(view.page, name);
    }
    const background = await view.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check((look === "dark") === (background === "rgb(13, 17, 23)"), `${look}: background ${background}`);
    check(view.seen.length === 0, `${look}: ${view.seen.slice(0, 5)}`);
    await view.context.close();
  }

  // Keys.
  await page.goto(`${origin}${run}/trials`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  const chosen = () => page.evaluate(() => [...document.querySelectorAll("tr[data-href]")].findIndex((row) => row.classList.contains("chosen")));
  check((await chosen()) === 0, `j j k chose row ${await chosen()}`);
  await page.keyboard.press("?");
  check(await page.locator("#keys").evaluate((keys) => keys.open), "? does not show the keys");
  await page.keyboard.press("/");
  check(await page.evaluate(() => document.activeElement.name === "q"), "/ does not go to the search");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/trials\/\d+$/);

  // A click on a reading lights the events it cites.
  await page.goto(`${origin}${run}/trials?outcome=failed`);
  const failed = await page.locator("tbody th a").evaluateAll((links) => links.slice(0, 20).map((one) => one.getAttribute("href")));
  for (const address of failed) {
    await page.goto(`${origin}${address}`);
    if (await page.locator("[data-events]").count()) break;
  }
  const reading = page.locator("[data-events]").first();
  const cited = (await reading.getAttribute("data-events")).split(" ");
  await reading.click();
  const lit = await page.locator("ol.timeline li.lit").evaluateAll((items) => items.map((item) => item.dataset.n));
  check(JSON.stringify([...lit].sort()) === JSON.stringify([...new Set(cited)].sort()), `lit ${lit}, cited ${cited}`);

  // Search and filters, from the form to the address.
  await page.goto(`${origin}/search`);
  await page.fill("input[name=q]", names.word);
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=/);
  const hits = await page.locator("tbody tr").count();
  check(hits > 0, `nothing has the word ${names.word}`);
  check((await page.locator("tbody").innerText()).toLowerCase().includes(names.word), "no hit shows the word");
  await page.goto(`${origin}/search?q=${names.word}+nowhereatall`);
  check((await page.locator("tbody tr").count()) === 0, "all words must occur");
  await page.goto(`${origin}${run}/trials?outcome=failed`);
  const failing = await page.locator("tbody tr").count();
  check(failing > 0 && (await page.locator("span.badge.passed").count()) === 0, "the filter by outcome lets others through");
  await page.goto(`${origin}${run}/trials?min_ms=99999999`);
  check((await page.locator("tbody tr").count()) === 0, "the filter by time lets others through");
  await page.goto(`${origin}${run}/trials?min_usd=1000`);
  check((await page.locator("tbody tr").count()) === 0, "the filter by cost lets others through");
  await page.goto(`${origin}${run}/trials?max_ms=0`);
  check((await page.locator("tbody tr").count()) === 0, "the upper bound of time lets others through");
  await page.goto(`${origin}${run}/trials?max_usd=0`);
  check((await page.locator("tbody tr").count()) > 0, "trials without cost cost 0");
  for (const filter of [`tool=${names.tool}`, `scorer=${names.scorer}`, `suite=${names.suite}`, `case=${names.case}`, `tag=${names.tag}`, "subject=baseline"]) {
    await page.goto(`${origin}/search?${filter}`);
    const some = await page.locator("tbody tr").count();
    check(some > 0, `nothing for ${filter}`);
    const [key] = filter.split("=");
    await page.goto(`${origin}/search?${key}=nothing_has_this_name`);
    check((await page.locator("tbody tr").count()) === 0, `${key} does not filter`);
  }
  // What a page promises is on it.
  const parts = {
    "/runs": ["svg.spark"],
    [run]: ["div.block >> nth=4", "svg.range", "text=Confused tools", "text=Failed cases by cause", "svg.bars"],
    [names.sliced]: ["text=/× profile/", "text=/× agent/", "text=/× skill/", "text=/× chain, passed trials/", "table.heat"],
    [`${names.attacked}`]: ["text=OWASP category by channel", "table.heat"],
    [`${names.attacked}/redteam`]: ["text=severity", "text=/^(critical|high|medium|stopped)$/", "text=Text of the attack", "text=USD"],
    [names.compare]: ["text=Cases that flipped", "text=p, adjusted"],
    "/production": ["svg.course", "text=Window:", "text=Cost and latency"],
    "/workspace": ["svg.graph", "#gates", "#skills", "#tools"],
  };
  for (const [address, wanted] of Object.entries(parts)) {
    await page.goto(`${origin}${address}`);
    for (const part of wanted) check((await page.locator(part).count()) > 0, `${address} lacks ${part}`);
  }
  await page.goto(`${origin}${run}`);
  const group = page.locator("details", { has: page.locator("summary", { hasText: /^(tool|wrong|rule) / }) }).first();
  await group.locator("summary").click();
  check((await group.locator("li a[href*='/trials?case=']").count()) > 0, "a cause lists no cases");

  // Pages of trials follow each other without gaps or repetitions.
  const all = [];
  let next = `${run}/trials`;
  while (next) {
    await page.goto(`${origin}${next}`);
    all.push(...(await page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.dataset.href))));
    next = (await page.locator("a[rel=next]").count()) ? await page.locator("a[rel=next]").getAttribute("href") : null;
  }
  check(all.length === names.trials && new Set(all).size === names.trials, `${all.length} trials on the pages, ${names.trials} in the run`);

  // Without JavaScript.
  const plain = await open(browser, { javaScriptEnabled: false }, cookies, origin);
  await plain.page.goto(`${origin}/search`);
  await plain.page.fill("input[name=q]", names.word);
  await plain.page.click("form button");
  check((await plain.page.locator("tbody tr").count()) === hits, "the search needs JavaScript");
  await plain.page.click("tbody th a >> nth=0");
  check((await plain.page.locator("ol.timeline > li").count()) > 0, "a trial needs JavaScript");
  await plain.page.click("nav a >> nth=0");
  check((await plain.page.locator("tbody tr").count()) > 1, "the list of runs needs JavaScript");

  // A run in progress updates itself and ends by itself.
  console.error("live");
  let live = null;
  for (let n = 0; !live && n < 100; n += 1) {
    await page.goto(`${origin}/runs`);
    const row = page.locator("tr", { hasText: "not complete" });
    if (await row.count()) live = await row.locator("th a").first().getAttribute("href");
    else await page.waitForTimeout(100);
  }
  check(live, "no run in progress is listed");
  await page.goto(`${origin}${live}`);
  check((await page.locator("[data-live]").count()) === 1, "the run is not in progress");
  await page.waitForFunction(() => document.querySelector("[data-live]")?.textContent.includes("left"), null, { timeout: 20000 });
  const progress = await page.evaluate(() => document.querySelector("[data-live]")?.textContent ?? "");
  await page.waitForFunction(() => !document.querySelector("[data-live]"), null, { timeout: 60000 });

  check(desk.seen.length === 0, `${desk.seen.slice(0, 5)}`);
  return { pages: pages.length, sizes, progress };
});
