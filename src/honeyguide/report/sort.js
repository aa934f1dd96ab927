"use strict";
// Filters and sorts the sites of a report, or the pages of its first list. A site is text until it is opened, because a report may have
// thousands of them.
const sites = [...document.querySelectorAll("details.site")];
const tools = document.querySelector("form.tools");
const rows = sites.length || !tools ? sites : [...tools.nextElementSibling.querySelectorAll("ol.pages > li")];
const after = rows.length ? rows[rows.length - 1].nextSibling : null;
const within = (row, selector) => (row.querySelector(selector) || row).textContent;
const keys = {
  number: (row, place) => place,
  name: (row) => within(row, "summary b, a"),
  status: (row) => row.dataset.status || within(row, ".kind"),
  fewest: (row) => Number(row.dataset.picks),
};

function fill(site) {
  const kept = site.querySelector(":scope > noscript");
  if (!kept) return;
  site.insertAdjacentHTML("beforeend", kept.textContent);
  kept.remove();
}
document.addEventListener("toggle", (event) => event.target.open && event.target.matches("details.site") && fill(event.target), true);

function go() {
  const site = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (!site || !site.matches("details.site")) return;
  site.hidden = false;
  site.open = true;
  site.scrollIntoView();
}
window.addEventListener("hashchange", go);
go();

// What a reader looks for: the summary and the picks of a site, the whole of a page. Read once, when it is needed.
function said(row) {
  const kept = row.querySelector(":scope > noscript");
  if (!kept) return [...row.querySelectorAll(":scope > summary, .in > ol.pages:first-of-type")].map((part) => part.textContent).join(" ") || row.textContent;
  const picks = kept.textContent.split("</ol>", 1)[0].replace(/<[^>]*>/g, " ").replace(/&amp;/g, "&");
  return `${within(row, "summary")} ${picks}`;
}
let texts = null;
let waiting = 0;
function narrow(typed, shown) {
  texts = texts || rows.map((row) => said(row).toLowerCase());
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  rows.forEach((row, place) => {
    const hidden = !words.every((word) => texts[place].includes(word));
    if (row.hidden !== hidden) row.hidden = hidden;
    found += !hidden;
  });
  shown.textContent = words.length ? `${found} of ${rows.length}` : "";
}
function sort(key) {
  const sorted = rows.map((row, place) => [keys[key](row, place), place, row]);
  sorted.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]));
  const all = document.createDocumentFragment();
  const parent = rows[0].parentNode;
  all.append(...sorted.map(([, , row]) => row));
  parent.insertBefore(all, after);
}
if (tools) {
  const filter = document.getElementById("filter");
  const order = document.getElementById("order");
  tools.hidden = rows.length < 2;
  tools.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => narrow(filter.value, document.getElementById("shown")), 120);
  });
  order.addEventListener("change", () => sort(order.value));
}
