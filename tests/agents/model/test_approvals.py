import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.model.acting import Actor, agent_of, files
from tests.agents.model.talk import Talk
from threadline.agents.model.approvals import QUESTION_LIMIT, ask_about, fitting
from threadline.core.agent import Question
from threadline.core.approval import Approval, ToolRules, write_answer
from threadline.core.message import PARTS_LIMIT, NewMessage, Role, ToolCall, ToolResult
from threadline.core.notice import cut_off
from threadline.platforms.telegram.rendering import render

CAREFUL = ToolRules(ask=("files_write",))
READ = ("files_read", '{"path": "a.txt"}')
WRITE = ("files_write", '{"path": "b.txt"}')
YES = write_answer(Approval.APPROVED)
NO = write_answer(Approval.DENIED)


def results(talk: Talk) -> dict[str, str]:
    return {
        part.call_id: part.text for part in talk.parts(Role.TOOL) if isinstance(part, ToolResult)
    }


async def asked(done: list[str], *calls: tuple[str, str]) -> Talk:
    """Let a model call tools, up to the question."""
    talk = Talk()
    await talk.says(agent_of(Actor(calls), files(done), tools=CAREFUL), "Do it")
    assert isinstance(talk.question, Question)
    return talk


async def test_a_person_is_asked_first() -> None:
    """A tool that needs leave is not run; what the model wants is said in words."""
    done: list[str] = []
    talk = await asked(done, WRITE)

    assert done == []
    assert talk.question.tools == ("files_write",)
    assert "files_write" in talk.question.text
    assert "path: b.txt" in talk.question.text
    assert talk.lines[-1].role is Role.ASSISTANT


async def test_free_tools_run_while_a_person_is_asked() -> None:
    """Of several calls only those wait that need leave."""
    done: list[str] = []
    talk = await asked(done, READ, WRITE)

    assert done == ["read a.txt"]
    assert results(talk) == {"call_1": "content of a.txt"}
    assert "a.txt" not in talk.question.text


async def test_leave_is_given_in_another_process() -> None:
    """After hours and a restart the history alone says what was allowed."""
    done: list[str] = []
    talk = await asked(done, READ, WRITE)
    actor = Actor("It is written.")

    said = await talk.goes_on(agent_of(actor, files(done), tools=CAREFUL), YES)

    assert said == "It is written."
    assert done == ["read a.txt", "wrote b.txt"]
    assert results(talk)["call_2"] == "written"
    assert "written" in actor.texts


@pytest.mark.parametrize(
    ("answer", "words"),
    [(NO, ""), (write_answer(Approval.DENIED, "use c.txt"), "use c.txt"), ("why?", "why?")],
)
async def test_what_is_not_allowed_is_not_done(answer: str, words: str) -> None:
    """A denial, its words, or any other words are told to the model, which goes on from there."""
    done: list[str] = []
    talk = await asked(done, WRITE)
    actor = Actor("Then not.")

    said = await talk.goes_on(agent_of(actor, files(done), tools=CAREFUL), answer)

    assert (said, done) == ("Then not.", [])
    assert "did not allow this" in results(talk)["call_1"]
    assert words in results(talk)["call_1"]


async def test_a_turn_that_was_cut_off_after_the_leave_does_it_only_once() -> None:
    """What may have been done already is not done again, only because leave was given once."""
    done: list[str] = []
    talk = await asked(done, WRITE)
    talk.keep(cut_off(0))
    actor = Actor("I do not know whether it is written.")

    await talk.goes_on(agent_of(actor, files(done), tools=CAREFUL), YES)

    assert done == []
    assert any("interrupted" in text for text in actor.texts)


async def test_what_was_barred_meanwhile_is_not_done() -> None:
    """Leave from before does not outlive the tool's place in the configuration."""
    done: list[str] = []
    talk = await asked(done, WRITE)

    barred = agent_of(Actor("ok"), files(done), tools=ToolRules(use=("files_read",)))
    await talk.goes_on(barred, YES)

    assert done == []
    assert "no tool called files_write" in results(talk)["call_1"]


async def test_what_was_allowed_for_longer_is_not_asked_again() -> None:
    """A tool for which leave was given before is free."""
    done: list[str] = []
    talk = Talk()
    talk.allowed = frozenset({"files_write"})

    await talk.says(agent_of(Actor([WRITE], "Done."), files(done), tools=CAREFUL), "Do it")

    assert done == ["wrote b.txt"]


