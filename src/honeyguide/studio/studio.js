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

const keys = one("#keys");
for (const button of all("[data-keys]")) button.addEventListener("click", () => keys.showModal());

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
  if (event.key === "?" && !keys.open) keys.showModal();
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
      if (target.tagName.startsWith("poly")) target.setAttribute("points", said);
      else target.textContent = said;
    }
    for (const target of all("[data-live-html]", place)) {
      const drawn = (value.html || {})[target.dataset.liveHtml];
      if (drawn !== undefined) target.innerHTML = drawn;
    }
    if (value.dot !== undefined) one("[data-live-dot]", place).className = `dot ${value.dot}`;
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
  if (answer.said) sayLabels(answer.said, answer.sites > 0);
  refresh();
});

function sayLabels(said, any) {
  for (const place of all("[data-label-status]")) place.textContent = said;
  for (const button of all("form[data-save=labels] > button")) button.disabled = !any;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const row = document.activeElement.closest("tr, li") || one("tr:hover, li:hover");
  const buttons = row ? all("button[data-label]", row) : [];
  const button = buttons[["1", "2", "3"].indexOf(event.key)];
  if (button) button.click();
});

// --- saving ---

for (const form of all("form[data-save]")) {
  const status = one("[data-save-status]", form);
  const button = (words, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  };
  const save = async (replace) => {
    const answer = await post("/what-if/save", { what: form.dataset.save, path: form.elements.path.value, replace });
    status.textContent = answer.said || answer.error.join(" ");
    if (answer.labels) sayLabels(answer.labels, true);
    if (!answer.exists) return;
    const yes = button("Replace it", () => save(true));
    status.append(yes, button("Keep it", () => (status.textContent = "Nothing was written. Choose another name.")));
    yes.focus();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(false);
  });
}

// --- what if ---

for (const button of all("button[data-try]")) {
  button.addEventListener("click", async () => {
    const answer = await post("/what-if/profile", { key: button.dataset.try, value: JSON.parse(button.dataset.value) });
    if (answer.problems && !answer.problems.length) location.assign("/what-if");
    else button.replaceWith(answer.error ? answer.error.join(" ") : answer.problems[0].what);
  });
}

const whatIf = one("[data-what-if]");
let running = null;
let waiting = null; // a field that was changed and is not sent yet, with its timer
let sent = Promise.resolve(); // changes are sent one after the other, so that none is lost
let version = whatIf ? Number(whatIf.dataset.whatIf) : 0;

// Line numbers beside the text; the lines of mistakes are marked.
function number(wrong = []) {
  const text = one("#toml");
  const lines = text.value.split("\n").map((_, place) => {
    const line = document.createElement("div");
    line.textContent = place + 1;
    line.classList.toggle("is-wrong", wrong.includes(place + 1));
    return line;
  });
  one(".gutter").replaceChildren(...lines);
  one(".gutter").scrollTop = text.scrollTop;
}

const sameWords = (a, b) => a.split("\n").filter(Boolean).sort().join("\n") === b.split("\n").filter(Boolean).sort().join("\n");
const isChanged = (field) => (field.type === "number" ? Number(field.value) !== Number(field.dataset.was) : !sameWords(field.value, field.dataset.was));

function restore(field) {
  field.value = field.dataset.was;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function back(field, words, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => restore(field));
  return button;
}

// Marks the controls that differ from the profile of the pick, and lists them.
function mark() {
  const chips = [];
  for (const field of all("[data-control]")) {
    const row = field.closest(".field");
    const changed = isChanged(field);
    row.classList.toggle("is-changed", changed);
    const old = one(".was", row);
    if (!changed) {
      if (old) old.remove();
      continue;
    }
    const { name, was } = field.dataset;
    const isNumber = field.type === "number";
    const undo = `Undo the change of ${name}`;
    if (!old) {
      const said = document.createElement("div");
      said.className = "was";
      said.append(isNumber ? `was ${was}` : "changed", back(field, "Undo", undo));
      row.append(said);
    }
    const chip = document.createElement("li");
    chip.append(isNumber ? `${name} ${was} → ${field.value}` : name, back(field, "×", undo));
    chips.push(chip);
  }
  one("[data-what-if-changes]").replaceChildren(...chips);
}

