"""The site in a browser: from the file system and from a server, wide and on a phone, with hostile names in it."""

from __future__ import annotations

import functools
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from benchmarks.leaderboard import PUBLISHED
from benchmarks.site.build import build_site
from benchmarks.suites import SUITES
from tests.benchmarks.site_material import AGENTS, HOSTILE, NAMES, PWN, STRANGE, play, register, write_hostile_board

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 740}
KUHN = "test/kuhn"
LOUD = ("error", "warning")
ADDRESSES = ("..%2f..%2fetc", "https:%2F%2Fexample.org%2Fx", "boards", "../assets/core", "<script>")
expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SUITES, "_items", {name: SUITES.get(name) for name in SUITES})
        register()
        play(folder / "run")
        write_hostile_board(folder / "boards")
        build_site(folder / "site", [folder / "run"], leaderboards=folder / "boards", replays=6)
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page of the site that notes what goes wrong."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.page.add_init_script("window.pwned = 0; window.pwn = () => { window.pwned += 1; };")
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.goto(address)
        expect(self.page.locator("table.rows").first).to_be_visible()
        self.base = address.rsplit("/", 1)[0]

    def check(self) -> None:
        """No error, no script that came from a name, nobody asked but this site, nothing wider than the screen."""
        assert self.wrong == []
        assert self.page.evaluate("window.pwned") == 0
        assert [url for url in self.asked if not url.startswith((self.base, "data:"))] == []
        assert self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


@pytest.fixture
def opened(browser: Browser, site: Path) -> Iterator[Opened]:
    found = Opened(browser, (site / "index.html").as_uri(), viewport=WIDE)
    yield found
    found.check()
    found.context.close()


def board(page: Page, scenario: str) -> Locator:
    return page.locator("section.board", has=page.get_by_role("heading", name=scenario, exact=True))


def agents(of: Locator) -> list[str]:
    return of.locator("tbody tr:not(.details) .agent > span:first-child").all_text_contents()


def open_replay(page: Page, agent: str, which: int = 0) -> None:
    row = board(page, KUHN).locator("tbody tr:not(.details)", has=page.get_by_text(agent, exact=True))
    row.get_by_role("button", name=re.compile("^Details of")).click()
    page.locator(".replays a:visible").nth(which).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(KUHN)


def step(page: Page) -> str:
    return page.locator("output.step").inner_text()


def test_a_board_sorts_by_any_column(opened: Opened) -> None:
    strange = board(opened.page, STRANGE)
    head = strange.get_by_role("columnheader", name="episode 2")
    assert head.get_attribute("aria-sort") == "none"
    assert agents(strange) == list(reversed(NAMES))
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert agents(strange) == list(reversed(NAMES))
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert agents(strange) == list(NAMES)
    kuhn = board(opened.page, KUHN)
    kuhn.get_by_role("columnheader", name="agent").get_by_role("button").click()
    assert agents(kuhn) == sorted(AGENTS)
    assert agents(strange) == list(NAMES)


def test_missing_values_stand_last_either_way(opened: Opened) -> None:
    kuhn = board(opened.page, KUHN)
    place = kuhn.get_by_role("columnheader", name="#")
    for _ in range(2):
        place.get_by_role("button").click()
        cells = kuhn.locator("tbody tr:not(.details) td:first-child").all_inner_texts()
        assert cells[-2:] == ["–", "–"]
        assert "–" not in [cell.strip() for cell in cells[:-2]]


