// What ties the page together: the address, the keys, and paper.

const report = document.getElementById("report");
const article = document.getElementById("dialogue");
const form = document.getElementById("filters");
const search = document.getElementById("q");
let open = null;
let scrolled = 0;
const TITLE = document.title;

function address() {
  const fields = location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1).replace(/\+/g, "%2B")) : new URLSearchParams();
  return fields;
}

// The filters as they stand, in the address: what is on the screen can be sent to somebody. Browsers allow few changes a
// second, so that of somebody who types only the last counts.
let waiting = 0;

function rememberSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(remember, 300);
}

function remember() {
  clearTimeout(waiting);
  if (open) return;
  const fields = new URLSearchParams(Object.entries({ q: state.q, ...state.filters }).filter(([, value]) => value));
  history.replaceState(null, "", fields.size ? `#${fields.toString().replace(/\+/g, "%20")}` : location.pathname + location.search);
}

function openItem(item) {
  if (!dialogues) return; // follow() comes back to it
  const before = open;
  if (!before) scrolled = window.scrollY;
  open = item;
  const here = rowOf(item);
  if (here >= 0) state.row = here;
  const step = (by) => () => neighbour(by);
  const copy = navigator.clipboard ? make("button", { type: "button", class: "copy", title: commandFor(item) }, "Copy command") : null;
  copy?.addEventListener("click", () => navigator.clipboard.writeText(commandFor(item)).then(() => { copy.textContent = "Copied"; }, () => {}));
  article.replaceChildren(
    make("nav", { class: "top", "aria-label": `${title(DIALOGUE)}s` },
      make("button", { type: "button", id: "close", "aria-keyshortcuts": "Escape", title: "Esc", onclick: closeItem }, "← Report"),
      make("span", { class: "place" }, here >= 0 ? `${(here + 1).toLocaleString("en")} of ${state.rows.length.toLocaleString("en")}` : "not among those found"),
      make("button", { type: "button", "aria-label": `Previous ${DIALOGUE}`, "aria-keyshortcuts": "k", title: "k", disabled: here <= 0, onclick: step(-1) }, "↑"),
      make("button", { type: "button", "aria-label": `Next ${DIALOGUE}`, "aria-keyshortcuts": "j", title: "j", disabled: here < 0 || here + 1 >= state.rows.length, onclick: step(1) }, "↓"), copy),
    ...dialogue(item).flat());
  document.title = `${plain(item.scenario)} · ${TITLE}`;
  report.hidden = true;
  article.hidden = false;
  window.scrollTo({ top: 0, behavior: "instant" });
  document.getElementById("dialogue-head").focus({ preventScroll: true });
}

function closeItem() {
  if (!open) return;
  leave();
  remember();
}

// Back to the report, where it was left, with the focus on the row of what was read.
function leave() {
  open = null;
  document.title = TITLE;
  article.hidden = true;
  article.replaceChildren();
  report.hidden = false;
  window.scrollTo({ top: scrolled, behavior: "instant" });
  if (state.rows.length) focusRow(state.row);
}

function neighbour(by) {
  const here = rowOf(open);
  const next = here < 0 ? null : state.rows[here + by];
  if (next) {
    history.replaceState(null, "", linkTo(next));
    openItem(next);
  }
}

function follow() {
  const wanted = address();
  if (wanted.has("item")) {
    const item = byId.get(wanted.get("item"));
    document.getElementById("missing").hidden = Boolean(item);
    if (item && item !== open) openItem(item);
    if (!item && open) leave();
    return;
  }
  if (open) leave();
  if (location.hash.includes("=")) {
    restore(wanted);
    show();
    document.getElementById("scenarios").scrollIntoView();
  } else if (location.hash.length > 1) {
    const place = document.getElementById(location.hash.slice(1));
    for (const fold of place?.querySelectorAll(".folded") || []) fold.open = true;
    place?.scrollIntoView();
  }
}

