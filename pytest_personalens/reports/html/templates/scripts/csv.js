// The dialogues found, as a table for a spreadsheet.

const CSV_COLUMNS = [["test", (i) => i.id], [ITEM, (i) => i.scenario], ["user", (i) => i.user], ["name", (i) => i.name || ""], ["domains", (i) => i.domains.join(", ")],
  ["trial", (i) => i.trial || 1], ["control", (i) => i.control && CONTROLS[i.control]], ["status", (i) => STATUS[i.status][1]], ["cause", (i) => i.cause],
  ...dimensions.map((d) => [d.key, (i) => i.scores.get(d.key)]),
  ...columns.map((d) => [`${d.key}_before`, (i) => ((i.flips || []).find(([key]) => key === d.key) || [null, i.scores.get(d.key)])[1]]).filter(() => data.items.some((i) => i.flips)),
  ["turns", (i) => i.turns], ...COSTS.map(([key]) => [key, (i) => i[key] || 0]), ["reason", (i) => i.detail || rowText(i.why)]];

// Quoted; and what a spreadsheet would take for a formula is text.
function csvCell(value) {
  const words = value == null ? "" : plain(String(value));
  return `"${(/^[=+\-@\t]/.test(words) ? `'${words}` : words).replaceAll('"', '""')}"`;
}

function csv(items) {
  return [CSV_COLUMNS.map(([name]) => csvCell(name)), ...items.map((i) => CSV_COLUMNS.map(([, value]) => csvCell(value(i))))].map((cells) => cells.join(",")).join("\r\n") + "\r\n";
}

function saveFile(name, words, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([words], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

const saveCsv = () => saveFile(`${DIALOGUE}s.csv`, `\ufeff${csv(state.found)}`, "text/csv");
