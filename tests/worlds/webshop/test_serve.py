"""The shop to try by hand: in a browser, by address, and with texts that would be markup."""

from __future__ import annotations

import http.client
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from mage_envs.worlds.webshop import WebShop
from mage_envs.worlds.webshop.html_pages import write_html
from mage_envs.worlds.webshop.pages import PageKind
from mage_envs.worlds.webshop.serve import MAX_COMMANDS, ShopServer, main, walk_to
from tests.worlds.webshop.packs import GOLDEN

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCREENS = ((1200, 900), (360, 740))
SAYS_IF_TOO_WIDE = """window.addEventListener("load", () => {
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) console.error(`too wide: ${location}`);
});"""


@contextmanager
def serving(world: WebShop, goal: int = 0) -> Iterator[ShopServer]:
    with ShopServer(world, 0, goal) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def world() -> WebShop:
    return WebShop()


@pytest.fixture(scope="module")
def server(world: WebShop) -> Iterator[ShopServer]:
    with serving(world, 5) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(params=SCREENS, ids=["desktop", "phone"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that must stay within its screen, and free of errors and of requests elsewhere."""
    context = browser.new_context(viewport={"width": request.param[0], "height": request.param[1]})
    wrong: list[str] = []
    opened = context.new_page()
    opened.set_default_timeout(5_000)
    opened.on("console", lambda said: wrong.append(said.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda asked: None if "127.0.0.1" in asked.url else wrong.append(asked.url))
    opened.add_init_script(SAYS_IF_TOO_WIDE)
    yield opened
    assert wrong == []
    context.close()


def goal_with_two_options(world: WebShop) -> int:
    return next(at for at, goal in enumerate(world.shop.goals) if len(goal.options) == 2)


def get(server: ShopServer, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.getheaders())
    connection.close()
    return found


def address(goal: int, *commands: str) -> str:
    return "/?" + urlencode([("goal", goal), *(("do", each) for each in commands)])


def test_search_open_choose_buy_and_see_the_score(page: Page, server: ShopServer, world: WebShop) -> None:
    at = goal_with_two_options(world)
    goal = world.shop.goals[at]
    page.goto(server.address)
    assert "Goal 5" in page.title()
    page.get_by_label("Goal", exact=True).fill(str(at))
    page.get_by_role("button", name="Go").click()
    assert page.get_by_text(goal.text).first.is_visible()
    page.get_by_role("searchbox").fill(goal.title)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name=goal.title, exact=True).first.click()
    page.get_by_role("link", name="Features").click()
    page.get_by_role("link", name="Back to the product").click()
    for name, value in goal.options:
        button = page.get_by_role("group", name=name).get_by_role("button", name=value, exact=True)
        assert button.get_attribute("aria-pressed") == "false"
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
    assert page.get_by_text("6 of the 12 steps").is_visible()
    page.get_by_role("button", name="Buy Now").click()
    assert page.get_by_role("status").inner_text() == "1.00"
    assert page.get_by_role("row", name="Options 2 of 2").is_visible()
    assert page.locator("details li").first.is_hidden()
    page.get_by_text("What the goal had in mind").click()
    assert page.get_by_text(goal.asin).first.is_visible()
    page.go_back()
    assert page.get_by_role("button", name="Buy Now").is_visible()


def test_a_shopper_needs_no_mouse(page: Page, server: ShopServer) -> None:
    page.goto(server.address)
    page.get_by_role("searchbox").focus()
    page.keyboard.type("hdmi cable")
    page.keyboard.press("Enter")
    page.locator("ol.results a").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Buy Now").wait_for()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Buy Now":
            break
    page.keyboard.press("Space")
    page.get_by_role("status").wait_for()
    assert page.get_by_text("Only 1 is a win.").is_visible()
    assert page.get_by_text("What the goal had in mind").is_visible()


def test_strange_products_are_text(page: Page) -> None:
    """The golden catalogue has tags, quotes, emoji and empty texts in its products."""
    world = WebShop("official", str(GOLDEN))
    strange = [each for each in world.shop.products if any(sign in each.title for sign in "<>&\"'")]
    assert strange
    with serving(world) as server:
        for product in strange:
            page.goto(server.address[:-1] + address(0, f"search[{product.title}]"))
            page.locator("ol.results a", has_text=product.title.strip()).first.click()
            assert page.locator("h1").inner_text() == " ".join(product.title.split())


HOSTILE = "<script>alert(1)</script>\"' onfocus=x"


def test_what_an_address_says_is_text(server: ShopServer) -> None:
    for path in (address(0, f"search[{HOSTILE}]"), address(0, HOSTILE), f"/?{urlencode({'goal': HOSTILE})}"):
        _, text, _ = get(server, path)
        assert "<script" not in text.lower()
        assert "\"' onfocus" not in text
        assert "&lt;script&gt;" in text


def test_the_page_is_for_this_machine_alone(server: ShopServer) -> None:
    status, text, headers = get(server, "/")
    assert (server.server_address[0], status) == ("127.0.0.1", 200)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert get(server, "/", Host="evil.example")[0] == 403
    assert get(server, "/", Host="localhost:1")[1] == text
    assert get(server, "/style.css")[2]["Content-Type"] == "text/css; charset=utf-8"


def test_wrong_addresses_say_what_is_wrong(server: ShopServer, world: WebShop) -> None:
    last = len(world.shop.goals) - 1
    for wrong in ("-1", "x", str(last + 1), ""):
        status, text, _ = get(server, f"/?goal={wrong}")
        assert (status, f"0..{last}" in text) == (400, True)
    assert get(server, "/items")[0] == 404
    assert get(server, "x://[/")[0] == 400
    assert get(server, address(0, *["search[tea]"] * (MAX_COMMANDS + 1)))[0] == 400
    assert "has no <code>click[buy now]</code>" in get(server, address(0, "click[buy now]"))[1]


def test_a_walk_is_what_an_agent_would_have_done(world: WebShop) -> None:
    walk = walk_to(world, 3, ["search[tea]", "click[nothing]", "click[Next >]", "click[back to search]"])
    assert walk.commands == ("search[tea]", "click[Next >]", "click[back to search]")
    assert (walk.place.kind, walk.refused) == (PageKind.INDEX, "")
    asin = world.shop.search("tea")[0]
    bought = walk_to(world, 3, ["search[tea]", f"click[{asin}]", "click[buy now]", "search[tea]"])
    assert (bought.place.kind, bought.refused) == (PageKind.DONE, "search[tea]")
    assert "steps; an agent's episode ends after 12" in write_html(world, walk_to(world, 3, ["search[tea]"] * 13))


def test_a_page_beyond_the_results_is_empty(world: WebShop) -> None:
    walk = walk_to(world, 0, ["search[tea]", *["click[next >]"] * 6])
    assert "Nothing on this page." in write_html(world, walk)


def test_the_command(capsys: pytest.CaptureFixture[str], server: ShopServer) -> None:
    for wrong, said in (
        (["--goal", "999999"], "goal in 0.."),
        (["--port", str(server.server_address[1])], "in use"),
        (["--catalogue", "huge"], "invalid choice"),
    ):
        with pytest.raises(SystemExit):
            main(wrong)
        assert said in capsys.readouterr().err


def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mage_envs.worlds.webshop.serve", "--port", "0", "--goal", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("proc-v1:1000:seed0: http://127.0.0.1:")
        port = int(line.split("127.0.0.1:")[1].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/")
        assert "Goal 3" in connection.getresponse().read().decode()
        connection.close()
        process.send_signal(2)
        assert process.wait(5) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
