// A request by its parts; a line of JSON in it is shown as its fields.

const FOLDED = 3;
const LONG_PART = 2000;

function entryOf(line) {
  try {
    const value = JSON.parse(line);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function requestLine(line) {
  const entry = entryOf(line);
  if (!entry) return make("p", {}, shown(line));
  return make("dl", { class: "facts" }, Object.entries(entry).map(([name, value]) => [make("dt", {}, plain(name)), make("dd", {}, shown(typeof value === "string" ? value : JSON.stringify(value, null, 1)))]));
}

// Long parts are folded, with the number of their entries. A paragraph without a title goes on with the part before it.
function requestParts(words, titles) {
  const parts = [];
  words.split("\n\n").forEach((paragraph, n) => {
    if (titles[n] || !n) parts.push([titles[n], paragraph]);
    else parts[parts.length - 1][1] += `\n${paragraph}`;
  });
  return make("div", { class: "bubble request" }, parts.map(([title, part]) => {
    const lines = part.split("\n");
    const entries = lines.filter(entryOf).length;
    return make("details", { open: entries <= FOLDED && part.length <= LONG_PART }, make("summary", {}, title || "", entries > 1 ? ` (${entries})` : null), lines.map(requestLine));
  }));
}