def test_filters_say_how_many_rows_are_left(opened: Opened) -> None:
    page = opened.page
    count = page.get_by_role("status").first
    expect(count).to_have_text(f"{len(NAMES) + len(AGENTS)} of {len(NAMES) + len(AGENTS)} rows, on 2 of 2 boards")
    page.get_by_role("combobox", name="Scenario").select_option(KUHN)
    expect(page.locator("section.board")).to_have_count(1)
    page.get_by_role("combobox", name="Rows").select_option("incomplete")
    expect(count).to_have_text(f"2 of {len(NAMES) + len(AGENTS)} rows, on 1 of 2 boards")
    assert "! incomplete" in board(page, KUHN).inner_text()
    page.get_by_role("searchbox", name="Search").fill("SEAT_1")
    assert agents(board(page, KUHN)) == ["failing_at_seat_1"]
    page.get_by_role("combobox", name="Oracles").select_option("only")
    expect(page.get_by_text("No row fits these filters.")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("section.board")).to_have_count(2)
    page.get_by_role("combobox", name="Agent").select_option("javascript:pwn()")
    expect(count).to_contain_text("1 of")


def test_a_filter_leaves_places_as_they_are(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("combobox", name="Agent").select_option(NAMES[0])
    row = board(page, STRANGE).locator("tbody tr").first
    assert row.locator("td").first.inner_text() == str(len(NAMES))


def test_curves_show_intervals_and_exact_lines_and_can_be_switched(opened: Opened) -> None:
    kuhn = board(opened.page, KUHN)
    picture = kuhn.get_by_role("img", name=re.compile("Score by episode"))
    for name in ("told opponent", "best adaptive", "equilibrium", "uniform play"):
        assert name in picture.text_content().replace("\n", "")  # type: ignore[union-attr]
    before = picture.locator(".curve").count()
    assert picture.locator(".band").count() == before > 0
    kuhn.get_by_role("button", name="random", exact=True).click()
    assert picture.locator(".curve").count() == before - 1
    assert kuhn.get_by_role("button", name="random", exact=True).get_attribute("aria-pressed") == "false"


def test_a_row_opens_and_says_where_it_comes_from(opened: Opened) -> None:
    page = opened.page
    strange = board(page, STRANGE)
    button = strange.get_by_role("button", name=f"Details of {NAMES[1]}")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    told = strange.locator("tr.details:visible")
    expect(told).to_contain_text("e" * 64)
    assert "1.000 ±0.400" in told.inner_text()
    assert PWN.split("\u2028")[0] in told.inner_text()
    button.click()
    expect(told).to_have_count(0)


def test_opening_the_page_loads_no_details_and_no_replays(opened: Opened) -> None:
    loaded = [url.rsplit("/", 1)[1] for url in opened.asked if "/data/" in url]
    assert loaded == ["boards.js"]


def test_a_replay_is_stepped_through_by_buttons_and_keys(opened: Opened) -> None:
    page = opened.page
    open_replay(page, "writer")
    episodes = page.locator("section.episode")
    expect(episodes).to_have_count(3)
    last = step(page)
    assert re.fullmatch(r"step (\d+) of \1, episode 3", last)
    assert page.locator(".reflection:visible").all_inner_texts()[0].endswith("line one\nline two ✓ ?")
    assert episodes.nth(0).locator(".view").inner_text().startswith("Your card: ")
    assert "Moves so far: you bet" in episodes.nth(0).locator(".view").inner_text()
    page.get_by_role("button", name="First").click()
    assert step(page).startswith("step 1 of")
    assert "Moves so far: none." in episodes.nth(0).locator(".view").inner_text()
    assert episodes.nth(1).locator(".view").inner_text() == "not begun yet"
    assert page.locator(".result:not(:empty)").count() == page.locator(".reflection:visible").count() == 0
    seen = [step(page)]
    while seen[-1] != last:
        page.keyboard.press("ArrowRight")
        assert step(page) != seen[-1]
        seen.append(step(page))
    assert len(set(seen)) == len(seen) == int(last.split()[1])
    page.keyboard.press("ArrowLeft")
    assert step(page) == seen[-2]
    page.keyboard.press("Home")
    page.get_by_role("button", name="Forward").click()
    assert step(page) == seen[1]
    assert page.locator("mark").count() > 0
    page.keyboard.press("End")
    episodes.nth(0).get_by_role("button", name="bet").first.click()
    assert step(page) == seen[1]


def test_play_goes_on_by_itself_and_pauses(opened: Opened) -> None:
    page = opened.page
    page.clock.install()
    open_replay(page, "writer")
    page.get_by_role("button", name="Play").click()
    assert step(page).startswith("step 1 of")
    page.clock.run_for(2_100)
    assert step(page).startswith("step 3 of")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5_000)
    assert step(page).startswith("step 3 of")
    page.keyboard.press("Home")
    page.locator("h1").focus()
    page.keyboard.press("Space")
    page.clock.run_for(60_000)
    assert re.match(r"step (\d+) of \1,", step(page))
    assert page.get_by_role("button", name="Play").is_visible()


