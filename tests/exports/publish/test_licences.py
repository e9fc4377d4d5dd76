"""Licences by the names that the Hub's cards use."""

import pytest

from uavsim.errors import UnknownNameError
from uavsim.exports.publish.licences import LICENCES, licence_of


@pytest.mark.parametrize("name", LICENCES)
def test_the_notice_leads_to_the_text_of_its_own_licence(name: str) -> None:
    licence = licence_of(name)
    kind = name.removeprefix("cc-").removesuffix("-4.0")
    assert ("zero" if name == "cc0-1.0" else f"/{kind}/4.0/") in licence.url
    assert licence.text.endswith(f"{licence.url}legalcode\n")


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'cc-by-4\.0'"):
        licence_of("cc-by-4")
