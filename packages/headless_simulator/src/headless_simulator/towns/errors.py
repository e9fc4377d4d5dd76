"""Errors of loading a town."""


class TownRefused(ValueError):
    """A town cannot be loaded; the message is one line and says where."""


class OpenDriveRefused(TownRefused):
    """An OpenDRIVE file cannot be taken; the message names the file, the line and the element."""

    def __init__(self, source: str, line: int, element: str, reason: str) -> None:
        super().__init__(f"{source}, line {line}, <{element}>: {reason}")
        self.source, self.line, self.element, self.reason = source, line, element, reason
