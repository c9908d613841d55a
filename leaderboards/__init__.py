"""Data only: one CSV a suite."""
