"""One PettingZoo module a game: ``from mage_envs.pettingzoo import kuhn_poker_v0``.

Each module has ``env()`` (checked), ``raw_env()`` and, for simultaneous games, ``parallel_env()``; all take
``episodes=N`` and the other arguments of :class:`~mage_envs.envs.multi_agent.MultiAgentMeta`. The modules are made here
from the registered games, so that a new game file brings its own. ``openspiel_v0`` takes ``game=`` as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from mage_envs.envs.aec import MetaAECEnv, wrapped_aec
from mage_envs.envs.multi_agent import MultiAgentMeta
from mage_envs.envs.parallel import MetaParallelEnv
from mage_envs.errors import near_matches
from mage_envs.games import GAMES


def _module(name: str, *game: str, simultaneous: bool) -> ModuleType:
    module = ModuleType(f"{__name__}.{name}", f"PettingZoo environments of {', '.join(game) or 'any OpenSpiel game'}.")
    makers: dict[str, Callable[..., Any]] = {"env": wrapped_aec, "raw_env": MetaAECEnv}
    if simultaneous:
        makers["parallel_env"] = MetaParallelEnv
    for kind, maker in makers.items():
        setattr(module, kind, _function(kind, maker, game))
    module.__dict__["__all__"] = list(makers)
    module.__dict__["__getattr__"] = partial(_no_attribute, name)
    return module


def _no_attribute(module: str, name: str) -> Any:
    why = " In this game the seats act in turn: use env()." if name == "parallel_env" else ""
    raise AttributeError(f"module {module!r} has no attribute {name!r}.{why}")


def _function(kind: str, maker: Callable[..., Any], game: tuple[str, ...]) -> Callable[..., Any]:
    def make(**settings: Any) -> Any:
        return maker(*game, **settings)

    make.__name__ = make.__qualname__ = kind
    make.__doc__ = MultiAgentMeta.__doc__
    return make


MODULES = {f"{name}_v0": _module(f"{name}_v0", name, simultaneous=GAMES.get(name)().simultaneous) for name in GAMES}
MODULES["openspiel_v0"] = _module("openspiel_v0", simultaneous=True)

globals().update(MODULES)
sys.modules.update({module.__name__: module for module in MODULES.values()})


def __getattr__(name: str) -> ModuleType:
    if not re.search(r"_v\d+$", name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(f"{__name__} has no {name!r}. {near_matches(name, MODULES)}")
