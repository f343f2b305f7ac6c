"""People: persons and their senders."""

from collections.abc import Sequence

from pydantic import Field

from threadline.core.person import KnownSender, Person
from threadline.sessions.people.parting import Parting
from threadline.sessions.survey import SenderRow
from threadline.web.api.shapes.model import REVISION, Answer, Moment, Wish

SENDER = Field(
    min_length=3,
    max_length=600,
    description="Who is meant: the platform, a colon, and the id there.",
    examples=["telegram:42"],
)


class SenderShape(Answer):
    """Somebody as a platform knows them."""

    sender: str = Field(examples=["telegram:42"])
    name: str | None
    first_seen_at: Moment | None = Field(description="Null: they have not spoken yet.")

    @classmethod
    def from_sender(cls, known: KnownSender) -> "SenderShape":
        """Tell who that is."""
        return cls(sender=str(known.identity), name=known.name, first_seen_at=known.first_seen_at)


class ListedSender(SenderShape):
    """A sender, and the person that they are."""

    person: int | None = Field(description="Null: they are linked with nobody.")

    @classmethod
    def from_row(cls, row: SenderRow) -> "ListedSender":
        """Tell who that is."""
        known = SenderShape.from_sender(row.sender)
        return cls(**known.model_dump(), person=row.person)


class PersonShape(Answer):
    """Somebody who speaks through several senders."""

    key: int
    name: str | None
    made_at: Moment
    senders: Sequence[SenderShape]
    revision: str = REVISION

    @classmethod
    def from_person(cls, person: Person) -> "PersonShape":
        """Tell who that is."""
        return cls(
            key=person.key,
            name=person.name,
            made_at=person.made_at,
            senders=[SenderShape.from_sender(one) for one in person.senders],
            revision=person.revision,
        )


class PersonRenaming(Wish):
    """Another name for a person."""

    name: str = Field(min_length=1, max_length=200, examples=["Ada"])


class JoinWish(Wish):
    """Two senders who are one person."""

    one: str = SENDER
    other: str = SENDER


class SenderWish(Wish):
    """One sender."""

    sender: str = SENDER


class PartingShape(Answer):
    """What came of taking a sender out of their person."""

    parted: bool = Field(description="False: they were linked with nobody.")
    ended: Sequence[str] = Field(description="The sessions that end, as both spoke in them.")

    @classmethod
    def from_parting(cls, parting: Parting | None) -> "PartingShape":
        """Tell what came of it."""
        ended = () if parting is None else parting.ended
        return cls(parted=parting is not None, ended=list(ended))
