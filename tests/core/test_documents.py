"""Pages for people: nothing that somebody wrote becomes part of the page."""

import re
import time
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from threadline.core.address import Kind
from threadline.core.document import DocumentWriter, PageLine
from threadline.core.hidden_range import CutKey, HiddenRange, HiddenRangeKind
from threadline.core.html_export import WebPage
from threadline.core.markdown_export import MarkdownPage, escape, fence_code
from threadline.core.message import (
    Attachment,
    BlobHash,
    MediaKind,
    Message,
    MessageKey,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.session import Cause, Session, SessionId, TitleSource
from threadline.testing.deadline import HANG_SECONDS

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HARM = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg/onload=alert(1)>',
    "'-alert(1)-'",
    "</div></main></body></html><script>1</script>",
    "</details></summary><b>",
    "</style><style>*{}</style>",
    "<!-- comment",
    "<![CDATA[x]]>",
    "&lt;b&gt; &#60;script&#62;",
    "[click](javascript:alert(1))",
    "![x](http://evil/x.png)",
    "[x]: http://evil",
    "<javascript:alert(1)>",
    "<http://evil>",
    "```\nclosed\n```\n# heading",
    "```\nnever closed\n# heading",
    "````\n```\n````",
    "~~~\n<b>\n~~~",
    "    indented <b>code</b>",
    "\tindented",
    "# heading",
    "Setext\n===",
    "Setext\n---",
    "> quote",
    "- item\n* item\n+ item\n1. item\n2) item",
    "---\n***\n___",
    "| a | b |\n|---|---|\n| c | d |",
    "*emph* _emph_ **strong** __strong__ `code` ~~gone~~",
    "line one\nline two\n\nparagraph",
    "ends in backslash\\\nnext",
    "\\<b\\>",
    "a\u202eb \x1b[31mred\x07",
    "$math$ $$x$$",
    "trailing  \nbreak",
    "<details open ontoggle=alert(1)>",
    "{{ template }} {% raw %}",
]


def session(title: str) -> Session:
    """Make a session with a title."""
    return Session(
        id=SessionId("20260302_090000_00000001"),
        profile="main",
        platform="telegram",
        kind=Kind.DM,
        parent_id=None,
        root_id=SessionId("20260302_090000_00000001"),
        cause=Cause.FIRST,
        opened_at=AT,
        last_activity_at=AT,
        ended_at=None,
        end_reason=None,
        suspended_at=None,
        title=title,
        titled_by=TitleSource.PERSON,
        choice=None,
        last_seq=1,
        revision=1,
    )


def line(*parts: Part, speaker: str = "Alice") -> PageLine:
    """Make a line of a page."""
    message = Message(
        key=MessageKey(1),
        session_id=SessionId("20260302_090000_00000001"),
        seq=1,
        role=Role.USER,
        parts=parts,
        at=AT,
    )
    return PageLine(message=message, speaker=speaker)


def written(page: DocumentWriter, text: str) -> str:
    """Write a page on which a text stands wherever a text can stand."""
    cut = HiddenRange(
        key=CutKey(1), kind=HiddenRangeKind.COMPACTED, from_seq=1, to_seq=1, user_messages=0,
        summary=text, made_at=AT,
    )  # fmt: skip
    file = Attachment(
        kind=MediaKind.IMAGE, blob=BlobHash("0" * 64), media_type="image/svg+xml", size=3,
        name=" ".join(text.replace("\x1b", "").split())[:60] or "x",
    )  # fmt: skip
    said = line(
        Text(text=text),
        ToolCall(id="c", name=text[:60].replace("\n", " "), arguments=text),
        ToolResult(call_id="c", text=text),
        Reasoning(text=text),
        file,
        speaker=text.replace("\n", " "),
    )
    last = line(Text(text="END"))
    pieces = [page.begin(session(text)), page.line(said), page.divide(cut), page.line(last)]
    return "".join(pieces) + page.end()


