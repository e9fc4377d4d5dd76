"""Session -> recording: every sensor of one tick, proven to be of that tick, written to disk; the client's own process."""