def test_what_changed_is_marked(opened: Opened) -> None:
    compare = "([a, b]) => MAGE.changes.compare(a, b)"
    cases = {
        ("r1 . .\nr2 . .\nYour turn.", "r1 . X\nr2 . .\nYour turn."): ["X"],
        ("Moves so far: none.\nPot: 2.", "Moves so far: you bet.\nPot: 3."): ["you bet", "3"],
        ("same", "same"): [],
        ("Throws: PR PP.", "Throws: PR PP RS."): ["RS"],
        ("one\ntwo", "one\nnew line\ntwo"): ["new line"],
        ("one\ntwo", "one"): [],
        ("", "all new"): ["all new"],
        ("x " * 2000, "y " * 2001): ["y " * 2001],
    }
    for texts, marked in cases.items():
        pieces = opened.page.evaluate(compare, list(texts))
        assert "".join(text for text, _ in pieces) == texts[1]
        assert [text for text, changed in pieces if changed] == marked


def test_opponent_and_seed_are_in_the_page_only_when_revealed(opened: Opened) -> None:
    page = opened.page
    open_replay(page, "random")
    button = page.get_by_role("button", name="Reveal opponent and seed")
    assert "Jack" not in page.content()
    assert not re.search(r"aggressive|conservative|intermediate", page.content())
    button.click()
    assert page.locator("#revealed dd").first.inner_text() in {"aggressive", "conservative", "intermediate"}
    assert page.locator("#revealed dt").all_inner_texts() == ["opponent", "description", "seed", "instances"]
    page.get_by_role("button", name="Hide opponent and seed").click()
    assert not re.search(r"aggressive|conservative|intermediate", page.content())


def test_answers_that_were_not_played_and_failures_are_shown(opened: Opened) -> None:
    page = opened.page
    open_replay(page, "illegal")
    assert page.locator(".refused").first.inner_text().startswith("99 not played: The action that you named")
    assert page.locator(".result").first.inner_text() == "loss by forfeit −2"
    page.goto(opened.base + "/index.html#/")
    open_replay(page, "failing_at_seat_1", which=1)
    expect(page.locator(".failure")).to_contain_text("Status: error. ConnectionError: the server is gone")
    expect(page.locator("section.episode")).to_have_count(1)


def test_hostile_texts_are_texts(opened: Opened) -> None:
    page = opened.page
    open_replay(page, HOSTILE)
    assert page.locator(".reflection").first.text_content().endswith(PWN)  # type: ignore[union-attr]
    assert page.locator(".refused button").first.text_content() == PWN
    assert page.locator("main script, main img, main iframe, main a[href^='javascript']").count() == 0
    assert page.title().startswith("hostile <script>")


@pytest.mark.parametrize("name", ADDRESSES)
def test_an_address_loads_nothing_but_replays_of_this_site(browser: Browser, site: Path, name: str) -> None:
    found = Opened(browser, (site / "index.html").as_uri(), viewport=WIDE)
    found.page.goto(f"{found.base}/index.html#/replay/{name}/0")
    expect(found.page.get_by_text("This site has no such replay.")).to_be_visible()
    found.check()
    assert len([url for url in found.asked if "/data/" in url]) <= 2
    found.context.close()


