"""The tree of errors in the module's docstring is the tree of classes, with their exit codes."""

import re

from uavsim import errors


def test_the_docstring_reports_every_error_with_its_parent_and_exit_code() -> None:
    reported: dict[str, tuple[str, int]] = {}
    above: list[str] = ["Exception"]
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"((?:\|   |    )*)(?:\|-- |`-- )?([A-Z]\w+) +(\d)", line)
        if found:
            depth = line.index(found[2]) // 4
            reported[found[2]] = (above[depth], int(found[3]))
            above[depth + 1 :] = [found[2]]
    classes = {name: getattr(errors, name) for name in errors.__all__}
    assert reported == {name: (kind.__mro__[1].__name__, kind.exit_code) for name, kind in classes.items()}
