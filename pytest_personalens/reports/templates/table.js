// The table of scenarios: filters, search, sorting, pages.

const PAGE = 100;
const MOST_PRINTED = 1000;
// What P was after each turn is told in the dialogue; here it would only repeat P.
const columns = dimensions.filter((d) => d.key !== "personalization_turns");
// `found` are the dialogues, `rows` one of each scenario: its trials share a row, and the first of them in order stands for all.
const state = { q: "", filters: {}, sort: "worst", down: false, page: 0, found: data.items, rows: data.items, row: 0 };
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

// Outcomes that cost nothing: the heat map leads to them.
function usedWell() {
  const costs = new Set(data.reasons.map(([code]) => code));
  const codes = [...new Set(data.items.flatMap((i) => i.reasons.map(([code]) => code)))];
  return codes.filter((code) => !costs.has(code) && data.outcomes[code]).map((code) => [code, `a preference is ${data.outcomes[code]}`, (i) => gave(i, code)]);
}

// The filters that can tell items of this run apart: name, label, and the choices with what each keeps.
function filters() {
  const own = (item) => !item.arm;
  const list = [];
  const arms = new Set(data.items.map((i) => i.arm || ""));
  if (arms.size > 1) {
    list.push(["arm", data.armLabel || "Control", [["", CONTROLS[""], own], ...[...arms].filter((a) => a).map((a) => [a, CONTROLS[a] || a, (i) => i.arm === a]), ["all", `all ${DIALOGUE}s`, () => true]]]);
  }
  const statuses = [["low", "low score", (i) => i.status === "low"], ["uncounted", "not scored", (i) => i.status === "uncounted"],
    ["passed", "passed", (i) => i.status === "passed"], ["failed", "test failed", (i) => i.failed]].filter(([, , keep]) => data.items.some(keep));
  if (statuses.length > 1) list.push(["status", "Status", [["", "any"], ...statuses]]);
  const answers = [...new Set(data.items.map((i) => i.answer))].filter(Boolean).sort();
  if (answers.length > 1) list.push(["answer", "Answer", [["", "any"], ...answers.map((a) => [a, a, (i) => i.answer === a])]]);
  const causes = [...new Set(data.items.map((i) => i.cause))].filter(Boolean).sort();
  if (causes.length) list.push(["cause", "Cause", [["", "any"], ...causes.map((c) => [c, c, (i) => i.cause === c])]]);
  const lost = [...new Set(data.items.map((i) => i.lost))].filter(Boolean).sort();
  if (lost.length) list.push(["lost", "Lost to the user", [["", "any"], ["all", "lost to the user", (i) => i.lost], ...lost.map((l) => [l, `user ${l}`, (i) => i.lost === l])]]);
  const changes = [["worse", "worse", (i) => moved(i, false)], ["better", "better", (i) => moved(i, true)]].filter(([, , keep]) => data.items.some(keep));
  if (changes.length) list.push(["change", "Since before", [["", "any"], ...changes]]);
  if (data.reasons.length) list.push(["reason", "Reason", [["", "any"], ...data.reasons.map(([code, words]) => [code, words, (i) => gave(i, code)]), ...usedWell()]]);
  if (preferences.length) list.push(["preference", "Preference", [["", "any"], ...preferences.map((p) => [p, p, (i) => gave(i, state.filters.reason || "", p)])]]);
  const domains = [...new Set(data.items.flatMap((i) => i.domains))].sort();
  if (domains.length > 1) list.push(["domain", "Domain", [["", "any"], ...domains.map((d) => [d, d, (i) => i.domains.includes(d)])]]);
  const kinds = [...new Set(data.items.map((i) => i.kind))];
  if (kinds.length > 1) list.push(["kind", "Kind", [["", "any"], ...kinds.map((k) => [k, data.kindNames[k] || k, (i) => i.kind === k])]]);
  const scores = [...new Set(data.items.map((i) => i.scores.get("personalization")))].filter((s) => s != null).sort();
  if (data.items.some((i) => i.beforeP && i.beforeP !== i.scores.get("personalization"))) {
    const old = [...new Set(data.items.map((i) => i.beforeP))].filter(Boolean).sort();
    list.push(["before", "Personalization before", [["", "any"], ...old.map((s) => [String(s), String(s), (i) => i.beforeP === s])]]);
  }
  if (scores.length > 1) list.push(["p", "Personalization", [["", "any"], ...scores.map((s) => [String(s), String(s), (i) => i.scores.get("personalization") === s])]]);
  return list;
}