function show(answer) {
  const problems = answer.error ? answer.error.map((what) => ({ line: null, what })) : answer.problems;
  const said = problems.map(({ line, what }) => {
    const item = document.createElement("p");
    item.textContent = line ? `Line ${line}: ${what}` : what;
    return item;
  });
  one("#problems").replaceChildren(...said);
  one("#toml").setAttribute("aria-invalid", String(problems.length > 0));
  if (problems.length) return number(problems.map(({ line }) => line));
  version = answer.version;
  const text = one("#toml");
  if (document.activeElement !== text) text.value = answer.toml;
  for (const field of all("[data-control]")) {
    const value = answer.controls[field.dataset.control];
    const isTyped = document.activeElement === field || (waiting && waiting.field === field);
    if (!isTyped && value !== undefined) field.value = Array.isArray(value) ? value.join("\n") : value;
  }
  const undo = one("[data-undo]");
  undo.disabled = answer.toml === undo.dataset.undo;
  number();
  mark();
  return refresh();
}

function refresh() {
  if (!whatIf || !version) return;
  if (running) running.close();
  const sites = one("[data-what-if-sites]");
  const status = one("[data-what-if-status]");
  const inView = all("h3", sites).slice(0, 20).map((head) => head.textContent);
  const found = [];
  status.textContent = "Picking again…";
  sites.setAttribute("aria-busy", "true");
  running = listen(`/what-if/events?first=${encodeURIComponent(inView.join("\n"))}`, (value) => {
    if (value.error) status.textContent = value.error;
    else if (value.finished) {
      sites.innerHTML = found.join("") || '<div class="empty"><p>No pick of any site changes.</p></div>';
      sites.setAttribute("aria-busy", "false");
      one("[data-what-if-figures]").innerHTML = value.html;
      status.textContent = `${value.changed} of ${value.of} ${value.of === 1 ? "site changes" : "sites change"}.`;
    } else {
      found.push(...value.html);
      if (value.html.length && found.length <= 12) sites.innerHTML = found.join("");
      status.textContent = `${value.changed} of ${value.done} sites change; ${value.of - value.done} to go…`;
    }
  });
}

function send(field) {
  if (waiting && waiting.field === field) waiting = null;
  const isNumber = field.type === "number";
  if (isNumber && !Number.isFinite(field.valueAsNumber)) return;
  const value = isNumber ? field.valueAsNumber : field.value.split("\n");
  const change = field.id === "toml" ? { toml: field.value } : { key: field.dataset.control, value };
  const lost = () => (one("[data-what-if-status]").textContent = "The studio does not answer: was it ended?");
  sent = sent.then(async () => show(await post("/what-if/profile", change))).catch(lost);
}

if (whatIf) {
  const text = one("#toml");
  whatIf.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.matches("[data-control], #toml")) return;
    if (field === text) number();
    else mark();
    if (waiting) clearTimeout(waiting.timer);
    if (waiting && waiting.field !== field) send(waiting.field);
    waiting = { field, timer: setTimeout(() => send(field), 150) };
  });
  text.addEventListener("scroll", () => (one(".gutter").scrollTop = text.scrollTop));
  one("[data-find-control]").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of all(".field", whatIf)) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    for (const group of all(".controls details")) {
      group.hidden = !one(".field:not([hidden])", group);
      if (words.length) group.open = true;
    }
  });
  one("[data-undo]").addEventListener("click", async (event) => {
    event.target.focus();
    show(await post("/what-if/profile", { toml: event.target.dataset.undo }));
  });
  one("form.controls").addEventListener("submit", (event) => event.preventDefault());
  one("[data-undo]").disabled = text.value === one("[data-undo]").dataset.undo;
  number();
  mark();
  refresh();
}
