// The viewer of a meta-episode: its episodes side by side, stepped through view by view.
"use strict";
MAGE.replay = (() => {
  const { element, reward } = MAGE;
  const PAUSE = 1000; // Milliseconds between two steps while it plays.
  const MANY = 15; // So many frames and more have their moves side by side, in a box that scrolls.
  let stop = () => {};

  function view(reel, name, index) {
    stop();
    const replay = unfold(reel.replays[index]);
    const steps = timeline(replay);
    const columns = replay.episodes.map((episode, number) => column(episode, number, (step) => go(steps.findIndex(
      (other) => other.episode === number && other.frame === step))));
    const bar = controls(steps, (to) => go(to));
    let at = steps.length - 1;
    const go = (to) => {
      at = Math.max(0, Math.min(steps.length - 1, to));
      columns.forEach((one, number) => one.show(steps[at], number));
      bar.show(at);
    };
    bar.current = () => at;
    const keys = (event) => pressed(event, bar);
    document.addEventListener("keydown", keys);
    stop = () => { bar.pause(); document.removeEventListener("keydown", keys); stop = () => {}; };
    go(at);
    return [
      element("p", { class: "back" }, element("a", { href: "#/" }, "← all boards")),
      element("h1", { tabindex: "-1" }, `${reel.short} in ${reel.scenario}`),
      element("p", { class: "facts" }, reel.agent === reel.short ? "" : `${reel.agent}; `, `${reel.suite}, version ${reel.suite_version}; meta-episode number ${replay.number}; `
        + `${replay.episodes.length === 1 ? "one episode" : `${replay.episodes.length} episodes`}${replay.opponent ? " against one opponent" : ""}; ${reel.unit}`),
      others(reel, name, index),
      replay.status === "ok" ? null : element("p", { class: "failure" }, element("strong", null, `Status: ${replay.status}. `), replay.error),
      element("details", { class: "rules" }, element("summary", null, "Rules, as the agent was told them"), element("pre", null, reel.rules)),
      bar.element,
      element("div", { class: "episodes" }, columns.map((one) => one.element)),
      reveal(replay),
    ];
  }

  // Texts are stored line by line as what differs from the text before: see difference() in film.py.
  function unfold(replay) {
    const episodes = replay.episodes.map((episode) => {
      let before = [];
      const frames = episode.frames.map((frame) => {
        before = frame.text.map((line, index) => {
          const old = before[index] ?? "";
          return line === 0 ? old : old.slice(0, line[0]) + line[2] + (line[1] ? old.slice(-line[1]) : "");
        });
        return { ...frame, text: before.join("\n") };
      });
      return { ...episode, frames };
    });
    return { ...replay, episodes };
  }

  // All that can be looked at, in order: every frame of every episode, and every reflection.
  function timeline(replay) {
    const steps = replay.episodes.flatMap((episode, number) => [
      ...episode.frames.map((_, frame) => ({ episode: number, frame })),
      ...(episode.reflection ? [{ episode: number, frame: episode.frames.length }] : []),
    ]);
    return steps.length ? steps : [{ episode: -1, frame: 0 }];
  }

  function others(reel, name, index) {
    const link = (to, text) => (to >= 0 && to < reel.replays.length)
      ? element("a", { href: `#/replay/${name}/${to}` }, text) : element("span", { class: "off" }, text);
    const select = element("select", { onchange: (event) => { location.hash = `#/replay/${name}/${event.target.value}`; } },
      reel.replays.map((replay, number) => element("option", { value: number, selected: number === index },
        `number ${replay.number}: ${replay.episodes.map((episode) => reward(episode.reward)).join(", ") || replay.status}`)));
    return element("nav", { class: "others", "aria-label": "Replays of this row" }, link(index - 1, "‹ previous"),
      element("label", null, "Replay ", select), link(index + 1, "next ›"));
  }

  function controls(steps, go) {
    const bar = { current: () => 0 };
    const told = element("output", { class: "step", role: "status" });
    let timer = null;
    const button = (label, keys, act) => element("button", { type: "button", title: keys, onclick: act }, label);
    const by = (distance) => () => { bar.pause(); go(bar.current() + distance); };
    const first = button("First", "Home", () => { bar.pause(); go(0); });
    const back = button("Back", "left arrow", by(-1));
    const play = button("Play", "space", () => (timer ? bar.pause() : start()));
    const forward = button("Forward", "right arrow", by(1));
    const last = button("Last", "End", () => { bar.pause(); go(steps.length - 1); });
    const start = () => {
      if (bar.current() >= steps.length - 1) go(0);
      play.textContent = "Pause";
      timer = setInterval(() => { go(bar.current() + 1); if (bar.current() >= steps.length - 1) bar.pause(); }, PAUSE);
    };
    bar.pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    bar.show = (at) => {
      const { episode, frame } = steps[at];
      told.textContent = `step ${at + 1} of ${steps.length}` + (episode < 0 ? "" : `, episode ${episode + 1}`);
      told.dataset.frame = frame;
      for (const [one, off] of [[first, at === 0], [back, at === 0], [forward, at === steps.length - 1], [last, at === steps.length - 1]])
        one.setAttribute("aria-disabled", String(off));
    };
    Object.assign(bar, { first, back, play, forward, last });
    bar.element = element("div", { class: "controls", role: "group", "aria-label": "Steps" }, first, back, play, forward, last, told);
    return bar;
  }

  function pressed(event, bar) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("select, input, textarea")) return;
    const onButton = event.target.closest("button, a, summary");
    const button = { ArrowLeft: bar.back, ArrowRight: bar.forward, Home: bar.first, End: bar.last, " ": onButton ? null : bar.play }[event.key];
    if (!button) return;
    event.preventDefault();
    button.click();
  }

  function column(episode, number, jump) {
    const result = element("span", { class: "result" });
    const text = element("pre", { class: "view", tabindex: "0", "aria-label": `What the agent sees in episode ${number + 1}` });
    text.style.minHeight = `${Math.max(...episode.frames.map((frame) => frame.text.split("\n").length)) * 1.5 + 1.4}em`;
    const moves = element("ol", { class: episode.frames.length > MANY ? "moves many" : "moves" }, episode.frames.slice(1).map((frame, index) => move(frame, () => jump(index + 1))));
    const note = episode.reflection ? element("blockquote", { class: "reflection" },
      element("h3", null, `Reflection after episode ${number + 1}`), element("p", null, episode.reflection)) : null;
    const made = element("section", { class: "episode", "aria-label": `Episode ${number + 1}` },
      element("h2", null, `Episode ${number + 1}`, element("span", { class: "seat" }, ` seat ${episode.seat}`), result), text, moves, note);
    return { element: made, show: (step) => {
      const begun = number <= step.episode;
      const frame = number < step.episode ? episode.frames.length : number === step.episode ? step.frame : -1;
      const seen = Math.min(frame, episode.frames.length - 1);
      const now = number === step.episode;
      const over = seen === episode.frames.length - 1;
      made.classList.toggle("now", now);
      made.classList.toggle("later", !begun);
      text.replaceChildren(...(begun ? words(episode.frames, seen, now && frame === seen) : ["not begun yet"]));
      result.textContent = begun && over ? `${episode.outcome}${episode.forfeit ? " by forfeit" : ""} ${reward(episode.reward)}` : "";
      result.className = `result ${begun && over ? episode.outcome : ""}`;
      [...moves.children].forEach((item, index) => {
        item.hidden = index + 1 > seen;
        item.classList.toggle("now", now && index + 1 === frame);
      });
      if (now && moves.classList.contains("many") && seen) {
        moves.scrollTop = moves.children[seen - 1].offsetTop - moves.offsetTop - moves.clientHeight / 2;
      }
      if (note) { note.hidden = frame < episode.frames.length; note.classList.toggle("now", now && !note.hidden); }
      if (now && made.isConnected) made.scrollIntoView({ block: "nearest" });
    } };
  }

  // The view, with what the last step changed marked.
  function words(frames, seen, mark) {
    if (!mark || seen < 1) return [frames[seen].text];
    return MAGE.changes.compare(frames[seen - 1].text, frames[seen].text)
      .map(([text, changed]) => (changed ? element("mark", null, text) : text));
  }

  function move(frame, jump) {
    const named = element("button", { type: "button", onclick: jump, title: "go to this step" }, frame.move === "" ? "(empty)" : frame.move);
    return element("li", { class: frame.refused ? "refused" : null }, named,
      frame.reward ? element("span", { class: "reward" }, ` ${reward(frame.reward)}`) : null,
      frame.refused ? element("span", { class: "why" }, ` not played: ${frame.refused}`) : null,
      frame.said ? element("details", null, element("summary", null, "whole answer"), element("pre", null, frame.said)) : null);
  }

  function reveal(replay) {
    const facts = { opponent: replay.opponent, description: replay.described, seed: replay.seed,
      instances: replay.episodes.map((episode) => episode.instance).join(", ") };
    const what = replay.opponent ? "opponent and seed" : "seed and instances"; // In a world nobody else plays.
    const list = element("dl", { id: "revealed", class: "origin", hidden: true });
    const button = element("button", { type: "button", "aria-expanded": "false", "aria-controls": "revealed", onclick: () => {
      list.hidden = !list.hidden;
      button.setAttribute("aria-expanded", String(!list.hidden));
      button.textContent = list.hidden ? `Reveal ${what}` : `Hide ${what}`;
      // Only now is it in the page: looking for text finds no spoiler.
      list.replaceChildren(...(list.hidden ? [] : Object.entries(facts).filter(([, value]) => value !== "").map(([name, value]) =>
        element("div", null, element("dt", null, name), element("dd", null, String(value))))));
    } }, `Reveal ${what}`);
    return element("div", { class: "reveal" }, button, list);
  }

  return { view, leave: () => stop() };
})();
