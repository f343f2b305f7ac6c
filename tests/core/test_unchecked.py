"""Values that are made without a second look are the same values."""

from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from threadline.core.errors import Invalid
from threadline.core.message import Text
from threadline.core.unchecked import trusting


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noun:
    name: str
    count: int = 7
    words: list[str] = field(default_factory=list)


def test_what_is_trusted_is_the_same_value() -> None:
    """It is of the same class, equal and as frozen, with the same defaults."""
    made = trusting(_Noun)(name="a")

    assert type(made) is _Noun
    assert made == _Noun(name="a")
    assert hash(trusting(Text)(text="a")) == hash(Text(text="a"))
    with pytest.raises(FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]


def test_each_value_has_defaults_of_its_own() -> None:
    """What a default is made of is made for each."""
    make = trusting(_Noun)

    assert make(name="a").words is not make(name="a").words


def test_what_is_trusted_is_not_looked_at() -> None:
    """A text that could not be stored is refused, unless it is said to come from a store."""
    with pytest.raises(Invalid):
        Text(text="a\0b")

    assert trusting(Text)(text="a\0b").text == "a\0b"


def test_an_argument_that_is_none_is_refused() -> None:
    """It takes what the noun takes, and nothing else."""
    with pytest.raises(TypeError):
        trusting(_Noun)(name="a", colour="red")  # type: ignore[call-arg]
