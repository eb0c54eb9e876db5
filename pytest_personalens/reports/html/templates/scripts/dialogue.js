// One dialogue: the chat with the judge's evidence at its turns, and beside it the verdicts and who the user is.

const LONG = 6000;
const SHORT = 60;

// Where a quote stands in a message: its words with any space between them, as far as it was kept.
function placeOf(words, quote) {
  const kept = quote.endsWith("...") ? [quote, quote.slice(0, -3)] : [quote];
  for (const version of kept) {
    const pattern = version.trim().split(/\s+/).map((w) => w.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+");
    const match = pattern && words.match(new RegExp(pattern, "u"));
    if (match) return [match.index, match.index + match[0].length];
  }
  return null;
}

// The message's text, with the quotes in it marked; a mark knows the numbers of the quotes that it is part of.
function marked(words, quotes) {
  const spans = quotes.map((q, n) => [placeOf(words, q), n]).filter(([span]) => span);
  const every = [0, words.length, ...spans.flatMap(([span]) => span)];
  const edges = [...new Set(every.filter((edge) => edge <= words.length))].sort((a, b) => a - b);
  return edges.slice(1).map((end, n) => {
    const part = shown(words.slice(edges[n], end));
    const within = spans.filter(([span]) => span[0] <= edges[n] && end <= span[1]).map(([, number]) => number);
    return within.length ? make("mark", { "data-quotes": ` ${within.join(" ")} ` }, part) : part;
  });
}

// A quote that is marked above needs no more than its first words.
function lead(quote) {
  const words = plain(quote);
  return words.length <= 44 ? words : `${words.slice(0, words.lastIndexOf(" ", 42) > 20 ? words.lastIndexOf(" ", 42) : 40)}…`;
}

// The evidence in one message, a line for each thing it shows; who points at a line sees its words.
function remarks(quotes, element) {
  const lines = new Map();
  quotes.forEach(([quote, note, dims], n) => {
    const key = `${dims.join(", ")}\n${note}`;
    lines.set(key, [...(lines.get(key) || []), [n, quote]]);
  });
  return make("ul", { class: "why", "aria-label": "Evidence" }, [...lines].map(([key, parts]) => {
    const [dims, note] = key.split("\n");
    const line = make("li", {}, make("b", {}, dims), note ? ` ${plain(note)}: ` : ": ", parts.map(([, quote], n) => [n ? ", " : null, make("q", {}, lead(quote))]));
    const light = (on) => () => parts.forEach(([n]) => element.querySelectorAll(`mark[data-quotes~="${n}"]`).forEach((m) => m.classList.toggle("lit", on)));
    line.addEventListener("mouseenter", light(true));
    line.addEventListener("mouseleave", light(false));
    return line;
  }));
}

// Message number -> [quote, note, columns of the dimensions that rest on it], each quote and note once; faults of the user too.
function evidenceOf(item) {
  const found = new Map();
  for (const verdict of item.verdicts || []) {
    for (const [turn, quote, note] of verdict.evidence || []) {
      if (!found.has(turn)) found.set(turn, new Map());
      const key = `${quote} ${note}`;
      const entry = found.get(turn).get(key) || [text(quote), text(note), []];
      const column = dimensionOf.get(verdict.dim).column;
      if (!entry[2].includes(column)) entry[2].push(column);
      found.get(turn).set(key, entry);
    }
  }
  for (const [turn, quote, note] of item.faults || []) {
    if (!found.has(turn)) found.set(turn, new Map());
    found.get(turn).set(`fault ${quote} ${note}`, [text(quote), text(note), ["user fault"]]);
  }
  // The reading by turn rests on what P rests on.
  for (const entries of found.values()) for (const entry of entries.values()) if (entry[2].includes("P")) entry[2] = entry[2].filter((c) => c !== "P last");
  return found;
}

function bubble(words, quotes) {
  const element = make("div", { class: "bubble", dir: "auto" });
  if (words.length <= LONG) {
    element.append(...marked(words, quotes).flat(3));
    return [element];
  }
  // Not within a surrogate pair.
  const cut = /[\ud800-\udbff]/.test(words[LONG - 1]) ? LONG - 1 : LONG;
  element.append(...marked(words.slice(0, cut), quotes).flat(3), "…");
  const more = make("button", { type: "button", class: "more" }, `Show all ${words.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => {
    element.replaceChildren(...marked(words, quotes).flat(3));
    more.remove();
  });
  return [element, more];
}

// What the assistant did before it said this, folded: each call and its result.
function actions(calls) {
  return make("details", { class: "calls" }, make("summary", {}, `${calls.length} tool call${calls.length > 1 ? "s" : ""}`),
    make("ol", {}, calls.map(([call, result]) => make("li", {}, make("code", {}, plain(text(call))), result == null ? " no result" : [" → ", make("code", {}, plain(text(result)))]))));
}

// What the system held after the dialogue, folded: each value at its path.
function held(state) {
  return make("details", { class: "calls state" }, make("summary", {}, "The system then holds"),
    make("table", {}, make("tbody", {}, state.map(([path, value]) => make("tr", {}, make("th", { scope: "row" }, plain(text(path))), make("td", {}, plain(text(value))))))));
}

function chat(item) {
  const evidence = evidenceOf(item);
  const byTurn = (item.verdicts || []).find((v) => v.turns);
  const turns = [];
  // The score after a goodbye is lower for what the user said of the reply before: it would stand at the wrong one.
  const counted = byTurn ? byTurn.turns.length - (["user", "unserved"].includes(item.end) ? 1 : 0) : 0;
  let replies = 0;
  (item.messages || []).forEach(([assistant, number, calls], turn) => {
    const quotes = [...(evidence.get(turn) || new Map()).values()];
    const body = bubble(text(number), quotes.map(([quote]) => quote));
    const p = assistant && replies < counted ? byTurn.turns[replies] : null;
    const took = assistant && item.times ? item.times[replies] : null;
    if (assistant) replies += 1;
    turns.push(make("li", { class: assistant ? "assistant" : "user", id: `turn-${turn}`, tabindex: "-1" },
      item.sessions && turn in item.sessions ? make("h3", { class: "session" }, `Session of ${text(item.sessions[turn])}`) : null,
      make("span", { class: "speaker" }, speaker(assistant, turn), p == null ? null : make("span", { class: "turn-p" }, ` · P ${p} after this turn`), took == null ? null : make("span", { class: "turn-p" }, ` · ${took.toFixed(1)} s`)),
      calls ? actions(calls) : null, body, quotes.length ? remarks(quotes, body[0]) : null));
  });
  return [sideBySide(item, turns), item.state ? held(item.state) : null, truthBeside(item)];
}

// Beside which truth the reply is read, in a suite whose items have one.
function truthOf(item) {
  const s = scenarioOf(item);
  const fact = ((s && s.facts) || []).find(([name]) => name === "truth");
  return fact ? text(fact[1]) : null;
}

function truthBeside(item) {
  const truth = truthOf(item);
  return truth === null ? null : make("ol", { class: "chat" }, make("li", { class: "assistant truth" }, make("span", { class: "speaker" }, "Truth"), bubble(truth, [])));
}

function goTo(turn) {
  const target = document.getElementById(`turn-${turn}`);
  if (!target) return;
  document.querySelectorAll(".chat .here").forEach((e) => e.classList.remove("here"));
  target.classList.add("here");
  for (const fold of document.querySelectorAll("details.lead")) fold.open ||= fold.contains(target);
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}

function readings(item) {
  return make("ul", { class: "readings" }, (item.verdicts || []).map((v) => {
    const d = dimensionOf.get(v.dim);
    const turns = [...new Set((v.evidence || []).map(([turn]) => turn))].sort((a, b) => a - b);
    const flip = (item.flips || []).find(([key]) => key === v.dim);
    const pips = d.high === 1 || d.high === null ? null : make("span", { class: "pips", "aria-hidden": "true" }, "●".repeat(v.score) + "○".repeat(d.high - v.score));
    return make("li", { "data-dim": v.dim },
      make("div", { class: "head" }, make("span", {}, d.name), make("span", { class: short(item, d) ? "cut" : null }, pips, scoreText(d, v.score), d.high === 1 || d.high === null ? null : ` of ${d.high}`)),
      flip ? make("p", { class: flip[2] > flip[1] ? "good" : "bad" }, `${scoreBefore(d, flip[1])} before, ${scoreBefore(d, flip[2])} now`) : null,
      make("p", {}, plain(text(v.why)), turns.length ? " · " : null,
        turns.map((turn, n) => [n ? ", " : null, make("a", { href: `#turn-${turn}`, onclick: (event) => { event.preventDefault(); goTo(turn); } }, `turn ${turn}`)])),
      v.goalParts ? make("ul", { class: "goal-parts plain" }, v.goalParts.map(([done, words, turn]) => make("li", { class: done ? null : "bad" }, done ? "✓ " : "✗ ", plain(text(words)), turn == null ? null : ` (turn ${turn})`))) : null,
      [["Observations", v.observed], ["Improvements", v.better]].map(([name, found]) => found ? make("details", {}, make("summary", {}, name), make("ul", { class: "plain" }, found.map((one) => make("li", {}, plain(text(one)))))) : null),
      v.unfound ? make("p", { class: "bad" }, v.unfound) : null,
      v.turns ? make("p", {}, `By turn: ${v.turns.join(", ")}`) : null,
      v.votes ? make("details", {}, make("summary", {}, `${v.votes.length} votes: ${v.votes.map(([s]) => s).join(", ")}`), make("ul", { class: "plain" }, v.votes.map(([s, why]) => make("li", {}, `${s}: ${plain(text(why))}`)))) : null);
  }));
}

