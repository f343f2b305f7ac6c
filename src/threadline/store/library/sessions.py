"""Sessions: find, list and change them."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from threadline.core.account import Account, Actor
from threadline.core.address import Address, Sender
from threadline.core.deletion import Certificate, DeletionPreview
from threadline.core.message import Message
from threadline.core.revision import Seen
from threadline.core.route import MAIN_PROFILE, Route, canonical_profile
from threadline.core.session import (
    EndReason,
    Session,
    SessionId,
    checked_session_id,
    checked_session_ids,
)
from threadline.core.session_list import (
    OWNER,
    ListCursor,
    SessionFilter,
    SessionPage,
)
from threadline.core.session_patch import SessionPatch
from threadline.core.validation import (
    checked_choice,
    checked_id,
    checked_type,
)
from threadline.store import queries
from threadline.store.deletion import forget, preview
from threadline.store.deletion.forget import Progress
from threadline.store.inbound import session_update
from threadline.store.library.group import Group
from threadline.store.people.visibility import read_visible
from threadline.store.sessions import (
    bindings,
    endings,
    session_end,
    session_list,
)
from threadline.store.sessions.bindings import BindingChange
from threadline.store.sessions.route_explanation import (
    Explanation,
    explain_route,
)
from threadline.store.sessions.session_end import Ending
from threadline.store.sessions.session_list import Snapshot


class SessionGroup(Group):
    """Find, list and change them. A session that a named viewer may not see is not found."""

    async def get(self, id: SessionId, *, viewer: Account | None = None) -> Session:
        """Return a session.

        >>> (await store.sessions.get(arrival.session_id)).platform
        'telegram'
        """
        return await self._db.read(
            read_visible, viewer, queries.read_session, checked_session_id(id)
        )

    async def list(
        self,
        only: SessionFilter | None = None,
        *,
        profile: str = MAIN_PROFILE,
        reader: str = OWNER,
        device: str | None = None,
        after: ListCursor | None = None,
        most: int = queries.PAGE,
    ) -> SessionPage:
        """Return a page of sessions, pinned ones first, then the latest activity.

        Without a filter it is the sidebar: nothing archived or scheduled, and nothing empty.
        `after` is the last page's `next`. Unread is what `reader` has not read, and drafts are
        those of `device`.

        >>> page = await store.sessions.list()
        >>> [row.session.id == arrival.session_id for row in page.rows]
        [True]
        """
        return await self._db.read(
            session_list.list_sessions,
            checked_type(only or SessionFilter(), "filter", SessionFilter),
            profile=canonical_profile(profile),
            reader=checked_id(reader, "reader"),
            device=None if device is None else checked_id(device, "device"),
            after=after,
            most=most,
        )

    async def find(self, where: Route) -> SessionId | None:
        """Return the session that a route is bound to, also if it has ended, or None.

        >>> await store.sessions.find(arrival.route) == arrival.session_id
        True
        """
        return await self._db.read(queries.session_of, where)

    async def routes(self, id: SessionId) -> Sequence[Route]:
        """Return the routes that are bound to a session.

        >>> await store.sessions.routes(arrival.session_id) == [arrival.route]
        True
        """
        return await self._db.read(queries.routes_of, checked_session_id(id))

    async def active(
        self, within: timedelta, *, profile: str = MAIN_PROFILE
    ) -> Sequence[SessionId]:
        """Return the sessions that were active within a span of time.

        >>> await store.sessions.active(timedelta(minutes=5)) == [arrival.session_id]
        True
        """
        return await self._db.read(
            session_list.list_active, profile=canonical_profile(profile), within=within
        )

    async def explain(
        self, address: Address, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> Explanation:
        """Return where a message would go if it came now, and why.

        >>> (await store.sessions.explain(garden, alice)).route == arrival.route
        True
        """
        return await self._db.read(
            explain_route,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
        )

    async def update(
        self,
        id: SessionId,
        wanted: SessionPatch,
        *,
        seen: Seen | None = None,
        by: Actor | None = None,
    ) -> Session:
        """Apply all changes of a patch to a session, or none of them; return the session.

        `seen` are tags (`Session.etag`). If the settings are those of none of them, raise `Stale`;
        messages and turns since then do not matter.

        >>> patch = SessionPatch(title="Garden", is_pinned=True)
        >>> (await store.sessions.update(arrival.session_id, patch)).title
        'Garden'
        """
        return await self._db.write(
            session_update.change_session,
            checked_session_id(id),
            checked_type(wanted, "wish", SessionPatch),
            seen=seen,
            by=by,
        )

    async def snapshot(self, ids: Sequence[SessionId]) -> Snapshot:
        """Return sessions as they are at one place of the feed, from which it can be followed.

        >>> (await store.sessions.snapshot([arrival.session_id])).as_of == await store.feed.end()
        True
        """
        return await self._db.read(session_list.snapshot, checked_session_ids(ids))

    async def hold(self, id: SessionId, holder: str, until: datetime) -> None:
        """Keep a session from expiring until a time; call again to change that time.

        >>> until = store.now() + timedelta(hours=1)
        >>> await store.sessions.hold(arrival.session_id, "backup", until)
        """
        await self._db.write(session_end.hold, checked_session_id(id), holder=holder, until=until)

    async def release(self, id: SessionId, holder: str) -> None:
        """End a hold.

        >>> await store.sessions.release(arrival.session_id, "backup")
        """
        await self._db.write(session_end.hold, checked_session_id(id), holder=holder, until=None)

    async def reset(
        self,
        address: Address,
        sender: Sender,
        *,
        profile: str = MAIN_PROFILE,
        title: str | None = None,
    ) -> BindingChange:
        """End the session of a conversation, because its user asked for a new one.

        >>> change = await store.sessions.reset(garden, alice)
        """
        return await self._db.write(
            bindings.reset,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            title=title,
        )

    async def switch(
        self, address: Address, sender: Sender, to: SessionId, *, profile: str = MAIN_PROFILE
    ) -> BindingChange:
        """Bind a conversation to another session, if the sender may see that one.

        >>> change = await store.sessions.switch(garden, alice, arrival.session_id)
        """
        return await self._db.write(
            bindings.switch,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            to=checked_session_id(to),
        )

    async def end(self, id: SessionId, reason: EndReason = EndReason.CLOSED) -> bool:
        """End a session; what it still had to do is stopped. False if it had ended before.

        >>> await store.sessions.end(arrival.session_id)
        True
        """
        return await self._db.write(
            session_end.end_session,
            checked_session_id(id),
            reason=checked_choice(reason, "reason", EndReason),
        )

    async def expire(self) -> Sequence[SessionId]:
        """End all sessions that their reset policy has expired; return their ids.

        >>> await store.sessions.expire()
        []
        """
        return await endings.expire_sessions(self._db)

    async def tell_endings(
        self, hook: Callable[[Ending, Sequence[Message]], Awaitable[None]]
    ) -> int:
        """Call a hook once for every ending that has not been told, with the transcript.

        A hook that raises is called up to three times more, then the failure is recorded. Return
        how many endings were told. After a crash during a call the hook is called again with
        the same `Ending.id`.

        >>> async def hook(ending, transcript):
        ...     ended.append(ending.session_id)
        >>> ended = []
        >>> await store.sessions.tell_endings(hook) == len(ended)
        True
        """
        return await endings.tell_endings(self._db, hook)

    async def plan_deletion(self, ids: Sequence[SessionId]) -> DeletionPreview:
        """Return what would be deleted with these sessions, without changing anything.

        >>> plan = await store.sessions.plan_deletion([arrival.session_id])
        >>> plan.sessions == (arrival.session_id,)
        True
        """
        return await self._db.read(preview.plan_sessions, checked_session_ids(list(ids)))

    async def delete(
        self,
        id: SessionId,
        *,
        seen: Seen | None = None,
        by: Actor | None = None,
        progress: Progress | None = None,
    ) -> Certificate:
        """Delete a session: rows, attachments, index, journal and free pages.

        What runs there is stopped first. Branches lose the history they shared with it. `seen` are
        tags (`Session.etag`): if anything happened to it since then, raise `Stale`.

        >>> certificate = await store.sessions.delete(arrival.session_id)
        """
        return await forget.forget_session(
            self._db, checked_session_id(id), seen=seen, by=by, progress=progress
        )

    __call__ = list  # noqa: A003 - what it is called by until its callers read from the database
