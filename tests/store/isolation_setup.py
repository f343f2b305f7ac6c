"""The stage on which it is shown who sees what: two persons, a stranger, groups and an owner."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.person import Identity, Viewer
from threadline.core.session import SessionId
from threadline.store import Store

ADA, ADA_ABROAD = Sender(id="ada"), Sender(id="ada-abroad")
BOB, BOB_ABROAD = Sender(id="bob"), Sender(id="bob-abroad")
EVE, UNHEARD, NOBODY = Sender(id="eve"), Sender(id="unheard-of"), Sender()

GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="g")
THREAD = Address(platform="telegram", kind=Kind.THREAD, chat="g", thread="t")
SHARED = Address(platform="slack", kind=Kind.GROUP, chat="h")
"""A platform on which all members of a group have one conversation."""


NAMESAKE = Address(platform="telegram", kind=Kind.DM, chat="g")
"""A direct chat that is called like the group."""


def dm(sender: Sender, platform: str = "telegram") -> Address:
    """Be alone with the agent."""
    return Address(platform=platform, kind=Kind.DM, chat=f"chat-of-{sender.id}")


SCENES: Mapping[str, tuple[Address, Sender, str]] = {
    "adahome": (dm(ADA), ADA, "main"),
    "adaabroad": (dm(ADA_ABROAD, "signal"), ADA_ABROAD, "main"),
    "adamember": (GROUP, ADA, "main"),
    "adawork": (dm(ADA), ADA, "work"),
    "bobhome": (dm(BOB), BOB, "main"),
    "bobabroad": (dm(BOB_ABROAD, "signal"), BOB_ABROAD, "main"),
    "bobmember": (GROUP, BOB, "main"),
    "evehome": (dm(EVE), EVE, "main"),
    "thread": (THREAD, ADA, "main"),
    "channel": (SHARED, BOB, "main"),
    "anonymous": (NAMESAKE, NOBODY, "main"),
}
"""Every sort of session, by the one word that is said in it and that is its title."""

ADAS_HOME = {"adahome", "adamember", "adaended", "adabranch"}
ADAS = ADAS_HOME | {"adaabroad"}
BOBS_HOME = {"bobhome", "bobmember"}
BOBS = BOBS_HOME | {"bobabroad"}
EVES = {"evehome"}
EVERYBODYS = ADAS | BOBS | EVES | {"thread", "channel", "anonymous"}


def ask(address: Address, sender: Sender, profile: str = "main") -> Viewer:
    """Ask as somebody, somewhere."""
    return Viewer(address=address, sender=sender, profile=profile)


ASKERS: Mapping[str, Viewer] = {
    "ada": ask(dm(ADA), ADA),
    "ada abroad": ask(dm(ADA_ABROAD, "signal"), ADA_ABROAD),
    "ada in the group": ask(GROUP, ADA),
    "ada in the thread": ask(THREAD, ADA),
    "ada in another thread": ask(replace(THREAD, thread="u"), ADA),
    "ada in a dm called like the group": ask(NAMESAKE, ADA),
    "ada in the group of another account": ask(replace(GROUP, account="second"), ADA),
    "ada's id on another platform": ask(dm(ADA, "slack"), ADA),
    "ada at work": ask(dm(ADA), ADA, "work"),
    "ada elsewhere": ask(dm(ADA), ADA, "elsewhere"),
    "bob": ask(dm(BOB), BOB),
    "bob abroad": ask(dm(BOB_ABROAD, "signal"), BOB_ABROAD),
    "bob in the group": ask(GROUP, BOB),
    "eve": ask(dm(EVE), EVE),
    "eve in the group": ask(GROUP, EVE),
    "eve in the channel": ask(SHARED, EVE),
    "eve in ada's chat": ask(dm(ADA), EVE),
    "somebody unheard of": ask(dm(UNHEARD), UNHEARD),
    "somebody unheard of in the group": ask(GROUP, UNHEARD),
    "nobody": ask(NAMESAKE, NOBODY),
    "nobody in the channel": ask(SHARED, NOBODY),
    "the owner": Viewer.owner(),
    "the owner at work": Viewer.owner("work"),
}

LINKED: Mapping[str, set[str]] = {
    "ada": ADAS,
    "ada abroad": ADAS,
    "ada in the group": ADAS | {"thread"},
    "ada in the thread": ADAS | {"thread"},
    "ada in another thread": ADAS | {"thread"},
    "ada in a dm called like the group": ADAS,
    "ada in the group of another account": ADAS,
    "ada's id on another platform": set(),
    "ada at work": {"adawork"},
    "ada elsewhere": set(),
    "bob": BOBS,
    "bob abroad": BOBS,
    "bob in the group": BOBS | {"thread"},
    "eve": EVES,
    "eve in the group": EVES | {"thread"},
    "eve in the channel": {"channel"},
    "eve in ada's chat": EVES,
    "somebody unheard of": set(),
    "somebody unheard of in the group": {"thread"},
    "nobody": set(),
    "nobody in the channel": {"channel"},
    "the owner": EVERYBODYS,
    "the owner at work": {"adawork"},
}
"""Who sees what while Ada's two senders are one person, and Bob's are."""

PARTED: Mapping[str, set[str]] = {
    name: seen - {"adaabroad", "bobabroad"} if name.startswith(("ada", "bob")) else seen
    for name, seen in LINKED.items()
} | {"ada abroad": {"adaabroad"}, "bob abroad": {"bobabroad"}}
"""The same after both have parted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A store with every sort of session."""

    store: Store
    ids: Mapping[str, SessionId]

    @property
    def names(self) -> Mapping[SessionId, str]:
        """The words by which sessions are known."""
        return {id: name for name, id in self.ids.items()}


async def build(store: Store) -> Stage:
    """Let everybody speak, and link Ada's and Bob's two senders."""
    ids: dict[str, SessionId] = {}
    await _speak(store, "adaended", *SCENES["adahome"], ids)
    await store.sessions.reset(dm(ADA), ADA)
    for name, (address, sender, profile) in SCENES.items():
        await _speak(store, name, address, sender, profile, ids)
    ids["adabranch"] = (await store.transcripts.branch(ids["adahome"], title="adabranch")).id
    for one, other in (("ada", "ada-abroad"), ("bob", "bob-abroad")):
        await store.join(
            Identity(platform="telegram", id=one), Identity(platform="signal", id=other)
        )
    return Stage(store=store, ids=ids)


async def part(stage: Stage) -> None:
    """Let everybody be by themselves again."""
    for sender in (ADA_ABROAD, BOB_ABROAD):
        parting = await stage.store.people.unlink(dm(sender, "signal"), sender)
        assert parting is not None


async def _speak(
    store: Store,
    name: str,
    address: Address,
    sender: Sender,
    profile: str,
    ids: dict[str, SessionId],
) -> None:
    said = Inbound.text(name, address=address, sender=sender, at=store.now(), profile=profile)
    arrival = await store.receive(said)
    assert arrival.session_id is not None
    ids[name] = arrival.session_id
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, f"{name} it is")])
