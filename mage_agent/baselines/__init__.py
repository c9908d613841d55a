"""Scripted agents, one file each."""
