"""A crowd of sessions of every sort, and a naive list of them to hold the real one against."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.databases import DatabaseFactory
from threadline.core.address import Kind
from threadline.core.person import Identity, PersonKey
from threadline.core.session import Origin, ProjectKey, SessionId, make_session_id
from threadline.core.session_list import ListSection, SessionFilter
from threadline.database.timestamps import stamp

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
PLATFORMS = ("telegram", "slack", "local")
KINDS = (Kind.DM, Kind.GROUP, Kind.THREAD)
TITLES = (None, "Über Äpfel", "apples AND pears", "Pears", "%_%")
READER = "ann"
SENDERS = ((1, "telegram", "t1", 1), (2, "slack", "s1", 1), (3, "telegram", "t2", None))
"""Key, platform, id, person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """What one session of the crowd is like."""

    key: int
    id: SessionId
    profile: str
    platform: str
    kind: Kind
    origin: Origin
    sender: int | None
    project: int | None
    pinned: bool
    archived: bool
    ended: bool
    worktree: bool
    at: datetime
    title: str | None
    last_seq: int
    mark: int | None
    queued: bool
    parent: int | None
    continued: bool


def make_crowd(count: int, seed: int) -> list[Face]:
    """Invent sessions; several share a moment, some go on with another."""
    chance = random.Random(seed)
    faces = []
    for key in range(1, count + 1):
        at = BEGIN + timedelta(minutes=chance.randrange(count // 3))
        parent = chance.randrange(1, key) if key > 1 and chance.random() < 0.3 else None
        last_seq = chance.choice((0, 0, 3, 7))
        faces.append(
            Face(
                key=key,
                id=make_session_id(at, key),
                profile=chance.choice(("main", "main", "main", "other")),
                platform=chance.choice(PLATFORMS),
                kind=chance.choice(KINDS),
                origin=chance.choice((*[Origin.PERSON] * 4, Origin.JOB, Origin.IMPORT)),
                sender=chance.choice((None, 1, 2, 3)),
                project=chance.choice((None, None, 1, 2)),
                pinned=chance.random() < 0.2,
                archived=chance.random() < 0.25,
                ended=chance.random() < 0.4,
                worktree=chance.random() < 0.15,
                at=at,
                title=chance.choice(TITLES),
                last_seq=last_seq,
                mark=chance.choice((None, last_seq, max(last_seq - 1, 0))),
                queued=chance.random() < 0.1,
                parent=parent,
                continued=parent is not None and chance.random() < 0.5,
            )
        )
    return faces


def settle(factory: DatabaseFactory, faces: list[Face]) -> None:
    """Put the crowd into a store, past its verbs."""
    factory.tamper(
        "INSERT INTO addresses (key, platform, account, kind, chat, thread) "
        "VALUES (1, 'telegram', '', 'dm', 'c', '')"
    )
    factory.tamper("INSERT INTO persons (key, name, made_at) VALUES (1, 'Ann', 0)")
    for key, platform, id, person in SENDERS:
        factory.tamper(
            "INSERT INTO senders (key, platform, id, first_seen_at, person_key) "
            f"VALUES ({key}, '{platform}', '{id}', 0, {_sql(person)})"
        )
    factory.tamper(
        "INSERT INTO projects (key, profile, name, color, kind, made_at) "
        "VALUES (1, 'main', 'one', 'red', 'own', 0), (2, 'main', 'two', 'red', 'own', 0)"
    )
    rows = ", ".join(f"({', '.join(_sql(value) for value in _values(face))})" for face in faces)
    factory.tamper(
        "INSERT INTO sessions (key, id, profile, platform, kind, address_key, sender_key, "
        "parent_key, cause, opened_at, last_activity_at, ended_at, end_reason, title, titled_by, "
        "last_seq, origin, project_key, pinned_at, archived_at, worktree_path, worktree_branch, "
        f"worktree_repository, worktree_at) VALUES {rows}"
    )
    for face in faces:
        if face.mark is not None:
            factory.tamper(
                "INSERT INTO marks (session_key, reader, seq, marked_at) "
                f"VALUES ({face.key}, '{READER}', {face.mark}, 0)"
            )
        if face.queued:
            factory.tamper(
                "INSERT INTO turns (session_key, address_key, state, queued_at) "
                f"VALUES ({face.key}, 1, 'queued', 0)"
            )


def _values(face: Face) -> tuple[object, ...]:
    at = stamp(face.at)
    tree = ("/tree", "work", "/repo", at) if face.worktree else (None,) * 4
    return (
        face.key, face.id, face.profile, face.platform, face.kind.value, 1, face.sender,
        face.parent, "continued" if face.continued else "first", at, at,
        at if face.ended else None, "closed" if face.ended else None,
        face.title, None if face.title is None else "person", face.last_seq, face.origin.value,
        face.project, at if face.pinned else None, at if face.archived else None, *tree,
    )  # fmt: skip


def _sql(value: object) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else f"'{value}'"


def make_filter(chance: random.Random) -> SessionFilter:
    """Ask for something at random; most of the fields are not asked."""
    maybe = {
        "platform": PLATFORMS,
        "kind": KINDS,
        "origin": tuple(Origin),
        "project": (ProjectKey(1), ProjectKey(2), ProjectKey(99)),
        "is_pinned": (True, False),
        "is_unread": (True, False),
        "is_ended": (True, False),
        "has_worktree": (True, False),
        "active_since": (BEGIN + timedelta(minutes=20), BEGIN + timedelta(minutes=40)),
        "title": ("APPLES", "pears", "Über", "%", "_", "'"),
        "with_empty": (True, False),
    }
    whose = (
        {"person": PersonKey(1)},
        {"person": PersonKey(99)},
        {"sender": Identity(platform="telegram", id="t2")},
        {"sender": Identity(platform="slack", id="nobody")},
    )
    fields: dict[str, object] = {"shelf": chance.choice((*[ListSection.SIDEBAR] * 3, *ListSection))}
    fields |= {name: chance.choice(of) for name, of in maybe.items() if chance.random() < 0.12}
    if chance.random() < 0.2:
        fields |= chance.choice(whose)
    return SessionFilter(**fields)  # type: ignore[arg-type]


def naive_list(faces: list[Face], only: SessionFilter, profile: str) -> list[SessionId]:
    """List what a filter asks for by looking at everybody, and sort them all."""
    shown = [face for face in faces if face.profile == profile and is_shown(face, faces, only)]
    shown.sort(key=lambda face: (face.pinned, face.at, face.key), reverse=True)
    return [face.id for face in shown]


def is_shown(face: Face, faces: list[Face], only: SessionFilter) -> bool:
    """Tell whether a list shows a session."""
    keys = {"t1": {1}, "s1": {2}, "t2": {3}}
    persons = {1: {1, 2}}
    wanted = [
        (only.platform, face.platform),
        (only.kind, face.kind),
        (only.origin, face.origin),
        (only.project, face.project),
        (only.is_pinned, face.pinned),
        (only.is_unread, face.last_seq > (face.mark or 0)),
        (only.is_ended, face.ended),
        (only.has_worktree, face.worktree),
    ]
    empty = face.title is None and not face.last_seq and not face.worktree and not face.queued
    on_shelf = {
        ListSection.SIDEBAR: not face.archived and face.origin is not Origin.JOB,
        ListSection.ARCHIVED: face.archived,
        ListSection.SCHEDULED: not face.archived and face.origin is Origin.JOB,
        ListSection.ALL: True,
    }
    return (
        on_shelf[only.shelf]
        and all(wish is None or wish == has for wish, has in wanted)
        and (only.with_empty or not empty)
        and (only.active_since is None or face.at >= only.active_since)
        and (only.title is None or _small(only.title) in _small(face.title or ""))
        and (only.person is None or face.sender in persons.get(only.person, set()))
        and (only.sender is None or face.sender in keys.get(only.sender.id, set()))
        and not any(other.parent == face.key and other.continued for other in faces)
    )


def _small(text: str) -> str:
    return "".join(letter.lower() if "A" <= letter <= "Z" else letter for letter in text)
