"""What a search answers, lineage, the minimap and drafts."""

from pydantic import Field

from threadline.core.draft import DRAFT_LIMIT, Draft
from threadline.core.message import Role
from threadline.core.minimap import Bucket
from threadline.core.search import Found, Hit, Snippet, TitleHit
from threadline.core.session import Cause
from threadline.store.branches.lineage import Child
from threadline.web.resources.schemas.bodies import Moment, RequestBody, ResponseBody
from threadline.web.resources.schemas.messages import MessageView


class SnippetView(ResponseBody):
    """A stretch of a text, and where in it the words stand that were looked for."""

    text: str
    ranges: list[tuple[int, int]] = Field(description="From and to, counted in characters.")

    @classmethod
    def from_snippet(cls, snippet: Snippet) -> "SnippetView":
        """Show a snippet."""
        return cls(text=snippet.text, ranges=list(snippet.ranges))


class HitView(ResponseBody):
    """A line that says what was looked for; it opens at `session_id` and `seq`."""

    session_id: str
    seq: int
    key: int
    role: Role
    at: Moment
    title: str | None
    snippet: SnippetView
    rank: int

    @classmethod
    def from_hit(cls, hit: Hit) -> "HitView":
        """Show a hit."""
        return cls(
            session_id=hit.session_id,
            seq=hit.seq,
            key=hit.key,
            role=hit.role,
            at=hit.at,
            title=hit.title,
            snippet=SnippetView.from_snippet(hit.snippet),
            rank=hit.rank,
        )


class TitleHitView(ResponseBody):
    """A session whose title says what was looked for."""

    session_id: str
    title: SnippetView
    last_activity_at: Moment

    @classmethod
    def from_hit(cls, hit: TitleHit) -> "TitleHitView":
        """Show a hit."""
        return cls(
            session_id=hit.session_id,
            title=SnippetView.from_snippet(hit.title),
            last_activity_at=hit.last_activity_at,
        )


class FoundView(ResponseBody):
    """A page of what was found, the best first."""

    sessions: list[TitleHitView] = Field(description="By their titles; on the first page only.")
    items: list[HitView]
    next: str | None = Field(description="Give this as `after` for the next page.")
    is_complete: bool = Field(description="False while much is still to be indexed.")

    @classmethod
    def from_found(cls, found: Found) -> "FoundView":
        """Show what was found."""
        return cls(
            sessions=[TitleHitView.from_hit(one) for one in found.sessions],
            items=[HitView.from_hit(one) for one in found.hits],
            next=None if found.next is None else str(found.next),
            is_complete=found.is_complete,
        )


class ChildView(ResponseBody):
    """A session that began from another one."""

    id: str
    cause: Cause
    title: str | None
    base_seq: int | None = Field(
        description="Up to which line a branch shares what was said; null: it is none."
    )
    opened_at: Moment

    @classmethod
    def from_child(cls, child: Child) -> "ChildView":
        """Show a child."""
        return cls(
            id=child.id,
            cause=child.cause,
            title=child.title,
            base_seq=child.base_seq,
            opened_at=child.opened_at,
        )


class LineageView(ResponseBody):
    """The kin of a session, as far as whoever asks may see it."""

    root_id: str | None
    parent_id: str | None
    cause: Cause
    first_id: str | None
    latest_id: str | None
    children: list[ChildView] = Field(description="The newest of them.")
    number_of_children: int


class StitchedView(ResponseBody):
    """A page of a conversation through all its continuations."""

    items: list[MessageView]
    before: str | None = Field(description="Give this as `before` for what is earlier.")
    after: str | None = Field(description="Give this as `after` for what is later.")


class BucketView(ResponseBody):
    """A stretch of a transcript, and what stands in it."""

    first_seq: int
    last_seq: int
    user: int
    assistant: int
    tool: int
    system: int
    markers: int
    hidden: int

    @classmethod
    def from_bucket(cls, one: Bucket) -> "BucketView":
        """Show a bucket."""
        return cls(
            first_seq=one.first_seq,
            last_seq=one.last_seq,
            user=one.user,
            assistant=one.assistant,
            tool=one.tool,
            system=one.system,
            markers=one.markers,
            hidden=one.hidden,
        )


class MinimapView(ResponseBody):
    """A long transcript seen from afar."""

    items: list[BucketView]


class DraftView(ResponseBody):
    """Unsent words, in a session or in the one that is not there yet."""

    session_id: str | None
    text: str
    changed_at: Moment

    @classmethod
    def from_draft(cls, draft: Draft) -> "DraftView":
        """Show a draft."""
        return cls(session_id=draft.session_id, text=draft.text, changed_at=draft.changed_at)


class DraftListView(ResponseBody):
    """What a device has begun to write, the latest first."""

    items: list[DraftView]


class DraftRequest(RequestBody):
    """What a device has begun to write; nothing at all forgets it."""

    text: str = Field(max_length=DRAFT_LIMIT)
