"""MarkdownV2 as the Bot API reads it: what is reserved must be escaped, what opens must close."""

import re
from dataclasses import dataclass, field

from tests.doubles.telegram.entities import units
from tests.doubles.telegram.html import link_entity
from tests.doubles.telegram.refusals import Refusal, Wire, bad

_RESERVED = "_*[]()~`>#+-=|{}.!"
_MARKS = (
    ("||", "spoiler"),
    ("__", "underline"),
    ("_", "italic"),
    ("*", "bold"),
    ("~", "strikethrough"),
)
_NAMES = {
    "bold": "Bold",
    "italic": "Italic",
    "underline": "Underline",
    "strikethrough": "Strikethrough",
    "spoiler": "Spoiler",
    "text_link": "TextUrl",
    "custom_emoji": "CustomEmoji",
    "code": "Code",
    "pre": "Pre",
}


def read_markdown(markup: str) -> tuple[str, list[Wire]]:
    """Answer the text and its entities, or refuse the markup as Telegram does."""
    return _Reader(markup).read()


_LEGACY = re.compile(
    r"\\(?P<escaped>[_*`\[])"
    r"|```(?:(?P<language>[^\s`]+)(?=\s))?(?:\r\n|\n\r|[\r\n])?(?P<pre>.*?)```"
    r"|`(?!``)(?P<code>[^`]*)`"
    r"|_(?P<italic>[^_]*)_"
    r"|\*(?P<bold>[^*]*)\*"
    r"|\[(?P<link>[^\]]*)\](?:\((?P<url>[^)]*)\)?)?"
    r"|(?P<unended>[_*`\[])"
    r"|(?P<plain>\\|[^\\_*`\[]+)",
    re.DOTALL,
)


def read_legacy_markdown(markup: str) -> tuple[str, list[Wire]]:
    """Return the text and the entities of the older Markdown: nothing nests, little is reserved."""
    text, entities = "", list[Wire]()
    for found in _LEGACY.finditer(markup):
        kind = found.lastgroup or ""
        if kind == "unended":
            at = len(markup[: found.start()].encode())
            raise _mistake(f"Can't find end of the entity starting at byte offset {at}")
        kind = "link" if kind == "url" else kind
        words = found[kind]
        told: Wire = {"offset": units(text), "length": units(words)}
        text += words
        if not words or kind in {"plain", "escaped"}:
            continue
        if kind != "link":
            entities.append({"type": kind, **told, **_language(found["language"])})
        elif link := link_entity(words if found["url"] is None else found["url"]):
            entities.append({"type": "text_link", **told, **link})
    return text, entities


def _language(name: str | None) -> Wire:
    return {"language": name} if name else {}


@dataclass(slots=True)
class _Open:
    """A mark whose end has not come yet."""

    kind: str
    at: int
    offset: int
    begin: int


