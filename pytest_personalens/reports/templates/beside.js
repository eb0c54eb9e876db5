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

function sideBySide(item, turns) {
  const from = parting(item);
  if (from === null) return make("ol", { class: "chat", "aria-label": title(DIALOGUE) }, turns);
  if (turns[from]) turns[from].classList.add("first-difference");
  return [
    from ? make("ol", { class: "chat", "aria-label": `${title(DIALOGUE)}, the part that is the same` }, turns.slice(0, from)) : null,
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
