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
    make("span", { class: "speaker" }, speaker(assistant, from + n)), calls ? actions(calls) : null, bubble(text(words), [], wordDiff(item, from + n)?.then || [], "del")));
}

const MOST_WORDS = 1000;
const LEAST_SHARED = 0.3;

// The places of the words that two messages of the same speaker do not share; null where they share too little to say more than
// that they differ.
function wordDiff(item, turn) {
  const [then, now] = [item.before[turn], item.messages[turn]];
  if (!then || !now || then[0] !== now[0]) return null;
  const [a, b] = [then, now].map(([, words]) => [...text(words).matchAll(/\S+/g)]);
  if (!a.length || !b.length || a.length > MOST_WORDS || b.length > MOST_WORDS) return null;
  // The longest common subsequence, from the end.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) longest[i][j] = a[i][0] === b[j][0] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  }
  if (longest[0][0] < LEAST_SHARED * Math.max(a.length, b.length)) return null;
  const gone = [];
  const come = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i][0] === b[j][0]) [i, j] = [i + 1, j + 1];
    else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) gone.push(i++);
    else come.push(j++);
  }
  return { then: runs(a, gone), now: runs(b, come) };
}

// Neighbours among the words become one place.
function runs(words, numbers) {
  const found = [];
  numbers.forEach((number, n) => {
    const [from, to] = [words[number].index, words[number].index + words[number][0].length];
    if (n && numbers[n - 1] === number - 1) found.at(-1)[1] = to;
    else found.push([from, to]);
  });
  return found;
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