function facts(pairs) {
  return make("dl", { class: "facts" }, pairs.map(([name, value]) => [make("dt", {}, plain(name)), make("dd", {}, plain(value))]));
}

// Whether the assistant could know this part of the context, as a remark beside its heading.
function known(item, letter) {
  const whose = item.givenUser ? `the assistant had ${item.givenUser}'s instead` : "known to the assistant";
  return make("span", { class: "soft" }, (item.given || "").includes(letter) ? whose : "not known to the assistant");
}

// What is known of an item that has no profile of its user.
function answered(item, s) {
  return [make("h2", {}, "This item"), facts([["user", item.user], ...(s.facts || []).map(([name, told]) => [name, text(told)]).filter(([name, told]) => name !== "truth" || told.length <= SHORT), ...(item.had ? [["the assistant had", item.had]] : [])])];
}

function person(item) {
  const s = scenarioOf(item);
  if (!s) return [make("h2", {}, "Who asks"), facts([["User", item.user], ["Task", item.task]]), make("p", { class: "soft" }, "These results hold no profile of this user.")];
  if (!s.task) return answered(item, s);
  const wanted = new Set(s.task.relevant.map(([domain, name]) => `${domain}\n${name}`));
  const label = (name) => name.replace(/_/g, " ");
  return [
    make("h2", {}, "The task"),
    facts([["Wants", s.task.intent], ["Done when", s.task.goal]]),
    make("h2", {}, "Preferences ", make("span", { class: "soft" }, "known from past interactions")),
    Object.entries(s.preferences || {}).map(([domain, types]) => [make("h3", {}, plain(domain)), make("dl", { class: "facts" }, Object.entries(types).map(([name, values]) =>
      [make("dt", { class: wanted.has(`${domain}\n${name}`) ? "wanted" : null }, plain(name)), make("dd", {}, plain(values.join(", ") || "none"))]))]),
    wanted.size ? make("p", { class: "soft" }, "In bold: those that matter to this task.") : null,
    fates(item),
    make("h2", {}, "Past interactions ", known(item, "I")),
    Object.entries(s.summaries || {}).map(([domain, summary]) => make("details", {}, make("summary", {}, plain(domain)), make("p", {}, plain(summary)))),
    make("h2", {}, "Right now ", known(item, "S")),
    facts(Object.entries(s.situation || {}).map(([k, v]) => [label(k), v])),
    make("h2", {}, plain(s.name || item.user), " ", known(item, "D")),
    facts(Object.entries(s.demographics || {}).map(([k, v]) => [label(k), v])),
  ];
}

