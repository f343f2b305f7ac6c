"""Numbers in the documents are those of the code."""

from datetime import timedelta

import pytest

from tests.house.source import DOCS, ROOT
from threadline.agents.acp import crew
from threadline.agents.model import attachments, results, servers
from threadline.core import account, draft, grams, label, person, project, search, spend, turn
from threadline.core.minimap import BUCKETS
from threadline.core.portable.files import PIECE_BYTES
from threadline.gateway import connection
from threadline.platforms.telegram.platform import CAPABILITIES
from threadline.platforms.webhook import endpoint, payload, settings, signature
from threadline.sessions.blobs import BLOB_LIMIT
from threadline.sessions.store.arranging import BATCH_LIMIT
from threadline.sessions.transcripts.layout import DEEPEST_BASE
from threadline.storage.postgres.workers import WORKERS
from threadline.storage.sqlite.readers import READERS
from threadline.storage.sqlite.writer import BATCH_VERBS
from threadline.web import bodies, guard
from threadline.web.api import feed, paging
from threadline.web.feed import frames, stream
from threadline.web.login import guessing

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
KIB, MIB, MB = 1024, 1024 * 1024, 1_000_000


def seconds(span: timedelta) -> int:
    """Return a span as a whole number of seconds."""
    return int(span.total_seconds())


CLAIMS = [
    ("../ARCHITECTURE.md", f"up to {BATCH_VERBS} verbs in one durable commit"),
    ("../ARCHITECTURE.md", f"up to {WORKERS} threads, one transaction a verb"),
    ("../ARCHITECTURE.md", f"{READERS} threads on WAL snapshots | the same {WORKERS}, repeatable"),
    ("operations.md", f"up to {WORKERS} connections for work and one that listens"),
    (
        "operations.md",
        (
            f"restarted after {seconds(connection.FIRST_PAUSE)} second, then 2, 4 and so on up to"
            f" {connection.LONGEST_PAUSE // MINUTE} minutes"
        ),
    ),
    ("acp.md", f"at most {crew.MOST} at a time"),
    ("approvals.md", f"Nobody answers for {turn.ANSWER_WITHIN // HOUR} hours"),
    ("context.md", f"of at most {label.LABEL_LIMIT} characters"),
    ("export-format.md", f"at most {PIECE_BYTES // KIB} KiB"),
    ("feed.md", f"sent at the start; up to {feed.SESSIONS_LIMIT} |"),
    ("feed.md", f"streamed word by word; up to {feed.LIVE_LIMIT} |"),
    ("feed.md", f"After at most {seconds(stream.BEAT)} seconds without news"),
    ("feed.md", f"after {frames.RETRY // 1000} seconds `EventSource` connects again"),
    ("http-api.md", f"{paging.PAGE} by default, at most {paging.PAGE_MOST}"),
    (
        "http-api.md",
        (
            f"JSON may have {bodies.JSON_LIMIT // MB} MB and {bodies.TEXTS_LIMIT:,} texts, an"
            f" upload {BLOB_LIMIT // MIB} MiB, an import {guard.BODY_LIMIT // MB} MB"
        ),
    ),
    ("library.md", f"prolong the lease ({seconds(turn.LEASE)} seconds by"),
    ("library.md", f"in up to {BUCKETS} stretches"),
    ("lists-and-projects.md", f"up to {BATCH_LIMIT:,} sessions at once"),
    (
        "lists-and-projects.md",
        f"at most {project.PROJECTS_LIMIT}, with names of at most {project.PROJECT_NAME_LIMIT}",
    ),
    ("lists-and-projects.md", f"at most {draft.DRAFT_LIMIT // KIB} KiB"),
    ("login.md", f"once, within {account.LINK_LASTS // MINUTE} minutes"),
    ("login.md", f"wait {guessing.WITHIN // MINUTE} minutes"),
    ("mcp.md", f"more than {servers.NAME_LIMIT} characters is shortened"),
    ("mcp.md", f"at most {results.RESULT_LIMIT:,} characters of a result"),
    ("models.md", f"text of up to {attachments.TEXT_FILE_LIMIT:,} bytes"),
    ("models.md", f"All in all {attachments.TOTAL_LIMIT // MIB} MiB are sent"),
    ("people.md", f"valid for {person.CODE_VALID // MINUTE} minutes"),
    ("people.md", f"at most {person.LIVE_CODES} at a time"),
    ("people.md", f"After {person.WRONG_CODES}"),
    (
        "search.md",
        f"first {grams.SEARCHED_LIMIT:,} characters of a message, the first {grams.WORD_LIMIT}",
    ),
    ("search.md", f"{search.QUERY_LIMIT:,} characters, {search.TERMS_LIMIT} words or phrases"),
    (
        "search.md",
        f"{search.HITS} hits, at most {search.LARGEST_HITS:,}; at most {search.SKIP_LIMIT:,} can",
    ),
    ("search.md", f"| a snippet | {search.SNIPPET_LIMIT} characters"),
    ("spending.md", f"{spend.WARN_AT:.0%}".replace("%", " %")),
    ("telegram.md", f"| one message | {CAPABILITIES.text_limit:,} UTF-16 units"),
    ("telegram.md", f"sends | {(CAPABILITIES.attachment_limit or 0) // MB} MB"),
    ("transcripts.md", f"at a depth of {DEEPEST_BASE} the lines"),
    ("webhook.md", f"at least {settings.LEAST_SECRET} characters"),
    ("webhook.md", f"at most {payload.MOST_FILES} of"),
    ("webhook.md", f"more than {seconds(signature.SKEW)} seconds ago"),
    ("webhook.md", f"or {turn.QUEUE_CAP} messages wait"),
    ("webhook.md", f"(at most {seconds(endpoint.LONGEST_WAIT)}) waits for the answer"),
]


@pytest.mark.parametrize(("page", "claim"), CLAIMS)
def test_a_number_is_that_of_the_code(page: str, claim: str) -> None:
    """Whoever changes a limit finds the sentence that names it."""
    text = " ".join((DOCS / page).resolve().read_text(encoding="utf-8").split())

    assert (DOCS / page).resolve().is_relative_to(ROOT)
    assert claim in text
