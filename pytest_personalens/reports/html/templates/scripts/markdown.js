// A reply as chat windows show it: a small part of Markdown, made of elements whose text is always text. A link is its words
// and its address, and HTML stays what it was: characters.

// How deep one thing may stand in another, and how far away the end of an emphasis may be.
const DEEPEST = 8;
const FARTHEST = 2000;
const ITEM_LINE = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?=\S)/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const DASHES = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

// `leaf(from, to)` gives what stands there in `words`, as an array of text and marks.
function markdown(words, leaf) {
  const lines = [];
  for (let from = 0; from <= words.length;) {
    const end = words.indexOf("\n", from);
    const to = end < 0 ? words.length : end;
    lines.push([from, words[to - 1] === "\r" && to > from ? to - 1 : to]);
    from = to + 1;
  }
  return blocks(words, lines, leaf, 0);
}

function blocks(words, lines, leaf, depth) {
  const of = (n) => words.slice(...lines[n]);
  const found = [];
  let n = 0;
  const take = (fits) => {
    const first = n;
    while (n < lines.length && fits(of(n), n)) n += 1;
    return lines.slice(first, n);
  };
  while (n < lines.length) {
    const line = of(n);
    const fence = FENCE.exec(line);
    const quoted = (one) => /^ {0,3}>/.test(one);
    if (!line.trim()) {
      n += 1;
    } else if (depth >= DEEPEST) {
      found.push(paragraph(words, take(() => true), leaf));
    } else if (fence) {
      n += 1;
      const code = take((one) => !one.trim().startsWith(fence[1]));
      n += 1;
      found.push(make("pre", {}, make("code", {}, code.length ? leaf(code[0][0], code.at(-1)[1]) : "")));
    } else if (/^ {0,3}#{1,6}[ \t]+\S/.test(line)) {
      const [from, to] = lines[n];
      found.push(make("p", {}, make("strong", {}, inline(words, from + /^ *#+[ \t]+/.exec(line)[0].length, to, leaf, 0))));
      n += 1;
    } else if (/^ {0,3}([-*_])([ \t]*\1){2,}[ \t]*$/.test(line)) {
      found.push(make("hr"));
      n += 1;
    } else if (quoted(line)) {
      const inner = take(quoted).map(([from, to]) => [from + /^ *> ?/.exec(words.slice(from, to))[0].length, to]);
      found.push(make("blockquote", {}, blocks(words, inner, leaf, depth + 1)));
    } else if (ITEM_LINE.test(line)) {
      found.push(list(words, take((one, at) => ITEM_LINE.test(one) || (one.trim() && /^[ \t]/.test(one)) || (!one.trim() && at + 1 < lines.length && ITEM_LINE.test(of(at + 1)))), leaf, depth));
    } else if (line.includes("|") && n + 1 < lines.length && of(n + 1).includes("|") && DASHES.test(of(n + 1))) {
      found.push(tableOf(words, take((one) => one.includes("|")), leaf));
    } else {
      const first = n;
      found.push(paragraph(words, take((one, at) => at === first || (one.trim() && !FENCE.test(one) && !ITEM_LINE.test(one) && !quoted(one) && !/^ {0,3}#{1,6}[ \t]/.test(one))), leaf));
    }
  }
  return found;
}

function paragraph(words, lines, leaf) {
  return make("p", {}, inline(words, lines[0][0], lines.at(-1)[1], leaf, 0));
}

// Lines that stand further to the right than the first belong to the item above them.
function list(words, lines, leaf, depth) {
  const marks = lines.map(([from, to]) => ITEM_LINE.exec(words.slice(from, to)));
  const [, indent, sign] = marks[0];
  const items = [];
  lines.forEach((line, n) => {
    if (marks[n] && marks[n][1].length <= indent.length) items.push([[line[0] + marks[n][0].length, line[1]]]);
    else items.at(-1).push(line);
  });
  const ordered = /\d/.test(sign);
  return make(ordered ? "ol" : "ul", ordered ? { start: String(parseInt(sign, 10)) } : {}, items.map(([head, ...rest]) => {
    const nested = rest.findIndex(([from, to]) => ITEM_LINE.test(words.slice(from, to)));
    const said = nested < 0 ? rest : rest.slice(0, nested);
    return make("li", {}, inline(words, head[0], said.length ? said.at(-1)[1] : head[1], leaf, 0), nested < 0 ? null : blocks(words, rest.slice(nested), leaf, depth + 1));
  }));
}

function cellsOf(words, [from, to]) {
  const cells = [];
  let start = from;
  for (let n = from; n <= to; n++) {
    if (n < to && (words[n] !== "|" || words[n - 1] === "\\")) continue;
    const cell = words.slice(start, n);
    if ((n < to && n > from) || cell.trim()) cells.push([start + (cell.length - cell.trimStart().length), start + Math.max(cell.trimEnd().length, cell.length - cell.trimStart().length)]);
    start = n + 1;
  }
  return cells;
}

function tableOf(words, [head, , ...rows], leaf) {
  const line = (cells, tag) => make("tr", {}, cells.map(([from, to]) => make(tag, tag === "th" ? { scope: "col" } : {}, inline(words, from, to, leaf, 0))));
  return make("table", {}, make("thead", {}, line(cellsOf(words, head), "th")), make("tbody", {}, rows.map((row) => line(cellsOf(words, row), "td"))));
}

const EMPHASIS = [["**", "strong"], ["__", "strong"], ["~~", "s"], ["*", "em"], ["_", "em"]];
const LETTER = /[\p{L}\p{N}]/u;

// Where the emphasis that begins at `from` with `sign` ends; -1 where it does not. Between letters an underscore is part of a name.
function endOf(words, sign, from, to) {
  const first = from + sign.length;
  if (first >= to || /\s/.test(words[first]) || (sign.length === 1 && words[first] === sign)) return -1;
  if (sign[0] === "_" && LETTER.test(words[from - 1] || " ")) return -1;
  const until = Math.min(to, first + FARTHEST);
  for (let at = words.indexOf(sign, first + 1); at >= 0 && at + sign.length <= until; at = words.indexOf(sign, at + 1)) {
    if (/\s/.test(words[at - 1]) || words[at - 1] === "\\") continue;
    if (sign.length === 1 && (words[at + 1] === sign || words[at - 1] === sign)) continue;
    if (sign[0] === "_" && LETTER.test(words[at + sign.length] || " ")) continue;
    return at;
  }
  return -1;
}

function inline(words, from, to, leaf, depth) {
  const found = [];
  let plainFrom = from;
  const put = (until, then, element) => {
    if (until > plainFrom) found.push(...leaf(plainFrom, until).flat(2));
    if (element) found.push(...element);
    plainFrom = then;
    return then;
  };
  for (let n = from; n < to;) {
    const c = words[n];
    if (c === "\\" && n + 1 < to && /[!-/:-@[-`{-~]/.test(words[n + 1])) {
      put(n, n + 1);
      n += 2;
    } else if (c === "`") {
      const ticks = /^`+/.exec(words.slice(n, Math.min(to, n + 9)))[0];
      const end = words.indexOf(ticks, n + ticks.length);
      n = end > 0 && end + ticks.length <= Math.min(to, n + FARTHEST) ? put(n, end + ticks.length, [make("code", {}, leaf(n + ticks.length, end))]) : n + ticks.length;
    } else if (c === "[" || (c === "!" && words[n + 1] === "[")) {
      const link = /^!?\[([^[\]\n]{1,500})\]\(([^()\s]{1,1000})\)/.exec(words.slice(n, Math.min(to, n + 1600)));
      const start = n + (c === "!" ? 2 : 1);
      n = link ? put(n, n + link[0].length, [...leaf(start, start + link[1].length).flat(2), make("span", { class: "address" }, " (", ...leaf(start + link[1].length + 2, n + link[0].length - 1).flat(2), ")")]) : n + 1;
    } else if (depth < DEEPEST && "*_~".includes(c)) {
      const [sign, tag] = EMPHASIS.find(([one]) => words.startsWith(one, n)) || [c, null];
      const end = tag ? endOf(words, sign, n, to) : -1;
      n = end < 0 ? n + sign.length : put(n, end + sign.length, [make(tag, {}, inline(words, n + sign.length, end, leaf, depth + 1))]);
    } else {
      n += 1;
    }
  }
  put(to, to);
  return found;
}