async def test_a_turn_may_ask_again() -> None:
    """After one answer the model may want something else, and that is asked for, too."""
    done: list[str] = []
    talk = await asked(done, WRITE)
    other = ("files_write", '{"path": "c.txt"}')

    await talk.goes_on(agent_of(Actor([other]), files(done), tools=CAREFUL), YES)

    assert done == ["wrote b.txt"]
    assert "c.txt" in talk.question.text
    assert "b.txt" not in talk.question.text


@given(st.lists(st.tuples(st.text(max_size=300), st.text()), min_size=1, max_size=12))
def test_a_question_is_short_and_cannot_be_faked(calls: list[tuple[str, str]]) -> None:
    """Whatever the arguments are, the question is bounded and each call stays in its lines."""
    made = [
        ToolCall(id=str(n), name="files_write", arguments=json.dumps({"path": value, key: "x"}))
        for n, (key, value) in enumerate(calls)
        if key.isprintable() and "\0" not in value and value.isprintable()
    ] or [ToolCall(id="x", name="files_write", arguments="no json\nfiles_read\n")]
    question = ask_about(fitting(made))

    assert len(question.text) < QUESTION_LIMIT + 200
    lines = [line for line in question.text.splitlines() if line and not line.startswith(" ")]
    assert {line for line in lines[1:] if line.strip("`")} <= {"files_write"}


def test_a_long_argument_says_that_it_is_longer() -> None:
    """Nobody is asked for something that they cannot see, without being told so."""
    call = ToolCall(id="1", name="run", arguments='{"command": "' + "x" * 5000 + '"}')

    assert "4,600 more characters" in ask_about([call]).text


async def test_nobody_gives_leave_for_what_they_were_not_shown() -> None:
    """Of too many calls some are asked about; the others are not done, and not allowed."""
    done: list[str] = []
    calls = [("files_write", f'{{"path": "{n}{"x" * 300}"}}') for n in range(99)]
    talk = await asked(done, *calls, ("files_remove", "{}"))

    assert talk.question.tools == ("files_write",)
    shown = [n for n in range(99) if f"path: {n}x" in talk.question.text]
    assert shown == list(range(len(shown)))
    assert f"these {len(shown)} tools" in talk.question.text
    assert len(results(talk)) == 100 - len(shown)

    await talk.goes_on(agent_of(Actor("ok"), files(done), tools=CAREFUL), YES)

    assert {said.partition("x")[0] for said in done} == {f"wrote {n}" for n in shown}


async def test_an_answer_of_many_parts_is_asked_about_as_a_whole() -> None:
    """What a person was shown is done, in whichever line of the transcript it stands."""
    done: list[str] = []
    talk = await asked(done, WRITE, *[READ] * PARTS_LIMIT)

    await talk.goes_on(agent_of(Actor("ok"), files(done), tools=CAREFUL), YES)

    assert done.count("wrote b.txt") == 1


@pytest.mark.parametrize("value", ["[ls](http://far.example/)", "**ls**", "`ls`", "```\nls\n```"])
def test_what_is_asked_about_reads_as_it_is(value: str) -> None:
    """An argument is code: Markdown in it hides nothing of what a person allows."""
    call = ToolCall(id="1", name="run", arguments=json.dumps({"command": value}))
    shown = render(ask_about([call]).text)

    assert f"command: {value.replace(chr(10), ' ⏎ ')}" in shown.text
    assert [entity.type for entity in shown.entities] == ["pre"]


def test_a_line_break_is_seen() -> None:
    """A second command does not look like the end of a comment."""
    call = ToolCall(id="1", name="run", arguments=json.dumps({"command": "# tidy up\nrm -r ."}))

    assert "command: # tidy up ⏎ rm -r ." in ask_about([call]).text


async def test_a_denial_is_no_message_of_the_agent() -> None:
    """The result of a denial stands in the transcript as the tool's."""
    talk = await asked([], WRITE)
    await talk.goes_on(agent_of(Actor("ok"), files([]), tools=CAREFUL), NO)
    first = next(output for output in talk.outputs if isinstance(output, NewMessage))

    assert first.role is Role.TOOL