class Tags(HTMLParser):
    """Collects the tags, their attributes and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]

    def handle_data(self, data: str) -> None:
        self.text += data


def tags_of(page: str) -> Tags:
    """Read a page as a browser would."""
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


@pytest.mark.parametrize("harm", HARM)
def test_a_web_page_has_the_same_tags_whatever_is_said(harm: str) -> None:
    """Nobody can add a tag, an attribute or a link to the page."""
    bad, good = tags_of(written(WebPage(), harm)), tags_of(written(WebPage(), "harmless"))

    assert bad.tags == good.tags
    assert bad.links == good.links == []
    assert "\x1b" not in bad.text


@pytest.mark.parametrize("harm", HARM)
def test_markdown_shows_what_was_said(harm: str) -> None:
    """Rendered, the text reads as it was written, and is no link, image, heading or HTML."""
    page = "".join([MarkdownPage().begin(session("t")), MarkdownPage().line(line(Text(text=harm)))])
    rendered = tags_of(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(page))

    allowed = {"h1", "ul", "li", "p", "hr", "strong", "br", "pre", "code"}
    assert {tag for tag, _ in rendered.tags} <= allowed
    assert rendered.links == []
    shown = rendered.text.partition("UTC")[2].partition("UTC")[2]
    # The ticks of a block of code are not shown.
    said = re.sub("[\x1b\x07\u202e]", "", harm)
    assert squeezed(shown.replace("`", "")) == squeezed(said.replace("`", ""))


@pytest.mark.parametrize("harm", HARM)
def test_markdown_holds_everything_together(harm: str) -> None:
    """Whatever is said, called, answered or thought, what follows is still a line of its own."""
    page = written(MarkdownPage(), harm)
    rendered = MarkdownIt("commonmark").render(page)
    tags = tags_of(rendered)

    assert rendered.endswith("<p>END</p>\n")
    assert {"script", "img", "a", "svg", "style", "b", "h2"}.isdisjoint(tag for tag, _ in tags.tags)
    assert [tag for tag, _ in tags.tags].count("details") == 3
    assert rendered.count("</details>") == 3


@given(st.text(max_size=80))
def test_any_text_is_shown_as_it_is(text: str) -> None:
    """Escaped and rendered, every text reads the same, apart from white space."""
    plain = re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "", text)
    rendered = tags_of(MarkdownIt("commonmark").render(escape(plain)))

    assert squeezed(rendered.text) == squeezed(plain)
    assert {tag for tag, _ in rendered.tags} <= {"p", "br"}


@given(st.text("`~\n ab", max_size=60))
def test_a_fence_cannot_be_ended(text: str) -> None:
    """Whatever stands in a block of code, the block ends where it should."""
    rendered = MarkdownIt("commonmark").render(fence_code(text) + "\nafter\n")

    assert rendered.endswith("<p>after</p>\n")
    assert rendered.count("<pre>") == 1


def test_code_stays_code() -> None:
    """A block of code that somebody closed is one on the page, too."""
    page = MarkdownPage().line(line(Text(text="so:\n```python\nx = '<b>'\n```\ndone *now*")))

    assert "```python\nx = '<b>'\n```\n" in page
    assert "done \\*now\\*" in page


def test_small_images_stand_in_the_page() -> None:
    """A picture is embedded; what could carry a script, or is too large, is only named."""
    blob = BlobHash("0" * 64)
    picture = Attachment(kind=MediaKind.IMAGE, blob=blob, media_type="image/png", size=3, name="a")
    drawing = Attachment(kind=MediaKind.IMAGE, blob=blob, media_type="image/svg+xml", size=3)

    said = line(picture, drawing).message
    page = WebPage().line(PageLine(message=said, speaker="x", images=((blob, b"png"),)))
    large = PageLine(message=line(picture).message, speaker="x", images=((blob, b"x" * 2**21),))

    assert tags_of(page).links == ["data:image/png;base64,cG5n"]
    assert tags_of(WebPage().line(large)).links == []


def test_a_page_asks_for_nothing() -> None:
    """It forbids scripts and requests by itself, and follows light and dark."""
    page = written(WebPage(), "x")

    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert "<script" not in page
    assert not re.search(r"https?://", page)


def test_many_fences_take_no_time() -> None:
    """A text made of fences that nobody closes is written within seconds."""
    began = time.process_time()

    MarkdownPage().line(line(Text(text="```a\n" * 100_000)))

    assert time.process_time() - began < HANG_SECONDS


def squeezed(text: str) -> str:
    """Leave white space out, which Markdown folds."""
    return "".join(text.replace("\u00a0", " ").split())
