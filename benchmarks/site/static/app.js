// Which view the address asks for: #/ the boards, #/replay/<file>/<number> a replay.
"use strict";
(() => {
  const { element } = MAGE;
  const main = document.getElementById("main");
  let turn = 0;

  function show(nodes, title) {
    main.replaceChildren(...nodes.filter(Boolean));
    document.title = title;
  }

  function failed(message) {
    show([element("h1", { tabindex: "-1" }, "Nothing here"), element("p", null, message),
      element("p", null, element("a", { href: "#/" }, "← all boards"))], "MAGE leaderboards");
  }

  async function route(data, moved) {
    const own = turn += 1;
    const [, kind, name, index] = location.hash.split("/");
    MAGE.replay.leave();
    if (kind !== "replay") {
      show(MAGE.boards.view(data), "MAGE leaderboards");
    } else if (!data.boards.some((board) => board.rows.some((row) => row.reel === name))) {
      failed("This site has no such replay."); // Only names that the page's own data has are ever loaded.
    } else {
      const reel = await MAGE.load(name);
      if (own !== turn) return; // Somebody has gone on meanwhile.
      if (!reel.replays[index]) failed("This site has no such replay.");
      else show(MAGE.replay.view(reel, name, Number(index)), `${reel.short} in ${reel.scenario} – MAGE`);
    }
    if (moved) { scrollTo(0, 0); main.querySelector("h1").focus({ preventScroll: true }); }
  }

  MAGE.load("boards").then((data) => {
    const go = (moved) => route(data, moved).catch((error) => failed(error.message));
    addEventListener("hashchange", () => { if (location.hash !== "#main") go(true); });
    return go(false);
  }).catch((error) => failed(error.message));
})();
