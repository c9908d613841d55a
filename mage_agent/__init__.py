"""Agents that play meta-episodes."""