def test_a_missing_file_is_said(browser: Browser, site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path / "site")
    for path in (tmp_path / "site" / "data").glob("replay-*"):
        path.unlink()
    found = Opened(browser, (tmp_path / "site" / "index.html").as_uri(), viewport=WIDE)
    row = board(found.page, KUHN).get_by_role("button", name="Details of random")
    row.click()
    found.page.locator(".replays a:visible").first.click()
    expect(found.page.locator("main")).to_contain_text("cannot be read")
    found.context.close()


def test_long_boards_are_shown_in_parts(browser: Browser, tmp_path: Path) -> None:
    write_hostile_board(tmp_path / "boards", [f"agent {number}" for number in range(130)])
    build_site(tmp_path / "site", leaderboards=tmp_path / "boards", replays=0)
    found = Opened(browser, (tmp_path / "site" / "index.html").as_uri(), viewport=WIDE)
    strange = board(found.page, STRANGE)
    assert agents(strange) == [f"agent {number}" for number in range(129, 29, -1)]
    strange.get_by_role("columnheader", name="episode 2").get_by_role("button").dblclick()
    assert agents(strange) == [f"agent {number}" for number in range(100)]
    strange.get_by_role("button", name="Show all 130 rows").click()
    assert agents(strange) == [f"agent {number}" for number in range(130)]
    found.check()
    found.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(browser: Browser, site: Path, scheme: Any) -> None:
    found = Opened(browser, (site / "index.html").as_uri(), viewport=PHONE, color_scheme=scheme, has_touch=True)
    page = found.page
    found.check()
    for agent in ("writer", HOSTILE):
        page.goto(found.base + "/index.html#/")
        open_replay(page, agent)
        page.get_by_role("button", name="First").click()
        page.get_by_role("button", name="Forward").click()
        page.get_by_role("button", name="Reveal opponent and seed").click()
        found.check()
        boxes = [episode.bounding_box() for episode in page.locator("section.episode").all()]
        assert len({box["x"] for box in boxes if box}) == 1, "episodes are stacked"
    assert contrast(page.locator("h1")) > 7
    assert contrast(page.locator(".facts").first) > 4.5
    assert (
        contrast(
            page.locator(".result:not(:empty)").first
            if page.locator(".result:not(:empty)").count()
            else page.locator("h1")
        )
        > 4.5
    )
    found.context.close()


def test_it_works_from_a_server(browser: Browser, site: Path) -> None:
    handler = functools.partial(Silent, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = Opened(browser, f"http://127.0.0.1:{server.server_port}/", viewport=WIDE)
        open_replay(found.page, "writer")
        found.page.go_back()
        expect(found.page.locator("table.rows").first).to_be_visible()
        found.check()
        found.context.close()
        server.shutdown()


def test_published_numbers_stand_apart(browser: Browser, tmp_path: Path) -> None:
    write_hostile_board(tmp_path / "boards", ["mine"])
    (tmp_path / "boards" / PUBLISHED).write_text(f'status,method\nreported,"{PWN.replace(chr(34), 2 * chr(34))}"\n')
    build_site(tmp_path / "site", leaderboards=tmp_path / "boards", replays=0)
    found = Opened(browser, (tmp_path / "site" / "index.html").as_uri(), viewport=PHONE)
    found.page.get_by_text("Published numbers: 1, reported by others").click()
    assert found.page.locator(".published td").all_text_contents() == ["reported", PWN]
    assert agents(board(found.page, STRANGE)) == ["mine"]
    found.check()
    found.context.close()


def test_a_keyboard_is_enough(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    open_replay(page, "writer")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    for button in page.locator("button, a, select").all():
        assert (button.inner_text() or button.get_attribute("aria-label") or "").strip()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


def contrast(of: Locator) -> float:
    """Returns the contrast of a text against the page, as WCAG defines it."""
    colours = of.evaluate("e => [getComputedStyle(e).color, getComputedStyle(document.body).backgroundColor]")
    dark, light = sorted(_luminance([int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]) for colour in colours)
    return (light + 0.05) / (dark + 0.05)


def _luminance(rgb: list[float]) -> float:
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
