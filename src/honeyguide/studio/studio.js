// The studio's only script: filters and sorts tables, keys, live figures, and trying other rules. Everything is on pages without it, too.
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);

async function post(path, value) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
  return answer.json();
}

function listen(path, take) {
  const source = new EventSource(path);
  source.onmessage = (event) => {
    const value = JSON.parse(event.data);
    if (value.done === true || value.finished || value.error) source.close();
    take(value);
  };
  source.onerror = () => source.close();
  return source;
}

// --- tables ---

for (const input of all("input[data-filter]")) {
  const table = one(`table[data-name="${CSS.escape(input.dataset.filter)}"]`);
  const said = one(`[data-count="${CSS.escape(input.dataset.filter)}"]`);
  const rows = all("tbody tr", table).map((row) => [row, row.textContent.toLowerCase()]);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    said.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
}

for (const table of all("table.sortable")) {
  all("thead th", table).forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[place].textContent.trim();
      const number = (text) => (/^[-+]?[\d.,]+%?$/.test(text) ? Number(text.replace(/[,%]/g, "")) : NaN);
      const rows = all("tbody tr", table).map((row) => [row, value(row), number(value(row))]);
      rows.sort((a, b) => (Number.isNaN(a[2]) || Number.isNaN(b[2]) ? a[1].localeCompare(b[1]) : a[2] - b[2]));
      if (down) rows.reverse();
      table.tBodies[0].append(...rows.map(([row]) => row));
    });
  });
}

// --- keys ---

let chord = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const places = { p: "/pick", w: "/what-if", c: "/crawl", l: "/plan" };
  if (chord) {
    chord = false;
    if (places[event.key]) location.assign(places[event.key]);
    return;
  }
  chord = event.key === "g";
  const link = { n: "next", p: "prev" }[event.key];
  const there = link && one(`link[rel="${link}"]`);
  if (there) location.assign(there.href);
  const search = event.key === "/" && (one("input[data-filter]") || one("input[type=search]"));
  if (search) {
    event.preventDefault();
    search.focus();
  }
});

// --- a run that is being worked on ---

for (const place of all("[data-events]")) {
  listen(place.dataset.events, (value) => {
    for (const target of all("[data-live]", place)) {
      const said = value[target.dataset.live];
      if (said === undefined) continue;
      if (target.tagName === "polyline") target.setAttribute("points", said);
      else target.textContent = said;
    }
    for (const target of all("[data-live-html]", place)) {
      const drawn = (value.html || {})[target.dataset.liveHtml];
      if (drawn !== undefined) target.innerHTML = drawn;
    }
    if (value.error) one("[data-live=state]", place).textContent = value.error;
  });
}

// --- labels ---

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-label]");
  if (!button) return;
  const label = button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.label;
  const answer = await post("/what-if/label", { site: button.dataset.site, url: button.dataset.url, label });
  for (const other of all("button[data-label]")) {
    if (other.dataset.url === button.dataset.url && other.dataset.site === button.dataset.site) {
      other.setAttribute("aria-pressed", String(other.dataset.label === answer.label));
    }
  }
  refresh();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const row = document.activeElement.closest("tr, li") || one("tr:hover, li:hover");
  const buttons = row ? all("button[data-label]", row) : [];
  const button = buttons[["1", "2", "3"].indexOf(event.key)];
  if (button) button.click();
});

// --- what if ---

for (const button of all("button[data-try]")) {
  button.addEventListener("click", async () => {
    const answer = await post("/what-if/profile", { key: button.dataset.try, value: JSON.parse(button.dataset.value) });
    if (answer.problems && !answer.problems.length) location.assign("/what-if");
    else button.replaceWith(answer.error ? answer.error.join(" ") : answer.problems[0].what);
  });
}

const trial = one("[data-trial]");
let running = null;
let waiting = 0;
let version = trial ? Number(trial.dataset.trial) : 0;

function show(answer) {
  const problems = answer.error ? answer.error.map((what) => ({ line: null, what })) : answer.problems;
  const said = problems.map(({ line, what }) => {
    const item = document.createElement("p");
    item.textContent = line ? `Line ${line}: ${what}` : what;
    return item;
  });
  one("#problems").replaceChildren(...said);
  one("#toml").setAttribute("aria-invalid", String(problems.length > 0));
  if (problems.length) return;
  version = answer.version;
  const text = one("#toml");
  if (document.activeElement !== text) text.value = answer.toml;
  for (const field of all("[data-control]")) {
    const value = answer.controls[field.dataset.control];
    if (document.activeElement !== field && value !== undefined) field.value = Array.isArray(value) ? value.join("\n") : value;
  }
  refresh();
}

function refresh() {
  if (!trial || !version) return;
  if (running) running.close();
  const inView = all("[data-trial-sites] h3").slice(0, 20).map((head) => head.textContent);
  const sites = one("[data-trial-sites]");
  const found = [];
  one("[data-trial-status]").textContent = "Picking again…";
  running = listen(`/what-if/events?first=${encodeURIComponent(inView.join("\n"))}`, (value) => {
    if (value.error) one("[data-trial-status]").textContent = value.error;
    else if (value.finished) {
      sites.innerHTML = found.join("");
      one("[data-trial-figures]").innerHTML = value.html;
      one("[data-trial-status]").textContent = `${value.changed} of ${value.of} sites change.`;
    } else {
      if (value.html) found.push(value.html);
      if (value.html && found.length <= 5) sites.innerHTML = found.join("");
      one("[data-trial-status]").textContent = `${value.changed} of ${value.done} sites change; ${value.of - value.done} to go…`;
    }
  });
}

if (trial) {
  trial.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.matches("[data-control], #toml")) return;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      if (field.id === "toml") return show(await post("/what-if/profile", { toml: field.value }));
      if (field.type === "number" && !Number.isFinite(field.valueAsNumber)) return undefined;
      const value = field.type === "number" ? field.valueAsNumber : field.value.split("\n");
      return show(await post("/what-if/profile", { key: field.dataset.control, value }));
    }, 150);
  });
  for (const form of all("form[data-save]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const answer = await post("/what-if/save", { what: form.dataset.save, path: form.elements.path.value });
      one("[data-save-status]").textContent = answer.said || answer.error.join(" ");
    });
  }
  one("[data-undo]").addEventListener("click", async (event) => show(await post("/what-if/profile", { toml: event.target.dataset.undo })));
  one("form.controls").addEventListener("submit", (event) => event.preventDefault());
  refresh();
}
