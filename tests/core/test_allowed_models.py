"""Offers: which models anybody may choose, and how they are found by their names."""

import pytest

from threadline.core.allowed_models import find_offered, is_open
from threadline.core.session import ModelChoice

OFFERED = ("open:mini", "open:small", "gold:small", "plain")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("open:mini", ModelChoice(model="mini", provider="open")),
        ("OPEN:Mini", ModelChoice(model="mini", provider="open")),
        ("mini", ModelChoice(model="mini", provider="open")),
        ("plain", ModelChoice(model="plain")),
        ("small", None),
        ("gold:mini", None),
    ],
)
def test_an_offer_is_found_by_its_name(written: str, found: ModelChoice | None) -> None:
    """Without its provider only where that says enough."""
    assert find_offered(written, OFFERED) == found


@pytest.mark.parametrize(
    ("choice", "is_offered"),
    [
        (ModelChoice(model="mini", provider="open"), True),
        (ModelChoice(model="plain"), True),
        (ModelChoice(model="mini", provider="gold"), False),
        (ModelChoice(model="mini"), False),
        (ModelChoice(model="open:mini"), False),
        (ModelChoice(model="mini", provider="open", base_url="https://elsewhere.example"), False),
    ],
)
def test_only_what_is_offered_is_open_to_all(choice: ModelChoice, is_offered: bool) -> None:
    """It is the same in every respect; where nothing is offered, all is open."""
    assert is_open(choice, OFFERED) is is_offered
    assert is_open(choice, ())
