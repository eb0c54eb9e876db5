"use strict";
// Labels of one person, kept in this browser under the digest of the dialogues, and in the file that is saved. What others
// said in a file that was opened is never shown, and saved again beside it.

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const KEPT = `personalens-label-${data.digest}`;
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;
const plain = (text) => text.replace(/\r\n?/g, "\n").replace(UNSEEN, (c) => `[U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
let here = 0;
let kept = { name: "", mine: {}, others: {} };

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Storage may be closed to pages from a file: then labels last as long as the page is open.
function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    at("message").textContent = "This browser keeps nothing for this page: save your labels before you close it.";
  }
}

try {
  kept = { ...kept, ...JSON.parse(localStorage.getItem(KEPT) || "{}") };
} catch {
  // As if nothing had been kept.
}

const id = (n) => data.dialogues[n].line.id;
const own = (n) => kept.mine[id(n)] || {};
const isWhole = (n) => data.readings.every((reading) => own(n)[reading.id] !== undefined);

function label(name, value) {
  const given = { ...own(here), [name]: value };
  if (value === undefined || value === "") delete given[name];
  kept.mine[id(here)] = given;
  keep();
  count();
}

function count() {
  const whole = data.dialogues.filter((_, n) => isWhole(n)).length;
  at("done").value = whole;
  at("told").textContent = `${whole} of ${data.dialogues.length} done`;
}

function draw(focus = true) {
  const { messages, about } = data.dialogues[here];
  let session = "";
  at("chat").replaceChildren(...messages.flatMap((message, turn) => {
    const begins = message.session && message.session !== session ? [make("li", { class: "session" }, `Session of ${message.session}`)] : [];
    session = message.session || session;
    const calls = message.calls.map(([call, result]) => make("li", {}, make("code", {}, plain(call)), result == null ? "" : ` → ${plain(result)}`));
    return [...begins, make("li", { class: message.role },
      make("span", { class: "speaker" }, `${message.role === "user" ? "User" : "Assistant"} · ${turn}`),
      ...(calls.length ? [make("details", { class: "calls", open: "" }, make("summary", {}, `${calls.length} call${calls.length === 1 ? "" : "s"} before it said this`), make("ol", {}, ...calls))] : []),
      make("div", { class: "bubble" }, plain(message.content)))];
  }));
  at("labels").replaceChildren(...data.readings.map((reading) => make("fieldset", {}, make("legend", {}, reading.title),
    ...reading.choices.map((choice) => {
      const input = make("input", { type: "radio", name: reading.id, value: choice.key });
      input.checked = own(here)[reading.id] === choice.value;
      input.addEventListener("change", () => label(reading.id, choice.value));
      return make("label", {}, input, make("span", {}, choice.name), make("span", {}, choice.means));
    }))));
  at("why").value = own(here).why || "";
  at("about").replaceChildren(...about.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, plain(text))]));
  at("place").textContent = `${here + 1} of ${data.dialogues.length}`;
  at("head").textContent = `Dialogue ${here + 1} of ${data.dialogues.length}`;
  at("previous").disabled = !here;
  at("next").disabled = here === data.dialogues.length - 1;
  count();
  if (focus) {
    scrollTo(0, 0);
    at("head").focus({ preventScroll: true });
  }
}

function go(n) {
  if (n < 0 || n >= data.dialogues.length) return;
  here = n;
  draw();
}

function goOpen() {
  const order = data.dialogues.map((_, n) => (here + 1 + n) % data.dialogues.length);
  const open = order.find((n) => !isWhole(n));
  if (open === undefined) at("message").textContent = "Every dialogue has its labels. Save them.";
  else go(open);
}

// The key answers the first reading of this dialogue that has such an answer and none yet; then the last one that has.
function answer(key) {
  const able = data.readings.filter((reading) => reading.choices.some((choice) => choice.key === key));
  const reading = able.find((one) => own(here)[one.id] === undefined) || able[able.length - 1];
  if (!reading) return false;
  label(reading.id, reading.choices.find((choice) => choice.key === key).value);
  draw(false);
  return true;
}

function lines() {
  const name = kept.name || "reader";
  return data.dialogues.map(({ line }) => {
    const mine = kept.mine[line.id] || {};
    const said = data.readings.some((reading) => mine[reading.id] !== undefined);
    const labels = { ...kept.others[line.id], ...(said ? { [name]: { why: "", ...mine } } : {}) };
    return Object.keys(labels).length ? `${JSON.stringify({ ...line, labels })}\n` : "";
  }).join("");
}

function save() {
  const text = lines();
  if (!text) {
    at("message").textContent = "There is no label to save yet.";
    return;
  }
  const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = make("a", { href: address, download: "labels.jsonl" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  at("message").textContent = `Saved ${text.split("\n").length - 1} dialogues with labels as labels.jsonl.`;
}

// A value with its keys in order, so that equal dialogues are equal texts whoever wrote them.
const told = (messages) => JSON.stringify(messages.map((message) => [message.role, message.content]));

function take(text) {
  const known = new Map(data.dialogues.map(({ line }) => [line.id, told(line.dialogue)]));
  let entries;
  try {
    entries = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
    entries = entries.filter((entry) => known.get(entry.id) === told(entry.dialogue) && entry.labels);
  } catch {
    at("message").textContent = "This is no file of labels: each line must be a JSON object. Nothing was taken.";
    return;
  }
  if (!entries.length) {
    at("message").textContent = "These labels are of other dialogues. Nothing was taken.";
    return;
  }
  for (const entry of entries) {
    for (const [name, labels] of Object.entries(entry.labels)) {
      if (name === kept.name) kept.mine[entry.id] = { ...valid(labels), ...kept.mine[entry.id] };
      else kept.others[entry.id] = { ...kept.others[entry.id], [name]: labels };
    }
  }
  keep();
  draw(false);
  const mine = entries.filter((entry) => kept.name in entry.labels).length;
  at("message").textContent = `Taken: ${mine} dialogues with labels of ${kept.name || "nobody (give your name first)"}; what others said is saved again and not shown.`;
}

function valid(labels) {
  const kinds = data.readings.filter((reading) => reading.choices.some((choice) => choice.value === labels[reading.id]));
  return { ...Object.fromEntries(kinds.map((reading) => [reading.id, labels[reading.id]])), ...(typeof labels.why === "string" && labels.why ? { why: labels.why } : {}) };
}

at("name").value = kept.name;
at("name").addEventListener("change", () => {
  kept.name = at("name").value.trim();
  keep();
});
at("why").addEventListener("input", () => label("why", at("why").value.trim()));
at("save").addEventListener("click", save);
at("previous").addEventListener("click", () => go(here - 1));
at("next").addEventListener("click", () => go(here + 1));
at("open").addEventListener("click", goOpen);
at("file").addEventListener("change", async () => {
  const [file] = at("file").files;
  if (file) take(await file.text());
  at("file").value = "";
});
at("labels").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  const writes = event.target instanceof HTMLInputElement && event.target.type !== "radio";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (writes) {
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
    return;
  }
  const moves = { ArrowRight: () => go(here + 1), ArrowLeft: () => go(here - 1), u: goOpen, s: save, w: () => at("why").focus() };
  if (Object.hasOwn(moves, event.key)) moves[event.key]();
  else if (!answer(event.key)) return;
  event.preventDefault();
});
draw(false);
document.documentElement.dataset.ready = "true";
