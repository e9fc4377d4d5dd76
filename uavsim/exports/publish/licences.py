"""Licences that a dataset may be published under."""

from dataclasses import dataclass
from typing import Final

from uavsim.registry import pick


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence by its name, its address, and what is written to LICENSE."""

    name: str
    url: str

    @property
    def text(self) -> str:
        """The notice; the whole text is at the address."""
        return f"This dataset is licensed under {self.name}.\nThe text of the licence: {self.url}legalcode\n"


LICENCES: Final = {
    "cc-by-4.0": Licence(
        "Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"
    ),
    "cc-by-sa-4.0": Licence(
        "Creative Commons Attribution-ShareAlike 4.0 International", "https://creativecommons.org/licenses/by-sa/4.0/"
    ),
    "cc-by-nc-4.0": Licence(
        "Creative Commons Attribution-NonCommercial 4.0 International",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "cc0-1.0": Licence("CC0 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/"),
}
"""By the name that the Hub's cards use."""


def licence_of(name: str) -> Licence:
    """Return a licence.

    Raises:
        UnknownNameError: not one that is known here.
    """
    return pick(LICENCES, name, what="licence")
