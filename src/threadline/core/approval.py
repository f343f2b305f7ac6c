"""Approvals: how a person says yes or no to what an agent wants to do."""

from enum import StrEnum


class Approval(StrEnum):
    """What a person decides about something that an agent asked leave for."""

    APPROVED = "approved"
    DENIED = "denied"


def write_answer(approval: Approval, words: str = "") -> str:
    """Write a decision, and what was said with it, as the answer that a waiting turn gets."""
    return f"{approval}: {words}" if words else approval.value


def read_answer(answer: str) -> tuple[Approval | None, str]:
    """Read a decision and the words with it; None: it is an answer in free words."""
    head, _, words = answer.partition(":")
    for approval in Approval:
        if head.strip().lower() == approval:
            return approval, words.strip()
    return None, answer
