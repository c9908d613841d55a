"""ALFWorld: household tasks in text, with an engine of our own that answers word for word as TextWorld does."""

from mage_envs.worlds.alfworld.game import Game
from mage_envs.worlds.alfworld.households import household
from mage_envs.worlds.alfworld.layout import Layout, read_layout
from mage_envs.worlds.alfworld.solver import solve
from mage_envs.worlds.alfworld.state import State
from mage_envs.worlds.alfworld.world import ALFWorld
from mage_envs.worlds.alfworld.writer import write_game

__all__ = ["ALFWorld", "Game", "Layout", "State", "household", "read_layout", "solve", "write_game"]
