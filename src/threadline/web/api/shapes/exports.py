"""Exports and imports: what came of a file of history."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from threadline.sessions.exports.taking import ImportReport
from threadline.web.api.shapes.model import Answer


class HistoryExtent(StrEnum):
    """How much an export takes."""

    ALL = "all"
    PROFILE = "profile"
    PROJECT = "project"
    PERSON = "person"


class ImportProblem(Answer):
    """Something that was not imported, and why."""

    line: int
    what: str
    session: str | None


class ImportShape(Answer):
    """What came of an import."""

    added: int
    copied: int = Field(description="Of those added, how many have a new id.")
    skipped: int = Field(description="They were there already.")
    forgotten: int = Field(description="They were forgotten here, and stay so.")
    conflicts: int = Field(description="There are others with the same id.")
    bad: int
    messages: int
    attachments: int
    problems: Sequence[ImportProblem]

    @classmethod
    def from_report(cls, report: ImportReport) -> "ImportShape":
        """Tell what came of it."""
        problems = [
            ImportProblem(line=one.line, what=one.what, session=one.session_id)
            for one in report.problems or ()
        ]
        numbers = {name: getattr(report, name) for name in cls.model_fields if name != "problems"}
        return cls(**numbers, problems=problems)
