// Keys j and k choose a row, Enter opens it, / goes to the search, ? shows the keys. A reading lights the events it cites. A run in progress updates itself.
(() => {
  "use strict";
  const rows = () => [...document.querySelectorAll("tr[data-href]")];
  let at = -1;
  const choose = (n) => {
    const all = rows();
    if (!all.length) return;
    at = Math.max(0, Math.min(all.length - 1, n));
    all.forEach((row, i) => row.classList.toggle("chosen", i === at));
    all[at].scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest && event.target.closest("input,select,textarea");
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    if (event.key === "j") choose(at + 1);
    else if (event.key === "k") choose(at - 1);
    else if (event.key === "Enter" && at >= 0 && document.activeElement === document.body) {
      const link = rows()[at].querySelector("a");
      if (link) link.click();
    } else if (event.key === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) {
        search.focus();
        event.preventDefault();
      }
    } else if (event.key === "?") {
      const keys = document.getElementById("keys");
      if (keys) keys.open = !keys.open;
    }
  });
  document.addEventListener("click", (event) => {
    const reading = event.target.closest && event.target.closest("[data-events]");
    if (!reading) return;
    const cited = new Set(reading.dataset.events.split(" ").filter(Boolean));
    let first = null;
    const prefix = reading.dataset.prefix || "e";
    document.querySelectorAll("ol.timeline li[data-n]").forEach((li) => {
      if (!li.id.startsWith(prefix)) return;
      const lit = cited.has(li.dataset.n);
      li.classList.toggle("lit", lit);
      if (lit && !first) first = li;
    });
    if (first) {
      first.scrollIntoView({ block: "center" });
      event.preventDefault();
    }
  });
  const live = document.querySelector("[data-live]");
  if (live && window.EventSource) {
    const source = new EventSource(live.dataset.live);
    source.addEventListener("progress", (event) => {
      live.textContent = event.data;
    });
    source.addEventListener("complete", () => {
      source.close();
      location.reload();
    });
  }
})();
