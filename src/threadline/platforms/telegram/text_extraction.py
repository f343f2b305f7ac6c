"""Text extraction: what a Telegram message says, in words that anybody can read."""

from collections.abc import Iterator

from aiogram import types

from threadline.platforms.telegram.people import one_line_name, person_name

EXCERPT = 400
"""Characters of a message that are repeated where somebody answers it."""


def message_text(message: types.Message) -> str:
    """Write what a message says; empty where it only brings files, or tells of the chat."""
    said = _spoken(message)
    lines = [line for line in (_origin(message), said, *_lines(message)) if line]
    return "\n".join(lines).replace("\0", "")


def reply_excerpt(message: types.Message, answered: types.Message | None) -> str:
    """Repeat in short what a message answers, as nobody else may know that any more."""
    quote = message.quote.text if message.quote is not None else ""
    if answered is not None:
        said = quote or message_text(answered) or answered.content_type.replace("_", " ")
        return _answering(_speaker(answered), said)
    if message.external_reply is not None:
        said = quote or "something from another chat"
        return _answering(_origin_name(message.external_reply.origin), said)
    if message.reply_to_story is not None:
        return _answering(one_line_name(message.reply_to_story.chat.title), "a story")
    return ""


def _answering(who: str | None, said: str) -> str:
    said = said.replace("\0", "")
    short = said if len(said) <= EXCERPT else f"{said[: EXCERPT - 1].rstrip()}…"
    return f"[In reply to {who}: {short}]" if who else f"[In reply to: {short}]"


def _speaker(message: types.Message) -> str | None:
    if message.sender_chat is not None:
        return one_line_name(message.sender_chat.title)
    return person_name(message.from_user) if message.from_user is not None else None


def _spoken(message: types.Message) -> str:
    if message.text is not None:
        return with_links(message.text, message.entities or [])
    if message.caption is not None:
        return with_links(message.caption, message.caption_entities or [])
    return ""


def with_links(text: str, entities: list[types.MessageEntity]) -> str:
    """Write out the links that words hide."""
    links = sorted((one for one in entities if one.type == "text_link"), key=lambda one: one.offset)
    if not links:
        return text
    units, told, at = text.encode("utf-16-le"), [], 0
    for link in links:
        start, end = 2 * link.offset, 2 * (link.offset + link.length)
        if at <= start < end <= len(units) and link.url:
            told += [_text(units[at:start]), f"[{_text(units[start:end])}]({link.url})"]
            at = end
    return "".join((*told, _text(units[at:])))


def entity_text(text: str, entity: types.MessageEntity) -> str:
    """Cut out what an entity covers: Telegram counts in UTF-16 units."""
    units = text.encode("utf-16-le")
    return _text(units[max(2 * entity.offset, 0) : max(2 * (entity.offset + entity.length), 0)])


def _text(units: bytes) -> str:
    return units.decode("utf-16-le", "replace")


def _origin(message: types.Message) -> str:
    """Say whose words these are, if not the sender's: then they are no command either."""
    if message.via_bot is not None:
        return f"[Written by the bot {person_name(message.via_bot)}]"
    if message.forward_origin is None or message.is_automatic_forward:
        return ""
    who = _origin_name(message.forward_origin)
    return f"[Forwarded from {who}]" if who else "[Forwarded]"


def _origin_name(origin: types.MessageOriginUnion) -> str | None:
    match origin:
        case types.MessageOriginUser():
            return person_name(origin.sender_user)
        case types.MessageOriginHiddenUser():
            return one_line_name(origin.sender_user_name)
        case types.MessageOriginChat():
            return one_line_name(origin.sender_chat.title)
        case types.MessageOriginChannel():
            return one_line_name(origin.chat.title)


def _lines(message: types.Message) -> Iterator[str]:
    """Write a line for everything that is neither words nor a file."""
    if (venue := message.venue) is not None:
        yield f"[Venue: {venue.title}, {venue.address} ({_point(venue.location)})]"
    elif (location := message.location) is not None:
        yield f"[{'Live location' if location.live_period else 'Location'}: {_point(location)}]"
    if (contact := message.contact) is not None:
        name = " ".join(filter(None, (contact.first_name, contact.last_name)))
        yield f"[Contact: {name}, {contact.phone_number}]"
    if (sticker := message.sticker) is not None:
        yield f"[Sticker {sticker.emoji}]" if sticker.emoji else "[Sticker]"
    if (dice := message.dice) is not None:
        yield f"[Dice {dice.emoji}: {dice.value}]"
    yield from _lists(message)
    yield from _offers(message)
    yield from _shared(message)


def _lists(message: types.Message) -> Iterator[str]:
    if (poll := message.poll) is not None:
        yield f"[Poll: {poll.question}]"
        yield from (f"- {option.text}" for option in poll.options)
    if (checklist := message.checklist) is not None:
        yield f"[Checklist: {checklist.title}]"
        for task in checklist.tasks:
            yield f"- [{'x' if task.completion_date else ' '}] {task.text}"


def _offers(message: types.Message) -> Iterator[str]:
    if (game := message.game) is not None:
        yield f"[Game: {game.title}. {game.description}]"
    if (invoice := message.invoice) is not None:
        yield f"[Invoice: {invoice.title}. {invoice.description}]"
    if (media := message.paid_media) is not None:
        yield f"[Paid media for {media.star_count} stars]"
    if (giveaway := message.giveaway) is not None:
        yield f"[Giveaway: {giveaway.prize_description or 'prizes'} for {giveaway.winner_count}]"
    if (winners := message.giveaway_winners) is not None:
        names = ", ".join(filter(None, (person_name(one) for one in winners.winners)))
        yield f"[Giveaway won by {names or winners.winner_count}]"
    for gift in (message.gift, message.unique_gift):
        if gift is not None:
            yield f"[Gift: {gift.text}]" if gift.text else "[Gift]"


def _shared(message: types.Message) -> Iterator[str]:
    if (story := message.story) is not None:
        whose = one_line_name(story.chat.title) or one_line_name(story.chat.full_name)
        yield f"[Story of {whose}]" if whose else "[Story]"
    if (users := message.users_shared) is not None:
        names = (one.first_name or one.username or str(one.user_id) for one in users.users)
        yield f"[Shared people: {', '.join(names)}]"
    if (chat := message.chat_shared) is not None:
        yield f"[Shared chat: {chat.title or chat.username or chat.chat_id}]"
    if (data := message.web_app_data) is not None:
        yield f"[From the web app, {data.button_text}: {data.data}]"


def _point(location: types.Location) -> str:
    return f"{location.latitude:.5f}, {location.longitude:.5f}"
