"""A port on this machine that nobody uses."""

import socket


def free_port() -> int:
    """Return a port for the Traffic Manager's own server, which libcarla opens inside this process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
