"""Errors of clients, in one small tree; any other exception in a call is a bug of the simulator.

ClientError            the message is the answer, in one line
    BadArgument        an argument that cannot be read
    CallRefused        a valid call that cannot be executed
"""


class ClientError(Exception):
    """A client's mistake; the message is the answer."""


class BadArgument(ClientError):
    """An argument of the wrong shape, type or range; the message has its name."""


class CallRefused(ClientError):
    """A valid call that cannot be executed; the message has the reason."""
