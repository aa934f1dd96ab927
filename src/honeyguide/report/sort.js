"use strict";
const sites = [...document.querySelectorAll("details.site")];
const tools = document.querySelector("form.tools");
const filter = document.getElementById("filter");
const order = document.getElementById("order");
const last = sites.length ? sites[sites.length - 1].nextSibling : null;
const name = (site) => site.querySelector("summary b").textContent;
const picks = (site) => site.querySelectorAll(".in > ol.pages:first-of-type > li").length;
const keys = {
  number: (site) => Number(site.id.slice(1)),
  name,
  status: (site) => site.dataset.status,
  fewest: picks,
};
tools.hidden = sites.length < 2;
tools.addEventListener("submit", (event) => event.preventDefault());
// The summary and the picks of a site: what a reader looks for. Read once, because a report may have thousands of sites.
const said = (site) => [...site.querySelectorAll(":scope > summary, .in > ol.pages:first-of-type")].map((part) => part.textContent);
let texts = null;
let waiting = 0;
filter.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(narrow, 120);
});
function narrow() {
  texts = texts || sites.map((site) => said(site).join(" ").toLowerCase());
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  sites.forEach((site, place) => {
    const hidden = !words.every((word) => texts[place].includes(word));
    if (site.hidden !== hidden) site.hidden = hidden;
    shown += !hidden;
  });
  document.getElementById("shown").textContent = words.length ? `${shown} of ${sites.length}` : "";
}
order.addEventListener("change", () => {
  const sorted = sites.map((site) => [keys[order.value](site), keys.number(site), site]);
  sorted.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]));
  const all = document.createDocumentFragment();
  const parent = sites[0].parentNode;
  all.append(...sorted.map(([, , site]) => site));
  parent.insertBefore(all, last);
});
