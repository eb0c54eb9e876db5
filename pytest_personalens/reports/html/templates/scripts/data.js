"use strict";
// What the page was given, and the few ways in which text becomes part of it: always as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const dimensions = data.dimensions.map(([key, column, name, low, high]) => ({ key, column, name, low, high }));
const dimensionOf = new Map(dimensions.map((d) => [d.key, d]));
const byId = new Map();
const byKey = new Map();
const STATUS = { passed: ["✓", "passed", "good"], low: ["✕", "low score", "bad"], uncounted: ["–", "not scored", "soft"] };
const CONTROLS = data.controls;
// The suite's words for an item, for what the assistant does in it, and for who scores that.
const [ITEM, DIALOGUE, JUDGE] = data.words;
const ENDS = { user: "The user ended the dialogue.", unserved: "The user left without being served.", silence: "The user left without a closing word.", limit: "The turn limit ended the dialogue.", fault: "The dialogue broke off." };

for (const item of data.items) {
  item.domains ||= [];
  item.reasons ||= [];
  item.turns ||= 0;
  item.scores = new Map(dimensions.map((d, n) => [d.key, (item.scores || [])[n]]).filter(([, score]) => score != null));
  if (!byId.has(item.id)) byId.set(item.id, item);
  if (!byKey.has(item.key)) byKey.set(item.key, []);
  byKey.get(item.key).push(item);
}

// What a row says is there at once. The dialogues, and who asked for what, are packed: they are unpacked once the table is
// drawn, and each item then has the rest of its fields.
const rowText = (place) => data.texts[place];
let dialogues = null;

async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("dialogues").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  dialogues = await new Response(unpacked).json();
  dialogues.items.forEach((fields, n) => { Object.assign(data.items[n], fields, { words: undefined }); });
}

const text = (place) => dialogues.texts[place];
const scenarioOf = (item) => (Object.hasOwn(dialogues.scenarios, item.scenario) ? dialogues.scenarios[item.scenario] : null);

// A new element: its attributes, then its children, of which strings are text; what is null is left out.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child != null && child !== false && child !== ""));
  return element;
}

// Characters that cannot be seen, or that turn the text around them, are shown by their number; joiners that make
// letters and emoji of others are left alone.
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;

// Who says a message: where an item is one round, its request and its reply.
const speaker = (assistant, turn) => (data.hasTurns ? `${assistant ? "Assistant" : "User"} · ${turn}` : assistant ? "Reply" : "Request");

const title = (word) => word[0].toUpperCase() + word.slice(1);

const number = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

function plain(words) {
  return words.replace(/\r\n?/g, "\n").replace(UNSEEN, (c) => `[${number(c)}]`);
}

function shown(words) {
  const parts = [];
  let from = 0;
  words = words.replace(/\r\n?/g, "\n");
  for (const match of words.matchAll(UNSEEN)) {
    parts.push(words.slice(from, match.index));
    parts.push(make("span", { class: "hidden-char" }, number(match[0])));
    from = match.index + match[0].length;
  }
  parts.push(words.slice(from));
  return parts;
}

function scoreText(dimension, score) {
  if (score == null) return "–";
  return dimension.high === 1 ? (score ? "yes" : "no") : String(score);
}

const scoreNumber = (n) => String(Math.round(n * 100) / 100);
// Of several trials it is a mean.
const scoreBefore = (dimension, n) => (Number.isInteger(n) ? scoreText(dimension, n) : scoreNumber(n));

// True if the item's score on the dimension is one of those that were below their threshold.
function short(item, dimension) {
  return (item.short || []).includes(dimension.key);
}

// The words of an item that a search looks through, in lower case; worked out once. Before the dialogues are unpacked these
// are the words of its row.
function wordsOf(item) {
  if (item.words === undefined) {
    const parts = [item.id, item.scenario, item.name || "", item.user, item.task, item.kind, ...item.domains, item.cause || "", item.detail || "", rowText(item.why), rowText(item.wants)];
    if (dialogues) {
      const scenario = scenarioOf(item);
      parts.push(...(item.shortfalls || []).map(([, words]) => words));
      if (scenario) parts.push(scenario.task ? scenario.task.intent : text(scenario.intent));
      for (const message of item.messages || []) parts.push(text(message[1]));
      for (const verdict of item.verdicts || []) parts.push(text(verdict.why));
    }
    item.words = parts.join("\n").toLowerCase();
  }
  return item.words;
}

// A word as a shell takes it.
const shellWord = (word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// The command that runs an item alone; those of the built-in suite have no file that could be named.
function commandFor(item) {
  const words = item.id.startsWith(`${data.builtIn}::`) ? ["-k", item.id.slice(item.id.indexOf("["))] : [item.id];
  return [data.command, ...words.map(shellWord)].join(" ");
}

// A link to an item: readable, and safe in any place that a link is pasted to.
function linkTo(item) {
  return `#item=${encodeURIComponent(item.id).replace(/%2F/g, "/").replace(/%3A/g, ":")}`;
}
