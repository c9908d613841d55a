// Adaptation curves of a board: score by episode with interval bands, and the exact lines to compare with.
"use strict";
MAGE.curves = (() => {
  const { element, number } = MAGE;
  const [WIDTH, HEIGHT] = [640, 300];
  const EDGE = { left: 52, right: 140, top: 14, bottom: 36 };
  const COLOURS = 6;
  const LINES = { ceiling: "told opponent", adaptive: "best adaptive", equilibrium: "equilibrium", random: "uniform play" };

  function make(board) {
    const shown = new Set(board.rows.filter((row) => row.complete).slice(0, COLOURS));
    const style = new Map(board.rows.map((row, index) => [row, index % COLOURS]));
    const figure = element("figure", { class: "curves" });
    const draw = () => figure.replaceChildren(picture(board, [...shown], style), legend());
    const legend = () => element("div", { class: "legend", role: "group", "aria-label": "Curves to show" },
      board.rows.slice(0, 24).map((row) => element("button", {
        type: "button", class: `key c${style.get(row)}`, "aria-pressed": String(shown.has(row)),
        onclick: (event) => {
          shown.has(row) ? shown.delete(row) : shown.add(row);
          const place = [...event.currentTarget.parentNode.children].indexOf(event.currentTarget);
          draw();
          figure.querySelectorAll(".legend button")[place].focus();
        },
      }, key(style.get(row)), MAGE.breakable(row.label))));
    draw();
    return figure;
  }

  function picture(board, rows, style) {
    const lines = exact(board);
    const spread = [...rows.flatMap((row) => row.scores.flat()), ...lines.flatMap((line) => line.values)];
    const ticks = scale(spread.filter((value) => value !== null));
    const [low, high] = [ticks[0], ticks[ticks.length - 1]];
    const x = (episode) => EDGE.left + (WIDTH - EDGE.left - EDGE.right) * (board.episodes < 2 ? 0.5 : episode / (board.episodes - 1));
    const y = (value) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - (value - low) / (high - low));
    const label = `${board.measure === "pass" ? "Share won" : "Score"} by episode in ${board.scenario}. The table below has the same numbers.`;
    return element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      axes(board, ticks, x, y),
      lines.map((line) => path(line.values, x, y, { class: `exact ${line.name}` })),
      names(lines, y),
      rows.map((row) => curve(row, style.get(row), x, y)));
  }

  function exact(board) {
    if (board.measure !== "score") return []; // The lines are scores.
    const alone = board.lines.equilibrium === null; // A world: nobody is told of an opponent.
    return Object.keys(LINES).filter((name) => !(alone && name === "ceiling")).map((name) => {
      const value = board.lines[name];
      return { name, values: Array.isArray(value) ? value : Array(board.episodes).fill(value) };
    }).filter((line) => line.values.some((value) => value !== null));
  }

  function axes(board, ticks, x, y) {
    const digits = ticks[1] - ticks[0] < 0.1 ? 2 : ticks[1] - ticks[0] < 1 ? 1 : 0;
    const every = Math.ceil(board.episodes / 12);
    const numbers = Array.from({ length: board.episodes }, (_, index) => index).filter((index) => index % every === 0);
    return element("g", { class: "axes" },
      ticks.map((tick) => [
        element("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(tick), y2: y(tick) }),
        element("text", { x: EDGE.left - 8, y: y(tick) + 4, "text-anchor": "end" }, number(tick, digits)),
      ]),
      numbers.map((index) => element("text", { x: x(index), y: HEIGHT - 18, "text-anchor": "middle" }, String(index + 1))),
      element("text", { x: (EDGE.left + WIDTH - EDGE.right) / 2, y: HEIGHT - 2, "text-anchor": "middle" }, "episode"));
  }

  // Names of the exact lines at their right ends, pushed apart where they would overlap.
  function names(lines, y) {
    const ends = lines.map((line) => ({ text: LINES[line.name], at: y(line.values[line.values.length - 1]) }));
    ends.sort((a, b) => a.at - b.at);
    ends.forEach((end, index) => { if (index) end.at = Math.max(end.at, ends[index - 1].at + 16); });
    const over = ends.length ? Math.max(0, ends[ends.length - 1].at - (HEIGHT - EDGE.bottom)) : 0;
    return ends.map((end) => element("text", { class: "name", x: WIDTH - EDGE.right + 12, y: end.at - over + 4 }, end.text));
  }

  function curve(row, colour, x, y) {
    const points = row.scores.map(([value, low, high], index) => ({ value, low, high, index })).filter((p) => p.value !== null);
    const banded = points.filter((p) => p.low !== null && p.high !== null);
    const corners = [...banded.map((p) => [x(p.index), y(p.high)]), ...banded.reverse().map((p) => [x(p.index), y(p.low)])];
    return element("g", { class: `curve c${colour}` },
      element("title", null, row.label),
      corners.length > 2 && element("polygon", { class: "band", points: corners.map((corner) => corner.join()).join(" ") }),
      path(row.scores.map(([value]) => value), x, y, { class: "mean" }),
      points.map((p) => element("g", { transform: `translate(${x(p.index)} ${y(p.value)})` }, mark(colour),
        element("title", null, `${row.label}, episode ${p.index + 1}: ${MAGE.interval([p.value, p.low, p.high])}`))));
  }

  function path(values, x, y, attributes) {
    const steps = values.map((value, index) => value === null ? null : `${x(index)} ${y(value)}`).filter((step) => step !== null);
    return element("path", { ...attributes, d: steps.length ? `M${steps.join("L")}` : "" });
  }

  // A shape for each colour, so that colour is never all there is.
  function mark(colour) {
    return [
      () => element("circle", { r: 4 }),
      () => element("rect", { x: -3.8, y: -3.8, width: 7.6, height: 7.6 }),
      () => element("polygon", { points: "0,-5 4.6,3.6 -4.6,3.6" }),
      () => element("polygon", { points: "0,-5.4 5.4,0 0,5.4 -5.4,0" }),
      () => element("polygon", { points: "0,5 4.6,-3.6 -4.6,-3.6" }),
      () => element("path", { d: "M-4-4L4 4M-4 4L4-4", class: "cross" }),
    ][colour]();
  }

  function key(colour) {
    return element("svg", { viewBox: "-12 -7 24 14", width: 24, height: 14, "aria-hidden": "true" },
      element("g", { class: `curve c${colour}` }, element("path", { class: "mean", d: "M-12 0L12 0" }), mark(colour)));
  }

  function scale(values) {
    let [low, high] = [Math.min(...values, 0), Math.max(...values, 0)];
    if (high - low < 1e-6) [low, high] = [low - 0.5, high + 0.5];
    const rough = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const ticks = [];
    for (let tick = Math.floor(low / step); tick * step < high + step * 0.999; tick += 1) ticks.push(tick * step);
    return ticks;
  }

  return { make };
})();
