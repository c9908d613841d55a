"""One PettingZoo module a game: ``from mage_envs.pettingzoo import kuhn_poker_v0``.

Each module has ``env()`` (checked), ``raw_env()`` and, for simultaneous games, ``parallel_env()``; all take
``episodes=N`` and the other arguments of :class:`~mage_envs.envs.multi_agent.MultiAgentMeta`. The modules are made here
from the registered games, so that a new game file brings its own. ``openspiel_v0`` takes ``game=`` as well.
"""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import Any

from mage_envs.envs.aec import MetaAECEnv, wrapped_aec
from mage_envs.envs.parallel import MetaParallelEnv
from mage_envs.games import GAMES


def _module(name: str, *game: str, simultaneous: bool) -> ModuleType:
    module = ModuleType(f"{__name__}.{name}", f"PettingZoo environments of {', '.join(game) or 'any OpenSpiel game'}.")
    functions: dict[str, Any] = {"env": partial(wrapped_aec, *game), "raw_env": partial(MetaAECEnv, *game)}
    if simultaneous:
        functions["parallel_env"] = partial(MetaParallelEnv, *game)
    vars(module).update(functions, __all__=list(functions))
    return module


MODULES = {f"{name}_v0": _module(f"{name}_v0", name, simultaneous=GAMES.get(name)().simultaneous) for name in GAMES}
MODULES["openspiel_v0"] = _module("openspiel_v0", simultaneous=True)

globals().update(MODULES)
sys.modules.update({module.__name__: module for module in MODULES.values()})
