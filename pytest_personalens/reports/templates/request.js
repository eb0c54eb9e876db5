// A request by its parts; a line of JSON in it is shown as its fields.

const FOLDED = 3;

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
  return make("dl", { class: "facts" }, Object.entries(entry).map(([name, value]) => [make("dt", {}, plain(name)), make("dd", {}, shown(typeof value === "string" ? value : JSON.stringify(value)))]));
}

// Long parts are folded, with the number of their entries.
function requestParts(words, titles) {
  return make("div", { class: "bubble request" }, words.split("\n\n").map((part, n) => {
    const lines = part.split("\n");
    const entries = lines.filter(entryOf).length;
    return make("details", { open: entries <= FOLDED }, make("summary", {}, titles[n] || "", entries > 1 ? ` (${entries})` : null), lines.map(requestLine));
  }));
}
