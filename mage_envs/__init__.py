"""MAGE: meta-episodes for Gymnasium and PettingZoo."""
