"""ETags: nobody overwrites what they have not seen."""

from typing import Annotated

from fastapi import Header, Response

from threadline.core.revision import Seen
from threadline.web.problems import MatchNeeded

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=200,
        description="The `ETag` that was seen, or `*` for whatever there is now.",
        examples=['"12"', "*"],
    ),
]
"""Which revision whoever wants to change something has seen."""


def tell_tag(response: Response, revision: int | str) -> None:
    """Say with an answer which revision it shows."""
    response.headers["ETag"] = f'"{revision}"'


def seen_in(header: str | None) -> Seen | None:
    """Read which revisions somebody takes a thing to have; None: whatever it has.

    They are compared where it is changed, in the same transaction.
    """
    if header is None:
        raise MatchNeeded(hint="Send If-Match with the ETag that you have seen, or with *")
    tags = [one.strip() for one in header.split(",")]
    return None if "*" in tags else frozenset(one[1:-1] for one in tags if _is_tag(one))


def _is_tag(text: str) -> bool:
    """Tell a tag that says that nothing at all has changed: a weak one does not."""
    return len(text) > len('""') and text[0] == text[-1] == '"'
