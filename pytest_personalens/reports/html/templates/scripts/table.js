// The table of scenarios: filters, search, sorting, pages.

const PAGE = 100;
// So many rows stand under the headline until somebody asks for more, searches or filters.
const FIRST = 10;
const MOST_PRINTED = 1000;
// What P was after each turn is told in the dialogue; here it would only repeat P.
const columns = dimensions.filter((d) => d.key !== "personalization_turns");
// `found` are the dialogues, `rows` one of each scenario: its trials share a row, and the first of them in order stands for all.
const state = { many: false, q: "", filters: {}, sort: "worst", down: false, page: 0, found: data.items, rows: data.items, row: 0 };
const table = document.getElementById("rows");
const RANK = { low: 0, uncounted: 1, passed: 2 };

const worst = (item) => [item.failed ? 0 : 1, RANK[item.status], item.scores.get("task_completion") ?? 9, item.scores.get("personalization") ?? 9];
// What models cost, where any did: the fields of an item, their heads, and how they are written.
const COSTS = [["tokens", "Tokens", (n) => n.toLocaleString("en")], ["usd", "US$", (n) => n.toFixed(4)]].filter(([key]) => data.items.some((i) => i[key]));
// Over the trials that share a row.
const spent = (item, key) => trialsOf(item).reduce((sum, i) => sum + (i[key] || 0), 0);
const SORTS = {
  worst: worst,
  scenario: (item) => [item.scenario, item.trial || 1],
  turns: (item) => [item.turns],
  tokens: (item) => [-spent(item, "tokens")],
  usd: (item) => [-spent(item, "usd")],
};
for (const d of columns) SORTS[d.key] = (item) => [item.scores.get(d.key) ?? 99];

function moved(item, up) {
  return (item.flips || []).some(([, before, after]) => (up ? after > before : after < before));
}

// True if the judge gave that reason for the item's scores, about that preference if one is named.
function gave(item, code, preference) {
  return item.reasons.some(([c, about]) => (!code || c === code) && (!preference || rowText(about) === preference));
}

const preferences = [...new Set(data.items.flatMap((i) => i.reasons.map(([, about]) => rowText(about))))].filter(Boolean).sort();

// The filters that can tell items of this run apart: name, label, and the choices with what each keeps.
function filters() {
  const own = (item) => !item.control;
  const list = [];
  const controls = new Set(data.items.map((i) => i.control || ""));
  if (controls.size > 1) {
    list.push(["control", data.controlLabel || "Control", [["", CONTROLS[""], own], ...[...controls].filter((a) => a).map((a) => [a, CONTROLS[a] || a, (i) => i.control === a]), ["all", `all ${DIALOGUE}s`, () => true]]]);
  }
  const statuses = [["low", "low score", (i) => i.status === "low"], ["passed", "passed", (i) => i.status === "passed"], ["uncounted", "not scored", (i) => i.status === "uncounted"],
    ["failed", "test failed", (i) => i.failed], ["flaky", "flaky", flaky]].filter(([, , keep]) => data.items.some(keep));
  if (statuses.length > 1) list.push(["status", "Status", [["", "all"], ...statuses]]);
  const answers = [...new Set(data.items.map((i) => i.answer))].filter(Boolean).sort();
  if (answers.length > 1) list.push(["answer", "Answer", [["", "any"], ...answers.map((a) => [a, a, (i) => i.answer === a])]]);
  const causes = [...new Set(data.items.map((i) => i.cause))].filter(Boolean).sort();
  if (causes.length) list.push(["cause", "Cause", [["", "any"], ...causes.map((c) => [c, c, (i) => i.cause === c])]]);
  const lost = [...new Set(data.items.map((i) => i.lost))].filter(Boolean).sort();
  if (lost.length) list.push(["lost", "Lost to the user", [["", "any"], ["all", "lost to the user", (i) => i.lost], ...lost.map((l) => [l, `user ${l}`, (i) => i.lost === l])]]);
  const changes = [["worse", "worse", (i) => moved(i, false)], ["better", "better", (i) => moved(i, true)]].filter(([, , keep]) => data.items.some(keep));
  if (changes.length) list.push(["change", "Since before", [["", "any"], ...changes]]);
  if (data.reasons.length) list.push(["reason", "Reason", [["", "any"], ...data.reasons.map(([code, words]) => [code, words, (i) => gave(i, code)])]]);
  const about = new Map();
  for (const item of data.items.filter(own)) for (const p of new Set(item.reasons.map(([, type]) => rowText(type)))) about.set(p, (about.get(p) || 0) + 1);
  if (preferences.length) list.push(["preference", "Preference", [["", "any"], ...preferences.map((p) => [p, `${p} (${about.get(p) || 0})`, (i) => gave(i, state.filters.reason || "", p)])]]);
  const domains = [...new Set(data.items.flatMap((i) => i.domains))].sort();
  if (domains.length > 1) list.push(["domain", "Domain", [["", "any"], ...domains.map((d) => [d, d, (i) => i.domains.includes(d)])]]);
  const kinds = [...new Set(data.items.map((i) => i.kind))];
  if (kinds.length > 1) list.push(["kind", "Kind", [["", "any"], ...kinds.map((k) => [k, data.kindNames[k] || k, (i) => i.kind === k])]]);
  const scores = [...new Set(data.items.map((i) => i.scores.get("personalization")))].filter((s) => s != null).sort();
  if (scores.length > 1) list.push(["p", "Personalization", [["", "any"], ...scores.map((s) => [String(s), `${s} (${data.items.filter((i) => own(i) && i.scores.get("personalization") === s).length})`, (i) => i.scores.get("personalization") === s])]]);
  return list;
}

