"""HTML as the Bot API reads it: a few tags, strictly nested, and its own words for mistakes."""

import re
from dataclasses import dataclass, field

from tests.doubles.telegram.entities import units
from tests.doubles.telegram.refusals import Refusal, Wire, bad

_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "span": "spoiler",
    "tg-spoiler": "spoiler",
    "tg-emoji": "custom_emoji",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}
_NAMES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_ENTITY = re.compile(r"&(?:#x([0-9a-fA-F]{1,8});?|#([0-9]{1,9});?|(lt|gt|amp|quot)(?![a-zA-Z]);?)")
_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(r"[0-9a-zA-Z.-]*")


def read_html(markup: str) -> tuple[str, list[Wire]]:
    """Answer the text and its entities, or refuse the markup as Telegram does."""
    return _Reader(markup).read()


@dataclass(slots=True)
class _Open:
    """A tag whose end has not come yet."""

    name: str
    attributes: dict[str, str]
    offset: int
    begin: int
    """Where its words begin in the text."""


@dataclass(slots=True)
class _Reader:
    """Walks over the markup once."""

    markup: str
    at: int = 0
    text: str = ""
    entities: list[Wire] = field(default_factory=list)
    opened: list[_Open] = field(default_factory=list)

    def read(self) -> tuple[str, list[Wire]]:
        while self.at < len(self.markup):
            sign = self.markup[self.at]
            if sign == "<" and self.markup[self.at + 1 : self.at + 2] == "/":
                self._end_tag()
            elif sign == "<":
                self._start_tag()
            else:
                self.text += self._sign()
        if self.opened:
            name = self.opened[-1].name
            raise _mistake(f'Can\'t find end tag corresponding to start tag "{name}"')
        return self.text, self.entities

    def _sign(self) -> str:
        """Read one sign, which may be written with an ampersand."""
        if found := _ENTITY.match(self.markup, self.at):
            code = int(found[1], 16) if found[1] else int(found[2] or 0)
            if found[3] or (0 < code <= 0x10FFFF and not 0xD800 <= code < 0xE000):
                self.at = found.end()
                return _NAMES[found[3]] if found[3] else chr(code)
        self.at += 1
        return self.markup[self.at - 1]

    def _start_tag(self) -> None:
        begin = self.at
        self.at += 1
        name = self._until(r"[\s>]").lower()
        if self.at >= len(self.markup):
            raise self._wrong("Unclosed start tag", begin)
        if name not in _TAGS:
            raise self._wrong(f'Unsupported start tag "{name}"', begin)
        attributes = self._attributes(name, begin)
        self.at += 1
        if name == "span" and attributes.get("class") != "tg-spoiler":
            raise self._wrong('Tag "span" must have class "tg-spoiler"', begin)
        self.opened.append(_Open(name, attributes, units(self.text), len(self.text)))

    def _attributes(self, name: str, begin: int) -> dict[str, str]:
        found: dict[str, str] = {}
        while True:
            self._skip()
            if self._sees(">"):
                return found
            if self.at >= len(self.markup):
                raise self._wrong(f'Unclosed start tag "{name}"', begin)
            key = self._until(r"[\s=>]").lower()
            if not key:
                raise self._wrong(f'Empty attribute name in the tag "{name}"', begin)
            self._skip()
            found[key] = self._value(name, begin) if self._sees("=") else ""

    def _value(self, name: str, begin: int) -> str:
        self.at += 1
        self._skip()
        if self.at >= len(self.markup):
            raise self._wrong(f'Unclosed start tag "{name}"', begin)
        quote = self.markup[self.at]
        if quote not in "\"'":
            token_begin = self.at
            found = _TOKEN.match(self.markup, self.at)
            self.at = found.end() if found else self.at
            if not re.match(r"[\s>]", self.markup[self.at : self.at + 1]):
                raise self._wrong("Unexpected end of name token", token_begin)
            return self.markup[token_begin : self.at].lower()
        self.at += 1
        value = ""
        while not self._sees(quote):
            if self.at >= len(self.markup):
                raise self._wrong("Unclosed start tag", begin)
            value += self._sign()
        self.at += 1
        return value

    def _end_tag(self) -> None:
        begin = self.at
        if not self.opened:
            raise self._wrong("Unexpected end tag", begin)
        self.at += 2
        name = self._until(r"[\s>]").lower()
        self._skip()
        if not self._sees(">"):
            raise self._wrong("Unclosed end tag", begin)
        self.at += 1
        tag = self.opened.pop()
        if name and name != tag.name:
            expected = f'expected "</{tag.name}>", found "</{name}>"'
            raise self._wrong("Unmatched end tag", begin, f", {expected}")
        length = units(self.text) - tag.offset
        if length:
            self._close(tag, length)

    def _close(self, tag: _Open, length: int) -> None:
        """Make the entity that a pair of tags stands for, if it stands for one."""
        entity: Wire = {"type": _TAGS[tag.name], "offset": tag.offset, "length": length}
        match tag.name:
            case "a":
                words = tag.attributes.get("href") or self.text[tag.begin :]
                if (link := link_entity(words)) is None:
                    return
                entity |= link
            case "tg-emoji":
                entity["custom_emoji_id"] = tag.attributes.get("emoji-id", "")
            case "blockquote" if "expandable" in tag.attributes:
                entity["type"] = "expandable_blockquote"
            case "code" if self._names_language(tag, length):
                return
            case _:
                pass
        self.entities.append(entity)

    def _names_language(self, tag: _Open, length: int) -> bool:
        """Tell whether this code only says in which language the block around it is written."""
        language = tag.attributes.get("class", "")
        outer = self.opened[-1] if self.opened else None
        whole = outer is not None and outer.name == "pre" and outer.offset == tag.offset
        if outer is None or not whole or not language.startswith("language-"):
            return False
        self.entities.append(
            {
                "type": "pre",
                "offset": tag.offset,
                "length": length,
                "language": language.removeprefix("language-"),
            }
        )
        self.opened[-1] = _Open("pre", {}, units(self.text), len(self.text))
        return True

    def _until(self, pattern: str) -> str:
        found = re.compile(pattern).search(self.markup, self.at)
        begin, self.at = self.at, found.start() if found else len(self.markup)
        return self.markup[begin : self.at]

    def _skip(self) -> None:
        found = _SPACE.match(self.markup, self.at)
        self.at = found.end() if found else self.at

    def _sees(self, sign: str) -> bool:
        return self.markup.startswith(sign, self.at)

    def _wrong(self, what: str, at: int, more: str = "") -> Refusal:
        return _mistake(f"{what} at byte offset {len(self.markup[:at].encode())}{more}")


def link_entity(url: str) -> Wire | None:
    """Tell what a link becomes: a mention of somebody, a link, or nothing if it leads nowhere."""
    if found := re.fullmatch(r"tg://user\?id=(\d+)", url.strip()):
        return {
            "type": "text_mention",
            "user": {"id": int(found[1]), "is_bot": False, "first_name": "?"},
        }
    if re.fullmatch(r"(?:(?:https?|tg|ton|tonsite)://)?[^\s.:/?#]+[^\s]*", url.strip()) and (
        "." in url or "://" in url
    ):
        whole = url.strip()
        return {"type": "text_link", "url": whole if "://" in whole else f"http://{whole}/"}
    return None


def _mistake(what: str) -> Refusal:
    return bad(f"can't parse entities: {what}")
