"""Errors of loading a town."""


class TownRefused(ValueError):
    """A town cannot be loaded; the message is one line with the position."""


class OpenDriveRefused(TownRefused):
    """An OpenDRIVE file is refused; the message has the file, the line and the element."""

    def __init__(self, source: str, line: int, element: str, reason: str) -> None:
        super().__init__(f"{source}, line {line}, <{element}>: {reason}")
        self.source, self.line, self.element, self.reason = source, line, element, reason
