// Then and now: what was said before this run, beside what is said now, from the reply that differs first.

const SOURCES = { record: "Before (record)", baseline: "Before (baseline)" };

// The number of the first message that is not what it was; null where nothing else is known, or nothing changed.
function parting(item) {
  if (!item.before) return null;
  const now = item.messages || [];
  const turn = now.findIndex(([who, words], n) => !item.before[n] || item.before[n][0] !== who || text(item.before[n][1]) !== text(words));
  return turn >= 0 ? turn : item.before.length > now.length ? now.length : null;
}

// The turns of a dialogue as elements; those before `from` are left out, and that one is marked.
function turnsBefore(item, from) {
  return item.before.slice(from).map(([assistant, words, calls], n) => make("li", { class: `${assistant ? "assistant" : "user"}${n ? "" : " first-difference"}` },
    make("span", { class: "speaker" }, speaker(assistant, from + n)), calls ? actions(calls) : null, bubble(text(words), [])));
}

// So many turns and more are folded where they stand before the one that matters.
const LONG_LEAD = 3;

// The turns before the one that matters.
function beforehand(turns, name) {
  const list = make("ol", { class: "chat", "aria-label": `${title(DIALOGUE)}, ${name}` }, turns);
  return turns.length < LONG_LEAD ? list : make("details", { class: "lead" }, make("summary", {}, `${turns.length} turns, ${name}`), list);
}

// The message that the first reply answers on which a low score rests; 0 where that is not known.
function firstCost(item) {
  const low = (item.verdicts || []).filter((v) => (item.short || []).includes(v.dim));
  const turns = low.flatMap((v) => (v.evidence || []).map(([turn]) => turn));
  return turns.length ? Math.max(0, Math.min(...turns) - 1) : 0;
}

function sideBySide(item, turns) {
  const from = parting(item);
  if (from === null) {
    const first = firstCost(item);
    return [first < LONG_LEAD ? null : beforehand(turns.splice(0, first), "before what cost the score"), make("ol", { class: "chat", "aria-label": title(DIALOGUE) }, turns)];
  }
  if (turns[from]) turns[from].classList.add("first-difference");
  return [
    from ? beforehand(turns.slice(0, from), "the part that is the same") : null,
    make("div", { class: "parted" },
      make("div", { class: "then" }, make("h3", {}, SOURCES[item.source]), make("ol", { class: "chat", "aria-label": `${title(DIALOGUE)} before` }, turnsBefore(item, from))),
      make("div", { class: "now" }, make("h3", {}, "Now"), turns[from] ? make("ol", { class: "chat", "aria-label": `${title(DIALOGUE)} now` }, turns.slice(from)) : make("p", { class: "soft" }, `The ${DIALOGUE} ends here.`))),
  ];
}

// How each preference was handled, by the judge's reasons: used, asked for, gone against.
const FATES = { applies: ["✓", "good"], anticipates: ["✓", "good"], "uses-stated": ["·", "soft"], ignores: ["–", "soft"], recites: ["–", "bad"], "asks-known": ["?", "bad"], contradicts: ["✕", "bad"] };

function fates(item) {
  const found = (item.verdicts || []).flatMap((v) => v.dim === "personalization" ? v.reasons || [] : []).filter(([, , type]) => type);
  if (!found.length) return null;
  return [make("h2", {}, "How they were handled"), make("ul", { class: "fates" }, found.map(([code, domain, type, value, , turn]) => {
    const [sign, tone] = FATES[code] || ["·", "soft"];
    return make("li", {}, make("span", { class: `sign ${tone}`, "aria-hidden": "true" }, sign), make("b", {}, plain(type)), " ", make("span", { class: tone }, data.outcomes[code] || code), value ? ` (${plain(value)})` : null,
      turn == null || code === "ignores" ? null : [", ", make("a", { href: `#turn-${turn}`, onclick: (event) => { event.preventDefault(); goTo(turn); } }, `turn ${turn}`)]);
  }))];
}