// Some of its trials passed, and some did not.
const flaky = (item) => item.status !== "uncounted" && new Set(trialsOf(item).map((i) => i.status).filter((s) => s !== "uncounted")).size > 1;
const FILTERS = filters();
const TABS = (FILTERS.find(([name]) => name === "status") || [])[2] || [];

function find() {
  const kept = FILTERS.map(([name, , choices]) => (choices.find(([value]) => value === (state.filters[name] || "")) || choices[0])[2]).filter(Boolean);
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const sort = SORTS[state.sort] || worst;
  // Each tab says how many of those that all else leaves are behind it.
  const status = (TABS.find(([value]) => value === (state.filters.status || "")) || [])[2];
  const others = kept.filter((keep) => keep !== status);
  const behind = data.items.filter((item) => others.every((keep) => keep(item)) && words.every((word) => wordsOf(item).includes(word)));
  state.behind = TABS.map(([, , keep]) => (keep ? behind.filter(keep).length : behind.length));
  state.found = status ? behind.filter(status) : behind;
  const keyed = state.found.map((item) => [sort(item), item]);
  keyed.sort(([a], [b]) => {
    for (let n = 0; n < a.length; n++) if (a[n] !== b[n]) return (a[n] < b[n] ? -1 : 1) * (state.down ? -1 : 1);
    return 0;
  });
  state.found = keyed.map(([, item]) => item);
  const first = new Map(state.found.map((item) => [place(item), item]).reverse());
  state.rows = first.size === state.found.length ? state.found : state.found.filter((item) => first.get(place(item)) === item);
  state.page = 0;
  state.row = 0;
}

// What the trials of a scenario have in common.
function place(item) {
  return `${item.key} ${item.control || ""}`;
}

// Those with the same context, by number; the item alone where it ran once.
function trialsOf(item) {
  return byKey.get(item.key).filter((i) => place(i) === place(item)).sort((a, b) => (a.trial || 1) - (b.trial || 1));
}

// The row of an item, though another of its trials may stand for it; -1 if it was not found.
function rowOf(item) {
  return state.rows.findIndex((i) => place(i) === place(item));
}

function scoresText(item, d) {
  const scores = trialsOf(item).map((i) => i.scores.get(d.key)).filter((s) => s != null);
  if (scores.length < 2) return scoreText(d, scores[0]);
  return (scores.reduce((a, b) => a + b) / scores.length).toFixed(2);
}

function pips(item) {
  const trials = trialsOf(item);
  if (trials.length < 2) return null;
  return make("span", { class: "trials" }, trials.map((i, n) => {
    const [sign, word, tone] = STATUS[i.status];
    return make("a", { href: linkTo(i), class: tone, title: `trial ${n + 1}: ${word}` }, make("span", { "aria-hidden": "true" }, sign), make("span", { class: "unseen" }, `trial ${n + 1}: ${word}`));
  }));
}

// A kind of item has readings of its own: on a phone, where each stands with its name, those of other kinds are left out.
const READ = new Map();
for (const item of data.items) for (const [key, score] of item.scores) if (score != null) READ.set(item.kind, (READ.get(item.kind) || new Set()).add(key));
const foreign = (item, d) => READ.has(item.kind) && !READ.get(item.kind).has(d.key);

function cell(item, d) {
  const flip = (item.flips || []).find(([key]) => key === d.key);
  const parts = [scoresText(item, d)];
  if (flip) {
    const up = flip[2] > flip[1];
    parts.push(make("span", { class: up ? "good" : "bad", title: `from ${scoreNumber(flip[1])}` }, up ? " ▲" : " ▼", make("span", { class: "unseen" }, `from ${scoreNumber(flip[1])}`)));
  }
  return make("td", { role: "cell", "data-label": d.column, class: `num${short(item, d) ? " cut" : ""}${data.main.includes(d.key) && !foreign(item, d) ? "" : " wide"}` }, parts);
}

