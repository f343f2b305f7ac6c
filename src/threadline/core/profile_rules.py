"""Profile rules: which profile an address belongs to. The narrowest rule wins."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.core.inbound import Inbound
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.validation import checked_id, checked_name

_PLACES = ("platform", "account", "scope", "chat", "thread")
"""From the widest to the narrowest."""


class ProfileRule(Struct, frozen=True, kw_only=True):
    """Leads what comes from somewhere to a profile; what it leaves out may be anything."""

    profile: str
    platform: str | None = None
    account: str | None = None
    scope: str | None = None
    chat: str | None = None
    thread: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no place could be called."""
        profile = checked_name(canonical_profile(self.profile), "profile")
        force_setattr(self, "profile", profile)
        for name in _PLACES:
            if (value := getattr(self, name)) is not None:
                checked_id(value, name)

    def fits(self, inbound: Inbound) -> bool:
        """Tell whether everything that the rule names is so."""
        return all(
            wanted in (None, found)
            for name in _PLACES
            for wanted, found in [(getattr(self, name), getattr(inbound.address, name))]
        )

    @property
    def narrowness(self) -> tuple[bool, ...]:
        """How narrow it is: a thread beats a chat, a chat a scope, and so on up."""
        return tuple(getattr(self, name) is not None for name in reversed(_PLACES))


def profile_for(inbound: Inbound, rules: Iterable[ProfileRule], default: str = MAIN_PROFILE) -> str:
    """Choose the profile that something belongs to.

    One that came with it (by the path of its address) stays. Of two rules that are equally narrow
    the first one holds.
    """
    if inbound.profile != MAIN_PROFILE:
        return inbound.profile
    fitting = [rule for rule in rules if rule.fits(inbound)]
    if not fitting:
        return canonical_profile(default)
    return max(fitting, key=lambda rule: rule.narrowness).profile
