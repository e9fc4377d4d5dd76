"""Errors of clients, in one small tree; any other exception in a call is a bug of the simulator.

ClientError            the text is the answer, in one line
    BadArgument        an argument that cannot be read
    CallRefused        a call that is understood and cannot be carried out
"""


class ClientError(Exception):
    """A client's mistake; the text is the answer."""


class BadArgument(ClientError):
    """An argument of the wrong shape, type or range; the text names it."""


class CallRefused(ClientError):
    """A call that is understood and cannot be carried out; the text gives the reason."""