// P, or the first score that the item has in a suite without it.
function mainScore(item) {
  if (dimensionOf.has("personalization")) return `P ${item.scores.get("personalization") ?? "–"}`;
  const d = columns.find((one) => item.scores.has(one.key));
  return d ? `${d.column} ${scoreText(d, item.scores.get(d.key))}` : "";
}

function others(item) {
  const family = (byKey.get(item.key) || []).filter((i) => i !== item).sort((a, b) => (a.control || "").localeCompare(b.control || "") || (a.trial || 1) - (b.trial || 1));
  if (!family.length) return null;
  return make("ul", { class: "others", "aria-label": DIALOGUE === ITEM ? `This ${ITEM} in other settings and trials` : `Other ${DIALOGUE}s of this ${ITEM}` }, family.map((i) =>
    make("li", {}, make("a", { href: linkTo(i) }, i.control ? `control: ${CONTROLS[i.control] || i.control}` : data.controlLabel && !i.trial ? CONTROLS[""] : `trial ${i.trial || 1}`), ` ${STATUS[i.status][0]} `, make("span", { class: "soft" }, mainScore(i)))));
}

function dialogue(item) {
  const s = scenarioOf(item);
  const [sign, word, tone] = STATUS[item.status];
  const about = [item.name, item.domains.join(", "), s && s.situation && [s.situation.day_of_week, s.situation.time_of_day].filter((part) => part !== "unknown").join(" "), item.control && `control: ${CONTROLS[item.control] || item.control}`, (item.trial || (!data.controlLabel && (byKey.get(item.key) || []).length > 1)) && `trial ${item.trial || 1}`].filter(Boolean);
  return [
    make("header", { class: "who" },
      make("h1", { id: "dialogue-head", tabindex: "-1" }, plain(item.scenario), make("span", { class: `status ${tone}` }, `${sign} ${word}${item.failed ? ", test failed" : ""}`)),
      make("p", { class: "soft" }, plain(about.join(" · "))),
      s && s.task ? make("p", {}, plain(s.task.description)) : null,
      item.verdicts ? make("p", { class: "scores" }, columns.filter((d) => item.scores.has(d.key)).map((d) =>
        make("span", { class: short(item, d) ? "bad" : null }, make("b", {}, `${d.column} `), scoreText(d, item.scores.get(d.key)), d.high === 1 || d.high === null ? null : `/${d.high}`))) : null,
      item.shortfalls ? make("p", { class: "bad" }, `Below: ${plain(item.shortfalls.map(([, words]) => words).join(", "))}`) : null,
      item.cause ? make("p", { class: "fault" }, plain(`Not scored, ${item.cause}: ${item.detail || ""}`)) : null,
      others(item)),
    make("div", { class: "sides" },
      item.verdicts ? make("section", { class: "beside verdicts", "aria-label": "Verdicts" }, make("h2", {}, "Verdicts"), readings(item)) : null,
      make("section", { class: "said", "aria-label": title(DIALOGUE) }, make("h2", { class: "unseen" }, title(DIALOGUE)), item.messages ? chat(item) : make("p", { class: "soft" }, "Nothing was said."), make("p", { class: "end" }, item.messages && (data.hasTurns || item.end !== "user") ? ENDS[item.end] : null)),
      make("section", { class: "beside profile", "aria-label": "Profile" },
        person(item),
        make("h2", {}, "This test"),
        facts([["Test", item.id], ["Run it", commandFor(item)], ["Agents", ["user", "assistant", JUDGE].map((who, n) => `${who}: ${text(item.by[n]) || (n === 1 ? "yours" : "–")}`).join("; ")],
          ...(COSTS.length ? [["Models", COSTS.map(([key, label, words]) => `${label} ${words(item[key] || 0)}`).join(", ")]] : []),
          ...(item.record ? [["Record", item.record]] : []), ...(item.file ? [[item.record === "stale" ? `Older ${DIALOGUE}` : "File", item.file]] : [])]))),
  ];
}