function restore(fields) {
  search.value = state.q = fields.get("q") || "";
  for (const [name, , choices] of FILTERS) {
    const value = fields.get(name) || "";
    state.filters[name] = choices.some(([one]) => one === value) ? value : "";
    const select = form.elements.namedItem(name);
    if (select) select.value = state.filters[name];
  }
  if (FILTERS.some(([name]) => name !== "status" && state.filters[name])) document.getElementById("more-filters").open = true;
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  const key = event.key;
  if (key === "Escape") {
    if (typing && article.contains(event.target)) event.target.blur();
    else if (open) closeItem();
    else if (typing && search.value) {
      search.value = state.q = "";
      show();
      remember();
    } else if (typing) event.target.blur();
  } else if (typing) {
    if (event.target === search && (key === "Enter" || key === "ArrowDown")) {
      event.preventDefault();
      focusRow(0);
    }
  } else if (key === "/") {
    event.preventDefault();
    if (open) closeItem();
    search.focus();
    search.select();
  } else if (open) {
    if (key === "j" || key === "ArrowRight") neighbour(1);
    else if (key === "k" || key === "ArrowLeft") neighbour(-1);
  } else if (key === "j" || key === "k" || ((key === "ArrowDown" || key === "ArrowUp") && table.contains(event.target))) {
    const at = table.tBodies[0].contains(event.target) ? state.row : -1;
    event.preventDefault();
    focusRow(at < 0 ? state.page * pageSize() : state.row + (key === "j" || key === "ArrowDown" ? 1 : -1));
  }
}

// A table that is wider than its frame fades at the right, and a line below says so, until its end is in sight.
function watchWidth(frame) {
  const hint = make("p", { class: "more-columns", "aria-hidden": "true" }, "more columns →");
  frame.after(hint);
  const tell = () => {
    const left = frame.scrollWidth - frame.clientWidth - frame.scrollLeft;
    frame.classList.toggle("overflows", left > 2);
    hint.hidden = left <= 2;
  };
  frame.addEventListener("scroll", tell, { passive: true });
  new ResizeObserver(tell).observe(frame);
}

function start() {
  for (const [name, label, choices] of FILTERS.filter(([name]) => name !== "status")) {
    const select = make("select", { name }, choices.map(([value, words]) => make("option", { value }, plain(words))));
    select.addEventListener("change", () => { state.filters[name] = select.value; show(); remember(); });
    document.getElementById("choices").append(make("label", {}, label, select));
  }
  for (const id of ["filters", "keys"]) document.getElementById(id).hidden = !data.items.length;
  search.addEventListener("input", () => { state.q = search.value; show(); rememberSoon(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("clear").addEventListener("click", () => {
    restore(new URLSearchParams());
    show();
    remember();
    search.focus();
  });
  document.getElementById("more").addEventListener("click", () => { showMany(); focusRow(FIRST); });
  document.getElementById("more-filters").hidden = !document.getElementById("choices").childElementCount;
  document.getElementById("back").addEventListener("click", () => turnPage(-1));
  document.getElementById("forth").addEventListener("click", () => turnPage(1));
  table.tBodies[0].addEventListener("click", (event) => {
    const link = event.target.closest("a") || event.target.closest("tr")?.querySelector("a");
    if (link && !event.target.closest("a") && !String(getSelection())) location.hash = link.getAttribute("href");
  });
  table.addEventListener("focusin", (event) => {
    const line = event.target.closest("tbody tr");
    if (line) state.row = state.page * pageSize() + line.sectionRowIndex;
  });
  document.querySelectorAll(".scroll").forEach(watchWidth);
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", follow);
  const folds = [...document.querySelectorAll(".folded:not([open])")];
  const fold = (shown) => folds.forEach((one) => { one.open = shown; });
  window.addEventListener("beforeprint", () => { if (!open) { draw(true); fold(true); } for (const one of document.querySelectorAll("details.lead")) one.open = true; });
  window.addEventListener("afterprint", () => { if (!open) { draw(false); fold(false); } });
  if (location.hash.includes("=")) restore(address());
  show();
  performance.mark("ready");
  // The table is on the screen before anything else is read.
  requestAnimationFrame(() => setTimeout(load));
}

async function load() {
  try {
    await unpack();
  } catch (error) {
    const message = document.getElementById("missing");
    message.textContent = `The ${DIALOGUE}s cannot be unpacked (${error}): this browser may be older than 2023.`;
    message.hidden = false;
    return;
  }
  performance.mark("unpacked");
  if (state.q) show();
  follow();
  // What a search looks through is put together while nobody waits for it.
  const idle = window.requestIdleCallback || ((f) => setTimeout(f, 50));
  let next = 0;
  const prepare = () => {
    const until = performance.now() + 12;
    while (next < data.items.length && performance.now() < until) wordsOf(data.items[next++]);
    if (next < data.items.length) idle(prepare);
  };
  idle(prepare);
  document.documentElement.dataset.ready = "true";
}

start();