@dataclass(slots=True)
class _Reader:
    """Walks over the markup once."""

    markup: str
    at: int = 0
    text: str = ""
    entities: list[Wire] = field(default_factory=list)
    opened: list[_Open] = field(default_factory=list)
    quote: _Open | None = None

    def read(self) -> tuple[str, list[Wire]]:
        while self.at < len(self.markup):
            if not (self._quote() or self._escaped() or self._code() or self._mark()):
                self._plain()
        if self.opened:
            raise self._unended(self.opened[-1])
        self._end_quote()
        return self.text, self.entities

    def _quote(self) -> bool:
        """Open a quotation at the beginning of a line, or go on with it."""
        if self.at and self.markup[self.at - 1] != "\n":
            return False
        found = re.compile(r"(\*\*)?>").match(self.markup, self.at)
        if found is None:
            return False
        if self.quote is not None and found[1]:
            self._end_quote()
        if self.quote is None:
            kind = "expandable_blockquote" if found[1] else "blockquote"
            self.quote = _Open(kind, self.at, units(self.text), len(self.text))
        self.at = found.end()
        return True

    def _end_quote(self) -> None:
        if self.quote is not None:
            self._add(self.quote, units(self.text.rstrip("\n")))
            self.quote = None

    def _escaped(self) -> bool:
        found = re.compile(r"\\([\x01-\x7e])").match(self.markup, self.at)
        if found is None:
            return False
        self.text += found[1]
        self.at = found.end()
        return True

    def _code(self) -> bool:
        """Read code, in which nothing but its own end and the backslash is special."""
        fence = "```" if self._sees("```") else "`"
        if not self._sees(fence):
            return False
        kind = "pre" if fence == "```" else "code"
        mark = _Open(kind, self.at, units(self.text), len(self.text))
        self.at += len(fence)
        more: Wire = {}
        if kind == "pre" and (named := re.compile(r"([^\s`]+)?\n").match(self.markup, self.at)):
            self.at = named.end()
            more = {"language": named[1]} if named[1] else {}
        while not self._sees(fence):
            if self.at >= len(self.markup):
                raise self._unended(mark)
            if not self._escaped():
                self.text += self.markup[self.at]
                self.at += 1
        self.at += len(fence)
        self._add(mark, units(self.text), **more)
        return True

    def _mark(self) -> bool:
        """Open or close what a mark stands for."""
        if self._sees("]") and any(o.kind in {"text_link", "custom_emoji"} for o in self.opened):
            self._end_link()
            return True
        if self._sees("![") or self._sees("["):
            kind = "custom_emoji" if self._sees("!") else "text_link"
            self._open(kind, 2 if kind == "custom_emoji" else 1)
            return True
        if self.quote is not None and not self.opened and self._unfolds():
            self.quote.kind = "expandable_blockquote"
            self.at += 2
            self._end_quote()
            return True
        for mark, kind in _MARKS:
            if self._sees(mark):
                if self.opened and self.opened[-1].kind == kind:
                    self._add(self.opened.pop(), units(self.text))
                    self.at += len(mark)
                else:
                    self._open(kind, len(mark))
                return True
        return False

    def _unfolds(self) -> bool:
        """Tell whether a quotation ends here with the sign that it can be unfolded."""
        return re.compile(r"\|\|(?=\n|$)").match(self.markup, self.at) is not None

    def _open(self, kind: str, width: int) -> None:
        self.opened.append(_Open(kind, self.at, units(self.text), len(self.text)))
        self.at += width

    def _end_link(self) -> None:
        mark = self.opened.pop()
        if mark.kind not in {"text_link", "custom_emoji"}:
            raise self._unended(mark)
        self.at += 1
        url = self.text[mark.begin :]
        if self._sees("("):
            begin = self.at
            self.at += 1
            url = ""
            while not self._sees(")"):
                if self.at >= len(self.markup):
                    raise _mistake(f"Can't find end of a URL at byte offset {self._bytes(begin)}")
                step = 2 if re.compile(r"\\[\x01-\x7e]").match(self.markup, self.at) else 1
                url += self.markup[self.at + step - 1]
                self.at += step
            self.at += 1
        if mark.kind == "custom_emoji":
            found = re.fullmatch(r"tg://emoji\?id=(\d+)", url)
            if found is None:
                raise _mistake("Custom emoji URL must have an emoji identifier")
            self._add(mark, units(self.text), custom_emoji_id=found[1])
        elif link := link_entity(url):
            self._add(mark, units(self.text), **link)

    def _plain(self) -> None:
        sign = self.markup[self.at]
        if sign in _RESERVED:
            raise _mistake(
                f"Character '{sign}' is reserved and must be escaped with the preceding '\\'"
            )
        self.text += sign
        self.at += 1
        goes_on = self._sees(">")
        if sign == "\n" and self.quote is not None and not goes_on and not self._sees("**>"):
            self._end_quote()

    def _add(self, mark: _Open, end: int, **more: object) -> None:
        if end > mark.offset:
            length = end - mark.offset
            self.entities.append(
                {"type": mark.kind, "offset": mark.offset, "length": length, **more}
            )

    def _sees(self, sign: str) -> bool:
        return self.markup.startswith(sign, self.at)

    def _bytes(self, at: int) -> int:
        return len(self.markup[:at].encode())

    def _unended(self, mark: _Open) -> Refusal:
        name = _NAMES.get(mark.kind, mark.kind)
        return _mistake(f"Can't find end of {name} entity at byte offset {self._bytes(mark.at)}")


def _mistake(what: str) -> Refusal:
    return bad(f"can't parse entities: {what}")
