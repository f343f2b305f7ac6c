"""The error family."""

import pickle

import pytest

from threadline.core.errors import (
    AgentError,
    CapReached,
    ConfigError,
    Conflict,
    ContextFull,
    Damaged,
    Invalid,
    LeaseLost,
    Misplaced,
    NotFound,
    PlatformError,
    QueueFull,
    ReadOnly,
    Refused,
    Stale,
    StorageError,
    ThreadlineError,
    TooLarge,
    TooSlow,
    sentence_of,
)

FAMILY = {
    ThreadlineError: 500,
    NotFound: 404,
    Conflict: 409,
    LeaseLost: 409,
    ReadOnly: 409,
    Refused: 403,
    QueueFull: 429,
    CapReached: 402,
    Invalid: 422,
    TooLarge: 413,
    TooSlow: 408,
    Stale: 412,
    PlatformError: 502,
    AgentError: 502,
    ContextFull: 502,
    StorageError: 503,
    Damaged: 503,
    Misplaced: 503,
    ConfigError: 500,
}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NotFound("No such session"), "No such session."),
        (NotFound("No such session.", id="s1"), "No such session (s1)."),
        (NotFound("No such session", hint="Try /sessions"), "No such session. Try /sessions."),
        (NotFound("Gone", id="s1", hint="Really?"), "Gone (s1). Really?"),
        (NotFound(id="s1"), "Nothing is known by this id (s1)."),
        (ThreadlineError(), "Something went wrong."),
    ],
)
def test_an_error_reads_as_what_happened_to_which_id_and_what_to_do(
    error: ThreadlineError, text: str
) -> None:
    """What happened comes first, the id in brackets, the advice last; docstrings are defaults."""
    assert str(error) == text


@pytest.mark.parametrize(("family", "status"), FAMILY.items())
def test_each_error_knows_its_status_and_a_sentence_for_a_chat(
    family: type[ThreadlineError], status: int
) -> None:
    """HTTP and chats can show any error of the family without knowing which it is."""
    assert family.status == status
    assert family.chat.endswith(".")


def test_the_family_has_no_member_that_the_table_misses() -> None:
    """A new error must be given its place in the table above."""

    def below(family: type[ThreadlineError]) -> set[type[ThreadlineError]]:
        return {family}.union(*(below(child) for child in family.__subclasses__()))

    core = {family for family in below(ThreadlineError) if family.__module__ == NotFound.__module__}
    assert core == set(FAMILY)


def test_an_error_can_travel_to_another_process() -> None:
    """Pickled and read back it says the same."""
    error = LeaseLost("Taken over", id="t1", hint="Stop writing")

    copy = pickle.loads(pickle.dumps(error))

    assert (type(copy), str(copy), copy.id) == (LeaseLost, str(error), "t1")


def test_an_error_without_docstrings_still_has_a_message() -> None:
    """Python can be told to drop docstrings (-OO); the class's name must do then."""

    class Unspoken(ThreadlineError):
        status = 418

    assert str(Unspoken()) == "Unspoken."


class Mute(AgentError):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (KeyError("model"), "KeyError: 'model'"),
        (ValueError(), "ValueError"),
        (NotFound("Gone", id="s1"), "Gone (s1)."),
        (RuntimeError("nul \0 and \ud800"), "RuntimeError: nul  and ?"),
        (Mute(), "Mute: it cannot say why (ValueError)"),
        (AgentError(7), "AgentError: it cannot say why (AttributeError)"),  # type: ignore[arg-type]
        (ValueError("x" * 100_000), "ValueError: " + "x" * 488),
    ],
    ids=["any", "empty", "ours", "unprintable", "mute", "number", "novel"],
)
def test_any_error_becomes_a_sentence_that_can_be_stored(error: Exception, sentence: str) -> None:
    """Whatever an error says, or fails to say, its sentence is short and has no odd character."""
    assert sentence_of(error) == sentence
