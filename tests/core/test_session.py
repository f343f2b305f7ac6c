"""Sessions: readable ids that stay in their folder, and choices without credentials."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.errors import Invalid
from threadline.core.session import (
    Cause,
    EndReason,
    ModelChoice,
    cause_after,
    checked_session_id,
    checked_session_ids,
    make_session_id,
)

moments = st.datetimes(
    datetime(1970, 1, 2),
    datetime(2999, 1, 1),
    timezones=st.timezones(),
)


@given(moments, st.integers(0, 2**32 - 1))
def test_an_id_tells_its_moment_and_is_one(moment: datetime, bits: int) -> None:
    """An id is the moment in UTC and eight hexadecimal digits."""
    id = make_session_id(moment, bits)
    assert checked_session_id(id) == id
    assert id.startswith(f"{moment.astimezone(UTC):%Y%m%d_%H%M%S}_")


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_ids_sort_by_time(moment: datetime) -> None:
    """A later session has a greater id."""
    later = moment + timedelta(seconds=1)
    assert make_session_id(moment, 2**32 - 1) < make_session_id(later, 0)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "../../etc/passwd",
        "20260501_000000_0000000",
        "20260501_000000_0000000G",
        "20260501_000000_00000000\n",
        "20260501_000000_00000000/../x",
        "２０２６０５０１_000000_00000000",
        "a" * 10_000_000,
        None,
        7,
    ],
)
def test_what_is_no_id_is_refused_shortly(value: object) -> None:
    """Nothing that could leave a folder passes for a session id."""
    with pytest.raises(Invalid) as caught:
        checked_session_id(value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "base_url",
    [
        "https://user:secret@example.org/v1",
        "https://example.org/v1?api_key=secret",
        "https://example.org/v1#secret",
        "file://localhost/secret",
        "javascript:alert(1)",
        "https://",
        "http://[",
    ],
)
def test_a_base_url_with_more_than_an_address_is_refused(base_url: str) -> None:
    """Credentials never reach a session, not even inside of an address; nor the error."""
    with pytest.raises(Invalid) as caught:
        ModelChoice(model="m", base_url=base_url)
    assert "secret" not in str(caught.value)


def test_a_plain_base_url_is_taken() -> None:
    """The address of a local server is fine."""
    assert ModelChoice(model="m", base_url="http://127.0.0.1:8000/v1").base_url is not None


@pytest.mark.parametrize("reason", EndReason)
def test_every_ending_leads_to_a_cause(reason: EndReason) -> None:
    """The session after any ending knows why it began."""
    assert cause_after(reason) in Cause


@pytest.mark.parametrize("bad", [None, 7, "20260131_184500_0a1b2c3d", ["x"], [None]])
def test_several_ids_are_a_list_of_ids(bad: object) -> None:
    """Anything else gets our error."""
    with pytest.raises(Invalid):
        checked_session_ids(bad)
    id = "20260131_184500_0a1b2c3d"
    assert checked_session_ids((id, id)) == [id, id]
