"""A shop to try by hand: ``python -m mage_envs.worlds.webshop.serve`` serves one page on this machine alone.

The address of a page holds the goal and every command so far, so that the server keeps nothing: going back, opening
two tabs and passing an address on all work. Commands are read as an agent's are. Only the loopback address is served,
and only to who asks for it by that name.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from mage_envs.errors import MageError
from mage_envs.worlds.webshop.html_pages import STYLE, Walk, write_html, write_message
from mage_envs.worlds.webshop.world import CATALOGUES, WebShop

HOST, PORT = "127.0.0.1", 8765
MAX_COMMANDS = 200
"""Longer walks are refused: an address must stay short."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def walk_to(world: WebShop, goal: int, commands: Sequence[str]) -> Walk:
    """Plays commands from the first page; one that its page does not have is left out and noted."""
    state = world.start(goal)
    played: list[str] = []
    refused = ""
    for command in commands:
        read = world.read(state, command) if world.outcome(state) is None else None
        if read is None:
            refused = command
        else:
            state, refused = world.step(state, read).state, ""
            played.append(command)
    return Walk(goal, tuple(played), state.place, refused)


class ShopServer(ThreadingHTTPServer):
    """Serves a shop on the loopback address.

    Attributes:
        world: The shop's world.
        first_goal: The goal of an address that names none.
    """

    daemon_threads = True

    def __init__(self, world: WebShop, port: int = PORT, first_goal: int = 0) -> None:
        """Opens the port; 0 takes a free one.

        Raises:
            ValueError: The shop has no such goal.
            OSError: The port is taken.
        """
        self.world, self.first_goal = world, int(world.check_instance(first_goal))
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: ShopServer
    server_version = "MAGE"
    sys_version = ""
    timeout = 10
    names: ClassVar[tuple[str, ...]] = (HOST, "localhost")

    def do_GET(self) -> None:
        """Answers with a page, or with what is wrong with the address."""
        if self.headers.get("Host", "").rsplit(":", 1)[0] not in self.names:  # Else any site could read the page.
            return self._send(write_message("This page is only served to this machine."), HTTPStatus.FORBIDDEN)
        try:
            parts = urlsplit(self.path)
        except ValueError:
            return self._send(write_message("This address cannot be read."), HTTPStatus.BAD_REQUEST)
        if parts.path == STYLE:
            return self._send((files(__package__) / "serve.css").read_text(encoding="utf-8"), kind="text/css")
        if parts.path != "/":
            return self._send(write_message("There is no such page."), HTTPStatus.NOT_FOUND)
        try:
            asked = parse_qs(parts.query, keep_blank_values=True, max_num_fields=MAX_COMMANDS)
            page = self._page(asked)
        except ValueError as wrong:
            return self._send(write_message(f"{wrong}."), HTTPStatus.BAD_REQUEST)
        return self._send(page)

    def _page(self, asked: dict[str, list[str]]) -> str:
        world = self.server.world
        goal = int(world.check_instance(asked.get("goal", [str(self.server.first_goal)])[-1]))
        commands = asked.get("do", []) + [f"search[{words}]" for words in asked.get("search", [])]
        return write_html(world, walk_to(world, goal, commands))

    def _send(self, text: str, status: HTTPStatus = HTTPStatus.OK, kind: str = "text/html") -> None:
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing of each request."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until it is stopped by Ctrl-C; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m mage_envs.worlds.webshop.serve",
        description="A WebShop page to try goals by hand, on this machine.",
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST}; 0: a free one (default {PORT})")
    parser.add_argument("--goal", type=int, default=0, help="number of the first goal (default 0)")
    parser.add_argument(
        "--catalogue", choices=CATALOGUES, default="small", help="official: from the folder in MAGE_WEBSHOP_DATA"
    )
    given = parser.parse_args(arguments)
    try:
        server = ShopServer(WebShop(given.catalogue), given.port, given.goal)
    except (MageError, ValueError, OSError, OverflowError) as wrong:
        parser.error(str(wrong))
    with server:
        sys.stdout.write(f"{server.world.shop.catalogue}: {server.address} (Ctrl-C stops it)\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