function row(item) {
  const [sign, word, tone] = STATUS[item.status];
  const about = [item.name, item.domains.join(", "), item.control && `control: ${CONTROLS[item.control]}`].filter(Boolean).join(" · ");
  const why = item.cause ? `${item.cause}: ${item.detail || ""}` : rowText(item.why);
  // On a phone each row is a block, which would take the roles of a table from its cells.
  return make("tr", { role: "row" },
    make("td", { role: "cell", class: tone }, make("span", { "aria-hidden": "true" }, `${sign} `), make("span", { class: item.failed ? "bad" : null }, item.failed && item.status === "passed" ? "test failed" : word)),
    make("th", { scope: "row", role: "rowheader", title: plain(rowText(item.wants)) || null }, make("a", { href: linkTo(item) }, plain(item.scenario)), pips(item), make("span", { class: "of" }, ` ${plain(about)}`),
      why ? make("span", { class: "about" }, plain(why)) : null),
    columns.map((d) => cell(item, d)),
    data.hasTurns ? make("td", { role: "cell", class: "num wide" }, String(item.turns)) : null,
    COSTS.map(([key, , words]) => make("td", { role: "cell", class: "num wide" }, words(spent(item, key)))));
}

function heading(key, label, classes) {
  const sorted = state.sort === key ? (state.down ? "descending" : "ascending") : null;
  const click = () => {
    state.down = state.sort === key && !state.down;
    state.sort = key;
    state.many = true;
    show();
    table.querySelector(`[data-sort="${key}"]`).focus();
  };
  return make("th", { scope: "col", role: "columnheader", class: classes, "aria-sort": sorted }, make("button", { type: "button", "data-sort": key, onclick: click }, label));
}

const pageSize = () => (state.many || state.q || Object.values(state.filters).some(Boolean) ? PAGE : FIRST);

function draw(all) {
  const size = pageSize();
  const from = all ? 0 : state.page * size;
  const to = all ? Math.min(state.rows.length, MOST_PRINTED) : Math.min(from + size, state.rows.length);
  table.tHead.replaceChildren(make("tr", { role: "row" }, heading("worst", "Status"), heading("scenario", title(ITEM)),
    columns.map((d) => heading(d.key, d.column, data.main.includes(d.key) ? "num" : "num wide")), data.hasTurns ? heading("turns", "Turns", "num wide") : null, COSTS.map(([key, label]) => heading(key, label, "num wide"))));
  table.tBodies[0].replaceChildren(...state.rows.slice(from, to).map(row));
  drawTabs();
  const count = (n) => n.toLocaleString("en");
  const total = data.items.length;
  document.getElementById("count").textContent = state.found.length === total ? `${count(total)} ${DIALOGUE}s` : `${count(state.found.length)} of ${count(total)} ${DIALOGUE}s`;
  if (state.rows.length < state.found.length) document.getElementById("count").append(` in ${count(state.rows.length)} rows`);
  if (all && to < state.rows.length) document.getElementById("count").append(`, the first ${count(to)} of them here`);
  const more = document.getElementById("more");
  more.hidden = size === PAGE;
  more.textContent = state.rows.length > PAGE ? `Show ${PAGE} of ${count(state.rows.length)}` : `Show all ${count(state.rows.length)}`;
  document.getElementById("pages").hidden = state.rows.length <= size;
  document.getElementById("page").textContent = size === PAGE ? `${count(from + 1)}–${count(to)} of ${count(state.rows.length)}` : "";
  for (const id of ["back", "forth"]) document.getElementById(id).hidden = size !== PAGE;
  document.getElementById("back").disabled = !state.page;
  document.getElementById("forth").disabled = to >= state.rows.length;
  document.getElementById("rows-frame").hidden = !state.found.length;
  document.getElementById("none").hidden = Boolean(state.found.length || !total);
}

function drawTabs() {
  const tabs = document.getElementById("tabs");
  tabs.hidden = TABS.length < 2;
  tabs.replaceChildren(...TABS.map(([value, words], n) => {
    const tab = make("button", { type: "button", "data-status": value, "aria-pressed": String((state.filters.status || "") === value) }, `${words} `, make("b", {}, state.behind[n].toLocaleString("en")));
    tab.addEventListener("click", () => { state.filters.status = value; show(); remember(); tabs.querySelector(`[data-status="${value}"]`).focus(); });
    return tab;
  }));
  const chosen = FILTERS.filter(([name]) => name !== "status" && state.filters[name]).length;
  document.getElementById("chosen").textContent = chosen ? `Filters (${chosen})` : "Filters";
}

function showMany() {
  state.many = true;
  draw(false);
}

function show() {
  find();
  draw(false);
}

function turnPage(by) {
  state.page += by;
  state.row = 0;
  draw(false);
}

// Move the focus to the row of that place among those found, on whichever page it is.
function focusRow(number) {
  if (number < 0 || number >= state.rows.length) return;
  if (number >= FIRST && pageSize() === FIRST) showMany();
  const page = Math.floor(number / pageSize());
  if (page !== state.page) {
    state.page = page;
    draw(false);
  }
  state.row = number;
  const link = table.tBodies[0].rows[number % pageSize()].querySelector("a");
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest", behavior: "instant" });
}
