"""Worlds: single-agent task engines, one file or folder each."""
