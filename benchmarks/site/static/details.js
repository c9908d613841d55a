// What a row says when it is opened: its replays, all its numbers, and where they come from.
"use strict";
MAGE.details = (() => {
  const { element, interval, reward } = MAGE;
  const SHORTENED = new Set(["commit", "run", "prompt_hash"]);

  function fill(cell, data, board, row) {
    if (cell.childElementCount) return;
    cell.textContent = "…";
    MAGE.load(board.name).then(
      (details) => cell.replaceChildren(content(data, board, row, details[board.rows.indexOf(row)])),
      (error) => { cell.textContent = error.message; });
  }

  function content(data, board, row, details) {
    return element("div", { class: "opened" },
      details.replays.length > 0 && replays(row, details.replays),
      numbers(data, board, details), facts(data, board, details));
  }

  function replays(row, all) {
    return element("div", { class: "replays" }, element("h3", null, "Replays"),
      element("p", { class: "facts" }, "Rewards by episode. Meta-episodes were chosen by their number, from all opponents in turn, "
        + "and the first that did not end well were added."),
      element("ul", null, all.map((replay, index) => element("li", null, element("a", { href: `#/replay/${row.reel}/${index}` },
        `number ${replay.number}: `, ...replay.results.flatMap(([outcome, score], episode) => [
          episode ? ", " : "", element("span", { class: outcome, title: outcome }, reward(score))]),
        replay.status === "ok" ? "" : element("span", { class: "tag warn" }, replay.status))))));
  }

  function numbers(data, board, details) {
    const names = Object.keys(details.per_episode);
    const episodes = Array.from({ length: board.episodes }, (_, index) => index);
    const meaning = (name) => element("th", { scope: "row", title: data.columns[name]?.[1] ?? null }, name);
    const overall = Object.entries(details.overall).filter(([, value]) => value[0] !== null);
    return element("div", { class: "scroll" }, element("table", { class: "numbers" }, element("caption", null, "By episode, with 95 % intervals"),
      element("thead", null, element("tr", null, element("td"), episodes.map((n) => element("th", { scope: "col" }, `ep. ${n + 1}`)))),
      element("tbody", null,
        names.map((name) => element("tr", null, meaning(name), details.per_episode[name].map((value) => element("td", { class: "number" }, interval(value, takesSign(name)))))),
        overall.map(([name, value]) => element("tr", null, meaning(name),
          element("td", { class: "number", colspan: board.episodes }, `${interval(value)} over the meta-episode`))))));
  }

  const takesSign = (name) => ["score", "normalised", "regret"].includes(name);

  function facts(data, board, details) {
    const all = { suite: `${board.suite}, version ${board.version}`, panel: board.panel, ...details.facts };
    return element("dl", { class: "origin" }, Object.entries(all).filter(([, value]) => value !== "").map(([name, value]) =>
      element("div", null, element("dt", { title: data.columns[name]?.[1] ?? null }, name.replaceAll("_", " ")),
        element("dd", SHORTENED.has(name) || name === "panel" ? { class: "hash" } : null, value))));
  }

  return { fill };
})();
