"""Scenarios: frozen data, one file a domain."""