const FILTERS = filters();

function find() {
  const kept = FILTERS.map(([name, , choices]) => (choices.find(([value]) => value === (state.filters[name] || "")) || choices[0])[2]).filter(Boolean);
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const sort = SORTS[state.sort] || worst;
  state.found = data.items.filter((item) => kept.every((keep) => keep(item)) && words.every((word) => wordsOf(item).includes(word)));
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
const place = (item) => `${item.key} ${item.arm || ""}`;

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

function cell(item, d) {
  const flip = (item.flips || []).find(([key]) => key === d.key);
  const parts = [scoresText(item, d)];
  if (flip) {
    const up = flip[2] > flip[1];
    parts.push(make("span", { class: up ? "good" : "bad", title: `from ${scoreNumber(flip[1])}` }, up ? " ▲" : " ▼", make("span", { class: "unseen" }, `from ${scoreNumber(flip[1])}`)));
  }
  return make("td", { class: `num${short(item, d) ? " cut" : ""}${data.main.includes(d.key) ? "" : " wide"}` }, parts);
}

function row(item) {
  const [sign, word, tone] = STATUS[item.status];
  const about = [item.name, item.domains.join(", "), item.arm && `control: ${CONTROLS[item.arm]}`].filter(Boolean).join(" · ");
  const why = item.cause ? `${item.cause}: ${item.detail || ""}` : rowText(item.why);
  return make("tr", {},
    make("td", { class: tone }, make("span", { "aria-hidden": "true" }, `${sign} `), make("span", { class: item.failed ? "bad" : null }, item.failed && item.status === "passed" ? "test failed" : word)),
    make("th", { scope: "row", title: plain(rowText(item.wants)) || null }, make("a", { href: linkTo(item) }, plain(item.scenario)), pips(item), make("span", { class: "of" }, ` ${plain(about)}`),
      why ? make("span", { class: "about" }, plain(why)) : null),
    columns.map((d) => cell(item, d)),
    data.hasTurns ? make("td", { class: "num wide" }, String(item.turns)) : null,
    COSTS.map(([key, , words]) => make("td", { class: "num wide" }, words(spent(item, key)))));
}

function heading(key, label, classes) {
  const sorted = state.sort === key ? (state.down ? "descending" : "ascending") : null;
  const click = () => {
    state.down = state.sort === key && !state.down;
    state.sort = key;
    show();
    table.querySelector(`[data-sort="${key}"]`).focus();
  };
  return make("th", { scope: "col", class: classes, "aria-sort": sorted }, make("button", { type: "button", "data-sort": key, onclick: click }, label));
}

function draw(all) {
  const from = all ? 0 : state.page * PAGE;
  const to = all ? Math.min(state.rows.length, MOST_PRINTED) : Math.min(from + PAGE, state.rows.length);
  table.tHead.replaceChildren(make("tr", {}, heading("worst", "Status"), heading("scenario", title(ITEM)),
    columns.map((d) => heading(d.key, d.column, data.main.includes(d.key) ? "num" : "num wide")), data.hasTurns ? heading("turns", "Turns", "num wide") : null, COSTS.map(([key, label]) => heading(key, label, "num wide"))));
  table.tBodies[0].replaceChildren(...state.rows.slice(from, to).map(row));
  markHits(table.tBodies[0]);
  const count = (n) => n.toLocaleString("en");
  const total = data.items.length;
  document.getElementById("count").textContent = state.found.length === total ? `${count(total)} ${DIALOGUE}s` : `${count(state.found.length)} of ${count(total)} ${DIALOGUE}s`;
  if (state.rows.length < state.found.length) document.getElementById("count").append(` in ${count(state.rows.length)} rows`);
  if (all && to < state.rows.length) document.getElementById("count").append(`, the first ${count(to)} of them here`);
  document.getElementById("pages").hidden = state.rows.length <= PAGE;
  document.getElementById("page").textContent = `${count(from + 1)}–${count(to)} of ${count(state.rows.length)}`;
  document.getElementById("back").disabled = !state.page;
  document.getElementById("forth").disabled = to >= state.rows.length;
  document.getElementById("rows-frame").hidden = !state.found.length;
  document.getElementById("none").hidden = Boolean(state.found.length || !total);
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
  const page = Math.floor(number / PAGE);
  if (page !== state.page) {
    state.page = page;
    draw(false);
  }
  state.row = number;
  const link = table.tBodies[0].rows[number % PAGE].querySelector("a");
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest", behavior: "instant" });
}
