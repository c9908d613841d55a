// What changed between two texts, word by word. Boards are compared cell by cell: line by line, in place.
"use strict";
MAGE.changes = (() => {
  const MOST = 1500; // Longer texts are not compared: the table of all pairs would be too big.
  const tokens = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []; // Spaces, words, and each other sign.

  // Returns pieces [text, changed] that make up the new text.
  function compare(before, after) {
    const [old, now] = [before.split("\n"), after.split("\n")];
    let start = 0;
    while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
    let end = 0;
    while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
    const [oldPart, newPart] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
    const changed = oldPart.length === newPart.length
      ? newPart.flatMap((line, index) => [...(index ? [["\n", false]] : []), ...inLine(oldPart[index], line)])
      : inText(oldPart.join("\n"), newPart.join("\n"));
    const join = (lines) => lines.join("\n");
    return merge([
      [join(now.slice(0, start)) + (start && newPart.length + end ? "\n" : ""), false],
      ...changed,
      [(end && newPart.length ? "\n" : "") + join(now.slice(now.length - end)), false],
    ]);
  }

  function inLine(before, after) {
    const [old, now] = [tokens(before), tokens(after)];
    if (old.length !== now.length) return inText(before, after);
    return now.map((token, index) => [token, token !== old[index] && token.trim() !== ""]);
  }

  // The longest common subsequence of words; what is not in it is new.
  function inText(before, after) {
    const [old, now] = [tokens(before), tokens(after)];
    if (old.length > MOST || now.length > MOST) return [[after, true]];
    const best = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
    for (let i = old.length - 1; i >= 0; i -= 1)
      for (let j = now.length - 1; j >= 0; j -= 1)
        best[i][j] = old[i] === now[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    const pieces = [];
    let [i, j] = [0, 0];
    while (j < now.length) {
      if (i < old.length && old[i] === now[j]) { pieces.push([now[j], false]); i += 1; j += 1; }
      else if (i < old.length && best[i + 1][j] >= best[i][j + 1]) i += 1;
      else { pieces.push([now[j], now[j].trim() !== ""]); j += 1; }
    }
    return pieces;
  }

  // Joins pieces; a space between two changed words is changed, too.
  function merge(pieces) {
    const merged = [];
    for (const [index, [text, marked]] of pieces.entries()) {
      const last = merged[merged.length - 1];
      const changed = marked || (/^[^\S\n]+$/.test(text) && last?.[1] && pieces[index + 1]?.[1]) || false;
      if (last && last[1] === changed) last[0] += text;
      else if (text) merged.push([text, changed]);
    }
    return merged;
  }

  return { compare };
})();
