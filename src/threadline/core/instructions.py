"""Instructions: what the owner wants an agent to know or to do in a chat or topic."""

from collections.abc import Iterable

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.errors import Invalid
from threadline.core.validation import checked_id, checked_text, checked_type

INSTRUCTIONS_LIMIT = 20_000
"""Characters of the instructions for one place."""
SKILLS_LIMIT = 64
"""Skills that may be bound to one place."""


class Instructions(Struct, frozen=True, kw_only=True):
    """Words and skills that open every session of a place; what is not said of it fits all."""

    text: str = ""
    skills: tuple[str, ...] = ()
    """Names that the agent knows, in the order in which they are wanted."""
    platform: str | None = None
    scope: str | None = None
    chat: str | None = None
    thread: str | None = None

    def __post_init__(self) -> None:
        """Refuse what says nothing, or could never fit."""
        checked_text(self.text, "instructions", INSTRUCTIONS_LIMIT)
        if len(checked_type(self.skills, "skills", tuple)) > SKILLS_LIMIT:
            raise Invalid(f"A place has at most {SKILLS_LIMIT} skills, not {len(self.skills)}")
        for skill in self.skills:
            checked_id(skill, "skill")
        for name in ("platform", "scope", "chat", "thread"):
            if (value := getattr(self, name)) is not None and not checked_id(value, name):
                raise Invalid(f"Instructions for an empty {name} fit nowhere")
        if not self.text.strip() and not self.skills:
            raise Invalid("Instructions need a text or a skill")
        if self.platform is None and (self.chat or self.thread or self.scope):
            raise Invalid("Which platform? The same chat id may exist on several")

    def fits(self, address: Address) -> bool:
        """Tell whether a session that opens here opens with these."""
        names = ("platform", "scope", "chat", "thread")
        return all(getattr(self, name) in {None, getattr(address, name)} for name in names)

    @property
    def narrowness(self) -> tuple[bool, ...]:
        """How much is said of the place: the more, the greater."""
        names = (self.thread, self.chat, self.scope, self.platform)
        return tuple(name is not None for name in names)


def instructions_for(address: Address, rules: Iterable[Instructions]) -> list[Instructions]:
    """Find what opens the sessions of a place, from the most general to the most specific."""
    fitting = [rule for rule in rules if rule.fits(address)]
    return sorted(fitting, key=lambda rule: rule.narrowness)
