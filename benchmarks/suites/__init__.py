"""Suites: frozen data, one file each."""
