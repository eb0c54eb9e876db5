// What a reader says of the judge's verdicts: kept in this browser, and saved as labels that `personalens agreement` reads.

const KEPT = `personalens-labels-${data.digest}`;
const READER = "personalens-reader";
const labels = keptLabels();

// Storage may be closed to pages from a file: then they last as long as the page is open.
function keptLabels() {
  try {
    return new Map(Object.entries(JSON.parse(stored(KEPT) || "{}")));
  } catch {
    return new Map();
  }
}

function keepLabel(item, dim, label) {
  const given = { ...labels.get(item.id), [dim]: label };
  if (!label) delete given[dim];
  if (Object.keys(given).length) labels.set(item.id, given);
  else labels.delete(item.id);
  stored(KEPT, JSON.stringify(Object.fromEntries(labels)));
  countLabels();
}

const labelled = () => data.items.filter((item) => labels.has(item.id));

function countLabels() {
  const number = labelled().reduce((sum, item) => sum + Object.keys(labels.get(item.id)).length, 0);
  for (const button of document.querySelectorAll(".save-labels")) {
    button.hidden = !number;
    button.textContent = `Save ${number} label${number === 1 ? "" : "s"}`;
  }
}

// A line of a file of labels: the scenario, the dialogue, and what the reader said of it.
function labelLine(item) {
  const given = Object.entries(labels.get(item.id));
  const scores = given.map(([dim, { score }]) => [dim, dimensionOf.get(dim).high === 1 ? Boolean(score) : score]);
  const why = given.map(([dim, label]) => label.why && (given.length > 1 ? `${dimensionOf.get(dim).column}: ${label.why}` : label.why)).filter(Boolean).join("; ");
  return JSON.stringify({
    id: item.id, whole: scenarioOf(item),
    dialogue: item.messages.map(([assistant, words], n) => (item.acts || {})[n] || { role: assistant ? "assistant" : "user", content: text(words) }),
    ...(["user", "unserved", "silence", "limit"].includes(item.end) ? { end: item.end } : {}),
    labels: { [stored(READER) || "reader"]: { ...Object.fromEntries(scores), why } },
  });
}

const labelLines = () => labelled().map((item) => `${labelLine(item)}\n`).join("");

function saveLabels() {
  saveFile("labels.jsonl", labelLines(), "application/jsonl");
}

const saveButton = () => make("button", { type: "button", class: "save-labels", hidden: true, title: "As a file for: personalens agreement", onclick: saveLabels });

// Below a verdict: what the reader says of it, or the buttons to say it.
function labelOf(item, verdict) {
  const d = dimensionOf.get(verdict.dim);
  if (!data.labelled.includes(verdict.dim) || !scenarioOf(item)?.task || item.messages.length < 2) return null;
  const place = make("div", { class: "label" });
  const button = (words, act) => make("button", { type: "button", onclick: act }, words);
  const keep = (label) => {
    keepLabel(item, verdict.dim, label);
    draw();
    place.querySelector("button").focus();
  };
  const ask = () => {
    const scores = make("select", {}, Array.from({ length: d.high - d.low + 1 }, (_, n) => d.low + n).filter((score) => score !== verdict.score).map((score) => make("option", { value: String(score) }, scoreText(d, score))));
    const why = make("input", { type: "text", maxlength: "300", autocomplete: "off" });
    const name = make("input", { type: "text", maxlength: "40", autocomplete: "off", value: stored(READER) || "" });
    const form = make("form", {}, make("label", {}, "Right is", scores), make("label", {}, "Why, in a few words", why), make("label", {}, "Your name", name),
      make("p", {}, make("button", { type: "submit" }, "Keep"), " ", button("Cancel", () => { draw(); place.querySelector("button").focus(); })));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      stored(READER, name.value.trim());
      keep({ score: Number(scores.value), why: why.value.trim() });
    });
    place.replaceChildren(form);
    scores.focus();
  };
  const draw = () => {
    const mine = (labels.get(item.id) || {})[verdict.dim];
    if (!mine) place.replaceChildren(button("This verdict is wrong", ask), " ", button("It is right", () => keep({ score: verdict.score, why: "" })));
    else place.replaceChildren(make("p", {}, "You say ", make("b", {}, scoreText(d, mine.score)), mine.why ? `: ${plain(mine.why)}` : null), button("Take it back", () => keep(null)), " ", saveButton());
    countLabels();
  };
  draw();
  return place;
}
