"""Small games as tables: exact values and best responses."""
