"""Numbers in the documents are those of the code."""

from datetime import timedelta

import pytest

from tests.architecture.source import DOCS, ROOT
from threadline.agents.acp import process_pool
from threadline.agents.model import attachments, mcp_tools, tool_results
from threadline.core import account, draft, person, project, safe_names, search, tokenizer, turn
from threadline.core import budget as core_budget
from threadline.core.export_format.file_records import PIECE_BYTES
from threadline.core.minimap import BUCKETS
from threadline.database.postgres.workers import WORKERS
from threadline.database.sqlite.readers import READERS
from threadline.database.sqlite.writer import BATCH_VERBS
from threadline.gateway import platform_supervisor
from threadline.platforms.telegram.platform import CAPABILITIES
from threadline.platforms.webhook import body_memory, endpoint, payload, settings, signature
from threadline.store.blobs import BLOB_LIMIT
from threadline.store.sessions.batch import BATCH_LIMIT
from threadline.store.transcripts.segments import DEEPEST_BASE
from threadline.web import body_limits, concurrency, request_limits
from threadline.web.auth import throttle
from threadline.web.feed import frames, sse_stream
from threadline.web.resources import feed, pagination

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
            f"restarted after {seconds(platform_supervisor.FIRST_PAUSE)} second, then "
            "2, 4 and so on up to"
            f" {platform_supervisor.LONGEST_PAUSE // MINUTE} minutes"
        ),
    ),
    ("acp.md", f"at most {process_pool.MOST} at a time"),
    ("approvals.md", f"Nobody answers for {turn.ANSWER_WITHIN // HOUR} hours"),
    ("context.md", f"of at most {safe_names.LABEL_LIMIT} characters"),
    ("export-format.md", f"at most {PIECE_BYTES // KIB} KiB"),
    ("feed.md", f"sent at the start; up to {feed.SESSIONS_LIMIT} |"),
    ("feed.md", f"streamed word by word; up to {feed.LIVE_LIMIT} |"),
    ("feed.md", f"After at most {seconds(sse_stream.BEAT)} seconds without news"),
    ("feed.md", f"after {frames.RETRY // 1000} seconds `EventSource` connects again"),
    ("http-api.md", f"{pagination.PAGE} by default, at most {pagination.PAGE_MOST}"),
    (
        "http-api.md",
        (
            f"JSON may have {body_limits.JSON_LIMIT // MB} MB and "
            f"{body_limits.TEXTS_LIMIT:,} texts, an"
            f" upload {BLOB_LIMIT // MIB} MiB, an import {request_limits.BODY_LIMIT // MB} MB"
        ),
    ),
    ("http-api.md", f"the whole body within {seconds(request_limits.STRANGER_SECONDS)} seconds"),
    (
        "login.md",
        (
            f"must arrive within {seconds(request_limits.STRANGER_SECONDS)} seconds, and at most"
            f" {concurrency.STRANGERS_MOST:,} requests of unknown callers are under way, and"
            f" {concurrency.ADDRESS_MOST} from one address"
        ),
    ),
    ("webhook.md", f"may take {body_memory.UNVERIFIED_LIMIT // MB} MB in all webhooks together"),
    ("library.md", f"prolong the lease ({seconds(turn.LEASE)} seconds by"),
    ("library.md", f"in up to {BUCKETS} stretches"),
    ("lists-and-projects.md", f"up to {BATCH_LIMIT:,} sessions at once"),
    (
        "lists-and-projects.md",
        f"at most {project.PROJECTS_LIMIT}, with names of at most {project.PROJECT_NAME_LIMIT}",
    ),
    ("lists-and-projects.md", f"at most {draft.DRAFT_LIMIT // KIB} KiB"),
    ("login.md", f"once, within {account.LINK_LASTS // MINUTE} minutes"),
    ("login.md", f"wait {throttle.WITHIN // MINUTE} minutes"),
    ("mcp.md", f"more than {mcp_tools.NAME_LIMIT} characters is shortened"),
    ("mcp.md", f"at most {tool_results.RESULT_LIMIT:,} characters of a result"),
    ("models.md", f"text of up to {attachments.TEXT_FILE_LIMIT:,} bytes"),
    ("models.md", f"All in all {attachments.TOTAL_LIMIT // MIB} MiB are sent"),
    ("people.md", f"valid for {person.CODE_VALID // MINUTE} minutes"),
    ("people.md", f"at most {person.LIVE_CODES} at a time"),
    ("people.md", f"After {person.WRONG_CODES}"),
    (
        "search.md",
        (
            f"first {tokenizer.SEARCHED_LIMIT:,} characters of a message, "
            f"the first {tokenizer.WORD_LIMIT}"
        ),
    ),
    ("search.md", f"{search.QUERY_LIMIT:,} characters, {search.TERMS_LIMIT} words or phrases"),
    (
        "search.md",
        f"{search.HITS} hits, at most {search.LARGEST_HITS:,}; at most {search.SKIP_LIMIT:,} can",
    ),
    ("search.md", f"| a snippet | {search.SNIPPET_LIMIT} characters"),
    ("spending.md", f"{core_budget.WARN_AT:.0%}".replace("%", " %")),
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
