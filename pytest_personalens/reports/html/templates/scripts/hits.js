// What a search found, marked where it stands: by ranges, so that no element changes for it.

const MOST_HITS = 5000;

// The ranges in the text of an element that hold one of the words, in their order.
function hitsIn(element, words) {
  const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).sort((a, b) => b.length - a.length).join("|"), "giu");
  const found = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && found.length < MOST_HITS) {
    const node = walker.currentNode;
    for (const match of node.data.matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      found.push(range);
    }
  }
  return found;
}

// Browsers older than 2025 may not have this: there the search filters and marks nothing.
function markHits(...elements) {
  if (!globalThis.CSS?.highlights) return;
  const words = state.q.split(/\s+/).filter(Boolean);
  const found = words.length ? elements.flatMap((element) => hitsIn(element, words)) : [];
  for (const range of found) {
    const fold = range.startContainer.parentElement.closest("details.lead");
    if (fold) fold.open = true;
  }
  if (found.length) CSS.highlights.set("hit", new Highlight(...found));
  else CSS.highlights.delete("hit");
}
