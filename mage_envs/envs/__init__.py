"""Gymnasium and PettingZoo adapters, written once for all games."""
