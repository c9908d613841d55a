"""Tic-Tac-Toe: win, draw or loss. Two perfect players draw; habits can be found out and punished."""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/TicTacToe-meta-v0"
UNIT = "win +1, draw 0, loss -1"

register(
    Scenario("tictactoe/train", ENV_ID, "half search, half players with a habit", UNIT, "tictactoe/train"),
    Scenario("tictactoe/heldout", ENV_ID, "search that almost never errs", UNIT, "tictactoe/heldout"),
    Scenario(
        "tictactoe/patterns_heldout",
        ENV_ID,
        "players with habits that training has not seen",
        UNIT,
        "tictactoe/patterns_heldout",
    ),
    Scenario(
        "tictactoe/tables_train",
        ENV_ID,
        "tictactoe/train with a table in the place of the search, for exact values",
        UNIT,
        "tictactoe/tables_train",
    ),
    Scenario(
        "tictactoe/tables_heldout",
        ENV_ID,
        "a table of strong search in the place of the search, for exact values",
        UNIT,
        "tictactoe/tables_heldout",
    ),
)
