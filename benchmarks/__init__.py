"""The harness: panels, runs, records, metrics, leaderboards."""
