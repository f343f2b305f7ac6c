"""Rows: what is read by name and type is there and of that type, or it is said."""

import pytest

from threadline.core.errors import StorageError
from threadline.core.message import Role
from threadline.database.port import Row


def test_a_word_of_an_enum_is_read() -> None:
    """It is the enum's own word; one that may be missing is None."""
    row = Row(role="user", other=None)

    assert row.choice("role", Role) is Role.USER
    assert row.choice_or_none("role", Role) is Role.USER
    assert row.choice_or_none("other", Role) is None


@pytest.mark.parametrize("value", ["nobody", 7, None])
def test_a_word_that_is_none_is_told(value: str | int | None) -> None:
    """What an enum does not know was not stored by us."""
    with pytest.raises(StorageError, match="The column role"):
        Row(role=value).choice("role", Role)
