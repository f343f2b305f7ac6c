"""Address and sender: where something was said, and who said it."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.core.validation import checked_choice, checked_flag, checked_id, checked_text, unfit


class Kind(StrEnum):
    """What sort of place an address is."""

    DM = "dm"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"


class Address(Struct, frozen=True, kw_only=True):
    """Where a message was said."""

    platform: str
    kind: Kind
    chat: str = ""
    account: str = ""
    """Which of our accounts on the platform heard it; empty: the only one."""
    thread: str | None = None
    alt_chat: str | None = None
    """Another id of the same chat (Signal's internal group id): kept, never routed by."""
    parent: str | None = None
    scope: str | None = None
    """The Discord guild, Slack workspace or Matrix server around the chat."""
    chat_name: str | None = None
    topic: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be stored; an empty optional field is none."""
        if not checked_id(self.platform, "platform"):
            raise unfit(self.platform, "platform", "the name of a platform")
        force_setattr(self, "kind", checked_choice(self.kind, "kind", Kind))
        checked_id(self.chat, "chat")
        checked_id(self.account, "account")
        for name in ("thread", "alt_chat", "parent", "scope"):
            if (value := getattr(self, name)) is not None:
                force_setattr(self, name, _id_or_none(value, name))
        for name in ("chat_name", "topic"):
            if (value := getattr(self, name)) is not None:
                force_setattr(self, name, _text_or_none(value, name))

    def as_dict(self) -> dict[str, object]:
        """Give plain values, fit for JSON, without the fields that are empty."""
        return _as_dict(self)


class Sender(Struct, frozen=True, kw_only=True):
    """Who said something; without any id, nobody we could tell apart."""

    id: str | None = None
    alt_id: str | None = None
    """An id that stays when the other one changes (Signal UUID, Feishu union id)."""
    name: str | None = None
    is_bot: bool = False
    by_role: bool = False
    """Let in because of a role they have on the platform."""

    def __post_init__(self) -> None:
        """Refuse what could not be stored; an empty optional field is none."""
        for name in ("id", "alt_id"):
            force_setattr(self, name, _id_or_none(getattr(self, name), f"sender {name}"))
        force_setattr(self, "name", _text_or_none(self.name, "sender name"))
        for name in ("is_bot", "by_role"):
            checked_flag(getattr(self, name), name)

    @property
    def canonical(self) -> str | None:
        """The id that tells this sender from others: the alternative one wins."""
        return self.alt_id or self.id

    def as_dict(self) -> dict[str, object]:
        """Give plain values, fit for JSON, without the fields that are empty."""
        return _as_dict(self)


def address_from(mapping: Mapping[str, object]) -> Address:
    """Read an address from plain values; a scope is also known by its old name `guild_id`."""
    given = _given(mapping, "address")
    return Address(
        platform=checked_id(given.get("platform"), "platform"),
        kind=checked_choice(given.get("kind"), "kind", Kind),
        chat=checked_id(given.get("chat", ""), "chat"),
        account=checked_id(given.get("account", ""), "account"),
        thread=_id_or_none(given.get("thread"), "thread"),
        alt_chat=_id_or_none(given.get("alt_chat"), "alt_chat"),
        parent=_id_or_none(given.get("parent"), "parent"),
        scope=_id_or_none(given.get("scope", given.get("guild_id")), "scope"),
        chat_name=_text_or_none(given.get("chat_name"), "chat_name"),
        topic=_text_or_none(given.get("topic"), "topic"),
    )


def sender_from(mapping: Mapping[str, object]) -> Sender:
    """Read a sender from plain values."""
    given = _given(mapping, "sender")
    return Sender(
        id=_id_or_none(given.get("id"), "sender id"),
        alt_id=_id_or_none(given.get("alt_id"), "sender alt_id"),
        name=_text_or_none(given.get("name"), "sender name"),
        is_bot=checked_flag(given.get("is_bot", False), "is_bot"),
        by_role=checked_flag(given.get("by_role", False), "by_role"),
    )


def _given(mapping: Mapping[str, object], what: str) -> Mapping[str, object]:
    if not isinstance(mapping, Mapping):
        raise unfit(mapping, what, "an object with named fields")
    return {name: value for name, value in mapping.items() if value not in (None, "")}


def _id_or_none(value: object, what: str) -> str | None:
    return None if value is None else checked_id(value, what) or None


def _text_or_none(value: object, what: str) -> str | None:
    return None if value is None else checked_text(value, what) or None


def _as_dict(value: Address | Sender) -> dict[str, object]:
    plain = {name: getattr(value, name) for name in value.__struct_fields__}
    return {name: _plain(item) for name, item in plain.items() if item not in (None, "", False)}


def _plain(item: object) -> object:
    return item.value if isinstance(item, StrEnum) else item
