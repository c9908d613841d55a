"""The documented way from a vector environment to torch: no copy, and nothing that is kept is written over."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mage_envs  # noqa: F401 -- registers the environments

torch: Any = pytest.importorskip("torch", reason='torch is not installed: pip install "torch>=2.8,<2.14"')


def test_tensors_share_memory_and_stay_as_they_are() -> None:
    env = gym.make_vec("mage/KuhnPoker-meta-v0", num_envs=64, vectorization_mode="vector_entry_point")
    observations, _ = env.reset(seed=1)
    generator = torch.Generator().manual_seed(0)
    kept, copies = [], []
    for _ in range(30):
        tensors = {name: torch.from_numpy(array) for name, array in observations.items()}
        assert all(np.shares_memory(tensors[name].numpy(), array) for name, array in observations.items())
        kept.append(tensors)
        copies.append({name: array.copy() for name, array in observations.items()})
        legal = tensors["action_mask"] > 0
        closed = ~legal & legal.any(dim=1, keepdim=True)
        logits = torch.rand((64, 2), generator=generator).masked_fill(closed, -torch.inf)
        actions = torch.distributions.Categorical(logits=logits).sample().numpy()
        observations, rewards, *_ = env.step(actions)
        assert torch.from_numpy(rewards).dtype == torch.float64
    for tensors, copy in zip(kept, copies, strict=True):
        for name, array in copy.items():
            np.testing.assert_array_equal(tensors[name].numpy(), array)
