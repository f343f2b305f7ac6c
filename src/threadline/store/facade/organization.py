"""Organization: how sessions are arranged, and what people keep beside them."""

from collections.abc import Sequence

from threadline.core.account import Actor
from threadline.core.draft import Draft
from threadline.core.errors import Invalid
from threadline.core.project import CountedProject, Project, ProjectColor
from threadline.core.revision import Seen
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import (
    ProjectKey,
    Session,
    SessionId,
    checked_project_key,
    checked_session_id,
    checked_session_ids,
)
from threadline.core.session_list import OWNER, BatchOutcome
from threadline.core.session_patch import SessionPatch
from threadline.core.validation import checked_choice, checked_id, checked_type
from threadline.store import projects
from threadline.store.facade.connection import StoreConnection
from threadline.store.inbound import session_update
from threadline.store.sessions import drafts, pins, read_marks
from threadline.store.sessions.batch import change_sessions
from threadline.store.sessions.pins import Step


class OrganizationMethods(StoreConnection):
    """Pins, the archive, projects, tools and folders, drafts and marks."""

    async def pin(self, ids: Sequence[SessionId]) -> list[BatchOutcome]:
        """Let sessions stand before the others; each of them is answered for."""
        return await self._arrange(ids, pins.pin)

    async def unpin(self, ids: Sequence[SessionId]) -> list[BatchOutcome]:
        """Let sessions stand where their activity puts them."""
        return await self._arrange(ids, pins.unpin)

    async def archive(self, ids: Sequence[SessionId]) -> list[BatchOutcome]:
        """Put sessions out of sight; a pinned one shows only in the archive from now on."""
        return await self._arrange(ids, pins.archive)

    async def unarchive(self, ids: Sequence[SessionId]) -> list[BatchOutcome]:
        """Take sessions out of the archive."""
        return await self._arrange(ids, pins.unarchive)

    async def move(
        self, ids: Sequence[SessionId], project: ProjectKey | None
    ) -> list[BatchOutcome]:
        """Put sessions into a project of their profile; None takes them out of theirs."""
        to = None if project is None else checked_project_key(project)
        return await self._arrange(ids, pins.move_to_project(to))

    async def _arrange(self, ids: Sequence[SessionId], step: Step) -> list[BatchOutcome]:
        """Do the same to several sessions, a slice at a time, so that others get a word in."""
        return await change_sessions(self._db, checked_session_ids(ids), step, viewer=self._viewer)

    async def make_project(
        self,
        name: str,
        color: ProjectColor = ProjectColor.BLUE,
        *,
        profile: str = MAIN_PROFILE,
    ) -> Project:
        """Make a project; its name is the only one of its sort in the profile."""
        return await self._db.write(
            projects.make_project,
            name,
            color=checked_choice(color, "colour", ProjectColor),
            profile=canonical_profile(profile),
        )

    async def change_project(
        self,
        key: ProjectKey,
        *,
        name: str | None = None,
        color: ProjectColor | None = None,
        seen: Seen | None = None,
    ) -> Project:
        """Give a project another name, another colour, or both.

        `seen` are the revisions of which it must have one: else it is `Stale`.
        """
        return await self._db.write(
            projects.change_project,
            checked_project_key(key),
            name=name,
            color=None if color is None else checked_choice(color, "colour", ProjectColor),
            seen=seen,
        )

    async def delete_project(self, key: ProjectKey, *, seen: Seen | None = None) -> None:
        """Delete a project; its sessions stay, and belong to none."""
        await projects.delete_whole_project(self._db, checked_project_key(key), seen=seen)

    async def project(self, key: ProjectKey) -> Project:
        """Read a project."""
        return await self._db.read(projects.read_project, checked_project_key(key))

    async def projects(self, *, profile: str = MAIN_PROFILE) -> Sequence[CountedProject]:
        """List the projects of a profile by name, and how many sessions each has."""
        return await self._db.read(projects.list_projects, profile=canonical_profile(profile))

    async def change_session(
        self,
        id: SessionId,
        wanted: SessionPatch,
        *,
        seen: Seen | None = None,
        by: Actor | None = None,
    ) -> Session:
        """Apply all changes to a session, or none of them.

        `seen` are tags (`Session.etag`). If the settings are those of none of them, raise `Stale`;
        messages and turns since then do not matter.
        """
        return await self._db.write(
            session_update.change_session,
            checked_session_id(id),
            checked_type(wanted, "wish", SessionPatch),
            seen=seen,
            by=by,
        )

    async def put_draft(
        self,
        device: str,
        text: str,
        *,
        id: SessionId | None = None,
        profile: str = MAIN_PROFILE,
    ) -> None:
        """Keep what a device has begun to write, in a session or in the one that is not there yet.

        Nothing to keep (`""`) forgets it: it was sent, or thrown away.
        """
        await self._db.write(
            drafts.put_draft,
            _named(device, "device"),
            text,
            id=None if id is None else checked_session_id(id),
            profile=canonical_profile(profile),
        )

    async def drafts(self, device: str, *, profile: str = MAIN_PROFILE) -> list[Draft]:
        """List what a device has begun to write, the latest first."""
        return await self._db.read(
            drafts.list_drafts, _named(device, "device"), profile=canonical_profile(profile)
        )

    async def mark_read(self, id: SessionId, reader: str = OWNER, *, seq: int | None = None) -> int:
        """Remember that somebody has read up to a line, or everything; answers where that is.

        It never goes back by this.
        """
        return await self._db.write(
            read_marks.mark_read, checked_session_id(id), reader=_named(reader, "reader"), seq=seq
        )

    async def mark_all_read(
        self, ids: Sequence[SessionId], reader: str = OWNER
    ) -> list[BatchOutcome]:
        """Remember that somebody has read everything in sessions; each of them is answered for."""
        return await self._arrange(ids, read_marks.read_by(_named(reader, "reader")))

    async def mark_unread(
        self, id: SessionId, reader: str = OWNER, *, seq: int | None = None
    ) -> int:
        """Let everything from a line on be unread again, or the last line alone."""
        return await self._db.write(
            read_marks.mark_unread, checked_session_id(id), reader=_named(reader, "reader"), seq=seq
        )


def _named(value: str, what: str) -> str:
    if not checked_id(value, what):
        raise Invalid(f"The {what} needs a name")
    return value
