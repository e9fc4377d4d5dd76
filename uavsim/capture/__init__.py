"""Session -> recording: all sensors of a tick, proven to belong to it and written to disk; runs in the client process."""
