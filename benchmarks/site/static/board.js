// The boards: filters above, and for each scenario and panel its curves and a table that can be sorted.
"use strict";
MAGE.boards = (() => {
  const { element, number, signed, interval } = MAGE;
  const AT_ONCE = 12; // Boards that are drawn before somebody asks for more,
  const ROWS_AT_ONCE = 100; // and rows of each.
  const filters = { suite: "", scenario: "", agent: "", oracle: "", complete: "", text: "" };
  let drawn = AT_ONCE;

  function view(data) {
    const list = element("div", { id: "boards" });
    const count = element("p", { class: "count", role: "status" });
    const draw = () => {
      const found = data.boards.map((board) => ({ board, rows: board.rows.filter((row) => matches(board, row)) }))
        .filter(({ rows }) => rows.length);
      const rows = found.reduce((sum, { rows: some }) => sum + some.length, 0);
      const all = data.boards.reduce((sum, board) => sum + board.rows.length, 0);
      count.textContent = `${rows} of ${all} rows, on ${found.length} of ${data.boards.length} boards`;
      list.replaceChildren(
        ...found.slice(0, drawn).map(({ board, rows: some }) => section(data, board, some)),
        found.length > drawn ? element("button", { type: "button", class: "more", onclick: () => { drawn += AT_ONCE; draw(); } },
          `Show ${Math.min(AT_ONCE, found.length - drawn)} more boards of ${found.length - drawn}`) : "",
        found.length ? "" : element("p", { class: "nothing" }, "No row fits these filters."));
    };
    draw();
    return [
      element("h1", { tabindex: "-1" }, "Leaderboards"),
      element("details", { class: "how" }, element("summary", null, "How to read this"), element("p", null, data.legend),
        element("p", null, "Marks: “oracle” was told the opponent, or plays what was computed " +
          "as the best, and has no place; nor has a row under a “control”, which plays with its memory taken away or exchanged; “!” is incomplete: not every meta-episode of the panel has a score.")),
      controls(data, () => { drawn = AT_ONCE; draw(); }),
      count, list, published(data.published),
    ];
  }

  // What others have published stands apart: other panels, other agents, nothing measured here.
  function published([head, ...lines]) {
    return head && element("details", { class: "published" },
      element("summary", null, `Published numbers: ${lines.length}, reported by others, not measured here and not ranked`),
      element("div", { class: "scroll" }, element("table", null, element("caption", null, "Intervals are recomputed from value and n."),
        element("thead", null, element("tr", null, head.map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", null, lines.map((cells) => element("tr", null, cells.map((cell) => element("td", null, cell))))))));
  }

  function matches(board, row) {
    const text = [board.suite, board.scenario, row.agent, row.model, ...row.notes, board.panel].join(" ").toLowerCase();
    return (!filters.suite || board.suite === filters.suite)
      && (!filters.scenario || board.scenario === filters.scenario)
      && (!filters.agent || row.agent === filters.agent)
      && (!filters.oracle || row.oracle === (filters.oracle === "yes"))
      && (!filters.complete || row.complete === (filters.complete === "yes"))
      && filters.text.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  function controls(data, changed) {
    const different = (values) => [...new Set(values)].sort((a, b) => a.localeCompare(b)).map((value) => [value, value]);
    const choose = (name, label, options) => {
      const select = element("select", { name, onchange: (event) => { filters[name] = event.target.value; changed(); } },
        element("option", { value: "" }, "all"), options.map(([value, text]) => element("option", { value }, text)));
      select.value = filters[name];
      return element("label", null, label, select);
    };
    const search = element("input", { type: "search", name: "text", placeholder: "agent, model, panel …",
      oninput: (event) => { filters.text = event.target.value; changed(); } });
    search.value = filters.text;
    const form = element("form", { class: "filters", role: "search", "aria-label": "Filter the rows",
      onsubmit: (event) => event.preventDefault(),
      onreset: () => { for (const name of Object.keys(filters)) filters[name] = ""; setTimeout(changed); } },
    choose("suite", "Suite", different(data.boards.map((board) => board.suite))),
    choose("scenario", "Scenario", different(data.boards.map((board) => board.scenario))),
    choose("agent", "Agent", different(data.boards.flatMap((board) => board.rows.map((row) => row.agent)))),
    choose("oracle", "Oracles", [["no", "without"], ["yes", "only"]]),
    choose("complete", "Rows", [["yes", "complete"], ["no", "incomplete"]]),
    element("label", null, "Search", search),
    element("button", { type: "reset" }, "Reset"));
    return form;
  }

  function section(data, board, rows) {
    const title = element("h2", { id: board.name }, board.scenario);
    const facts = `${board.suite}, version ${board.version}; ${board.measure === "pass" ? "share won by episode n" : board.unit}; ${board.size} meta-episodes of ${board.episodes}; panel `;
    return element("section", { class: "board", "aria-labelledby": board.name }, title,
      element("p", { class: "facts" }, facts, element("code", { title: board.panel }, board.panel.slice(0, 8))),
      MAGE.curves.make({ ...board, rows }), table(data, board, rows), bounds(board));
  }

  function bounds(board) {
    const [low, error, high] = board.bounds;
    if (high === null) return null;
    return element("p", { class: "facts" }, `Bounds, no value: the best adaptive total is ${signed(low)} (standard error `
      + `${number(error)}) or more, and ${signed(high)} or less.`);
  }

  // A column: its head, what to sort by, what to show, whether a phone (wide) or a tablet (wider) leaves it out.
  function columns(board) {
    const chosen = board.episodes <= 3 ? Array.from({ length: board.episodes }, (_, n) => n)
      : [0, Math.floor((board.episodes - 1) / 2), board.episodes - 1];
    const [last, passes] = [board.episodes - 1, board.measure === "pass"];
    const range = extent(board.rows, last);
    return [
      { head: "#", name: "place", sort: (row) => row.place && row.place[0] + row.place[1] / 1e6, up: true, cell: place, number: true },
      { head: "agent", name: "agent", sort: (row) => row.short, up: true, cell: agent },
      ...chosen.map((n) => ({ head: passes ? `pass@${n + 1}` : `episode ${n + 1}`, name: board.measure, sort: (row) => row.scores[n][0],
        number: true, wide: n !== last, cell: (row) => interval(row.scores[n], !passes) })),
      { head: "interval", name: board.measure, cell: (row) => whisker(row.scores[last], range), wide: true, fixed: true, wider: true },
      ...(board.episodes > 1 && !passes ? [{ head: "gain", name: "gain", sort: (row) => row.gain[0], number: true, wide: true, cell: (row) => interval(row.gain) }] : []),
      { head: "norm.", name: "normalised", sort: (row) => row.normalised, number: true, wide: true, cell: (row) => number(row.normalised, 2) },
      { head: "n", name: "n_scored", sort: (row) => row.n, number: true, wide: true, cell: (row) => String(row.n) + (row.complete ? "" : "!") },
    ];
  }

  function table(data, board, rows) {
    const all = columns(board);
    const state = { column: null, up: true, all: rows.length <= ROWS_AT_ONCE };
    const body = element("tbody");
    const heads = all.map((column) => {
      const meaning = data.columns[column.name]?.[1] ?? "";
      const inside = column.fixed ? column.head : element("button", { type: "button", title: meaning, onclick: () => sort(column) }, column.head);
      return element("th", { scope: "col", class: kind(column), "aria-sort": column.fixed ? null : "none" }, inside);
    });
    const sort = (column) => {
      state.up = state.column === column ? !state.up : Boolean(column.up);
      state.column = column;
      all.forEach((other, index) => {
        if (!other.fixed) heads[index].setAttribute("aria-sort", other !== column ? "none" : state.up ? "ascending" : "descending");
      });
      draw();
    };
    const more = element("button", { type: "button", class: "more", onclick: () => { state.all = true; draw(); } }, `Show all ${rows.length} rows`);
    const draw = () => {
      const first = ordered(rows, state).slice(0, state.all ? rows.length : ROWS_AT_ONCE);
      body.replaceChildren(...first.flatMap((row) => line(data, board, row, all)));
      more.hidden = state.all;
    };
    draw();
    return [element("div", { class: "scroll" }, element("table", { class: "rows" },
      element("caption", null, `Agents in ${board.scenario}`),
      element("thead", null, element("tr", null, heads, element("th", { scope: "col" }, element("span", { class: "hidden" }, "more")))),
      body)), more];
  }

  function ordered(rows, { column, up }) {
    if (!column) return rows;
    const missing = (value) => value === null || value === "";
    return [...rows].sort((one, other) => {
      const [a, b] = [column.sort(one), column.sort(other)];
      if (missing(a) || missing(b)) return missing(a) - missing(b); // What has no value stands last, either way.
      const order = typeof a === "string" ? a.localeCompare(b) : a - b;
      return up ? order : -order;
    });
  }

  function line(data, board, row, all) {
    const more = element("tr", { class: "details", hidden: true }, element("td", { colspan: all.length + 1 }));
    const id = `${board.name}-${board.rows.indexOf(row)}`;
    more.id = id;
    const toggle = element("button", { type: "button", "aria-expanded": "false", "aria-controls": id,
      "aria-label": `Details of ${row.label}`, onclick: () => {
        more.hidden = !more.hidden;
        toggle.setAttribute("aria-expanded", String(!more.hidden));
        if (!more.hidden) MAGE.details.fill(more.firstChild, data, board, row);
      } }, row.reel ? "replays" : "details");
    return [element("tr", { class: row.complete ? (row.oracle ? "oracle" : "") : "incomplete" },
      all.map((column) => element("td", { class: kind(column) }, column.cell(row))), element("td", { class: "open" }, toggle)), more];
  }

  const kind = (column) => [column.number && "number", column.wide && "wide", column.wider && "wider"].filter(Boolean).join(" ") || null;

  // The places that the intervals leave open: one, or from the best to the worst.
  function place({ place: found, complete, oracle }) {
    if (found === null) return element("span", { title: `${!complete ? "an incomplete row" : oracle ? "an oracle" : "a causal control"} has no place` }, "–");
    const [best, worst] = found;
    return best === worst ? String(best) : element("span", { title: "intervals overlap: any of these places" }, `${best}–${worst}`);
  }

  function agent(row) {
    return element("span", { class: "agent" }, element("span", { title: row.agent }, MAGE.breakable(row.short)),
      row.model && element("span", { class: "model" }, MAGE.breakable(row.model)),
      row.notes.map((note) => element("span", { class: "tag" }, note)),
      row.oracle && element("span", { class: "tag" }, "oracle"),
      !row.complete && element("span", { class: "tag warn" }, "! incomplete"));
  }

  function extent(rows, n) {
    const values = rows.flatMap((row) => row.scores[n]).filter((value) => value !== null);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return high > low ? [low, high] : [low - 1, high + 1];
  }

  // The last score and its interval on one scale for the whole board, so that a glance shows what overlaps.
  function whisker([value, low, high], [least, most]) {
    if (value === null) return "";
    const x = (score) => 4 + (92 * (score - least)) / (most - least);
    return element("svg", { class: "whisker", viewBox: "0 0 100 14", width: 100, height: 14, "aria-hidden": "true" },
      low !== null && high !== null && element("path", { d: `M${x(low)} 3V11M${x(low)} 7H${x(high)}M${x(high)} 3V11` }),
      element("circle", { cx: x(value), cy: 7, r: 3 }));
  }

  return { view };
})();
