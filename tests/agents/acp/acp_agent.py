"""An agent that speaks the protocol, as a program of its own: what it does depends on the words.

It remembers by itself what was said to it, in a file if it is told to with `--keep`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from acp import (
    PROTOCOL_VERSION,
    RequestError,
    run_agent,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import (
    AgentCapabilities,
    AgentMessageChunk,
    AllowedOutcome,
    AuthenticateResponse,
    AuthEnvVar,
    AuthMethodAgent,
    EnvVarAuthMethod,
    FileEditToolCallContent,
    InitializeResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PermissionOption,
    PromptCapabilities,
    PromptResponse,
    ToolCallLocation,
    ToolCallUpdate,
    Usage,
)

LOGINS: list[Any] = [
    AuthMethodAgent(id="chatgpt", name="Log in with ChatGPT"),
    AuthMethodAgent(id="openai-api-key", name="API key", description="Uses `OPENAI_API_KEY`"),
    EnvVarAuthMethod(
        type="env_var", id="vertex", name="Vertex", vars=[AuthEnvVar(name="VERTEX_KEY")]
    ),
]
UNNAMED: list[Any] = [AuthMethodAgent(id="api-key", name="API key")]

OPTIONS = [
    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    PermissionOption(option_id="ever", name="Always", kind="allow_always"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Program:
    """One agent with many sessions."""

    def __init__(self, keep: Path | None) -> None:
        """Begin with what was kept, if it keeps anything."""
        self.keep = keep
        self.sessions: dict[str, list[str]] = {}
        self.said: dict[str, list[str]] = {}
        self.login: str | None = None
        self.cancelled = asyncio.Event()
        if keep is not None and keep.exists():
            self.sessions, self.said = json.loads(keep.read_text())

    def on_connect(self, conn: Any) -> None:
        """Know who listens."""
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Say what it can."""
        can = AgentCapabilities(
            load_session=self.keep is not None,
            prompt_capabilities=PromptCapabilities(image=True),
            mcp_capabilities=McpCapabilities(http=True, sse="--no-sse" not in sys.argv),
        )
        version = min(protocol_version, PROTOCOL_VERSION)
        return InitializeResponse(
            protocol_version=version,
            agent_capabilities=can,
            auth_methods=UNNAMED if "--unnamed" in sys.argv else LOGINS,
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Log in, if the key is there that the method needs."""
        names = {
            "openai-api-key": "OPENAI_API_KEY",
            "api-key": "OPENAI_API_KEY",
            "vertex": "VERTEX_KEY",
        }
        if not os.environ.get(names.get(method_id, "")):
            raise RequestError.auth_required()
        self.login = method_id
        return AuthenticateResponse()

    async def new_session(
        self, cwd: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> NewSessionResponse:
        """Begin a session."""
        if "--locked" in sys.argv and self.login is None:
            raise RequestError.auth_required()
        id = uuid4().hex
        given = [f"{getattr(one, 'type', 'stdio')} {one.name}" for one in mcp_servers or ()]
        self.sessions[id] = [f"cwd {cwd}", *given, f"login {self.login}"]
        return NewSessionResponse(session_id=id)

    async def load_session(self, session_id: str, **_: Any) -> LoadSessionResponse:
        """Go on with a session, and tell all of it again, as the protocol wants."""
        if "--locked" in sys.argv and self.login is None:
            raise RequestError.auth_required()
        if session_id not in self.sessions:
            raise RequestError.resource_not_found(session_id)
        if "--late-replay" in sys.argv:
            self.replaying = asyncio.create_task(self._replay(session_id))
        else:
            await self._replay(session_id)
        return LoadSessionResponse()

    async def _replay(self, session_id: str) -> None:
        if "--strange-replay" in sys.argv:
            # A turn that the client has never seen: it was cut off.
            await self._tell(session_id, update_user_message_text("cut off"))
            await self._tell(session_id, start_tool_call("unknown", "Shell", status="completed"))
            await self._tell(session_id, update_agent_message_text("Nobody heard this."))
        for text in self.said[session_id]:
            await self._tell(session_id, update_user_message_text("as before"))
            if "Milk" in text:
                call = start_tool_call("t1", "Read notes", kind="read")
                await self._tell(session_id, call)
            # Not in the pieces in which it was said.
            for at in range(0, len(text), 7):
                await asyncio.sleep(0)
                await self._tell(session_id, update_agent_message_text(text[at : at + 7]))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop, unless it is of the stubborn kind."""
        del session_id
        self.cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Do what the last words say."""
        self.cancelled.clear()
        texts = [getattr(block, "text", f"<{block.type}>") for block in prompt]
        self.sessions[session_id] += texts
        self.said.setdefault(session_id, []).append("")
        said = " ".join(texts)
        act = next((act for word, act in self._acts().items() if word in texts[-1]), self._echo)
        response = await act(session_id, said)
        if self.keep is not None:
            self.keep.write_text(json.dumps([self.sessions, self.said]))
        return response

    def _acts(self) -> dict[str, Callable[[str, str], Awaitable[PromptResponse]]]:
        return {
            "slow": self._wait,
            "stubborn": self._ignore,
            "permission": self._ask,
            "by id": self._ask_by_id,
            "die asking": self._die_asking,
            "unannounced": self._use_unannounced,
            "late input": self._use_with_late_input,
            "edit": self._edit,
            "same": self._say_the_same,
            "tool": self._use,
            "crash": self._crash,
            "hush": self._fall_silent,
            "refuse": self._refuse,
            "garbage": self._babble,
            "environment": self._tell_environment,
            "remember": self._remember,
            "error": self._fail,
        }

    async def _tell(self, session_id: str, update: Any) -> None:
        if (
            isinstance(update, AgentMessageChunk)
            and session_id in self.said
            and self.said[session_id]
        ):
            self.said[session_id][-1] += getattr(update.content, "text", "")
        await self.client.session_update(session_id=session_id, update=update)

    async def _echo(self, session_id: str, said: str) -> PromptResponse:
        await self._tell(session_id, update_agent_thought_text("hmm"))
        for word in ("You ", "said: ", said[-200:]):
            await self._tell(session_id, update_agent_message_text(word))
        usage = Usage(total_tokens=7, input_tokens=4, output_tokens=3)
        return PromptResponse(stop_reason="end_turn", usage=usage)

    async def _wait(self, session_id: str, _: str) -> PromptResponse:
        await self._tell(session_id, update_agent_message_text("Slowly"))
        await self.cancelled.wait()
        return PromptResponse(stop_reason="cancelled")

    async def _ignore(self, session_id: str, _: str) -> PromptResponse:
        await self._tell(session_id, update_agent_message_text("Never"))
        await asyncio.sleep(3600)
        return PromptResponse(stop_reason="end_turn")

    async def _ask(self, session_id: str, _: str) -> PromptResponse:
        call = ToolCallUpdate(
            tool_call_id="c1", title="Delete everything", kind="delete", raw_input={"path": "/tmp"}
        )
        answer = await self.client.request_permission(
            session_id=session_id, tool_call=call, options=OPTIONS
        )
        outcome = answer.outcome
        said = outcome.option_id if isinstance(outcome, AllowedOutcome) else "cancelled"
        await self._tell(session_id, update_agent_message_text(f"I was told {said}."))
        return PromptResponse(stop_reason="end_turn")

    async def _ask_by_id(self, session_id: str, _: str) -> PromptResponse:
        """Announce a call, and then ask for permission by nothing but its id."""
        given = {"command": "rm -r ."}
        call = start_tool_call("n1", "Tidy up", kind="execute", raw_input=given)
        await self._tell(session_id, call)
        await self.client.request_permission(
            session_id=session_id, tool_call=ToolCallUpdate(tool_call_id="n1"), options=OPTIONS
        )
        return PromptResponse(stop_reason="end_turn")

    async def _die_asking(self, session_id: str, _: str) -> PromptResponse:
        call = ToolCallUpdate(tool_call_id="c1", title="Delete everything", kind="delete")
        asking = asyncio.create_task(
            self.client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)
        )
        await asyncio.sleep(0.05)
        os._exit(int(asking.done()) + 3)

    async def _use_unannounced(self, session_id: str, _: str) -> PromptResponse:
        """Ask for a call that was never announced, and update it, as Gemini CLI does."""
        call = ToolCallUpdate(
            tool_call_id="g1", title="rm notes [in the garden]", kind="execute", status="pending"
        )
        await self.client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)
        content = [tool_content(text_block("removed"))]
        await self._tell(session_id, update_tool_call("g1", status="completed", content=content))
        content = [tool_content(text_block("two files"))]
        title = "List files"
        done = update_tool_call("g2", title=title, status="completed", content=content)
        await self._tell(session_id, done)
        return PromptResponse(stop_reason="end_turn")

    async def _use_with_late_input(self, session_id: str, _: str) -> PromptResponse:
        """Announce two calls without input, and send it later, as Claude Code does."""
        for id in ("a", "b"):
            await self._tell(session_id, start_tool_call(id, "Terminal", raw_input={}))
        for id in ("a", "b"):
            given = {"command": f"ls {id}"}
            told = update_tool_call(id, title=f"`ls {id}`", raw_input=given, status="in_progress")
            await self._tell(session_id, told)
        for id in ("a", "b"):
            content = [tool_content(text_block(f"files of {id}"))]
            await self._tell(session_id, update_tool_call(id, status="completed", content=content))
        return PromptResponse(stop_reason="end_turn")

    async def _edit(self, session_id: str, _: str) -> PromptResponse:
        change = FileEditToolCallContent(
            type="diff", path="/garden/notes.md", old_text="milk\nsalt\n", new_text="milk\n"
        )
        call = ToolCallUpdate(
            tool_call_id="e1",
            title="Edit notes.md",
            kind="edit",
            content=[change],
            locations=[ToolCallLocation(path="/garden/notes.md", line=2)],
        )
        await self.client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)
        done = update_tool_call("e1", status="completed", content=[change])
        await self._tell(session_id, done)
        return PromptResponse(stop_reason="end_turn")

    async def _say_the_same(self, session_id: str, _: str) -> PromptResponse:
        await self._tell(session_id, update_agent_message_text("The same as ever."))
        return PromptResponse(stop_reason="end_turn")

    async def _use(self, session_id: str, _: str) -> PromptResponse:
        await self._tell(session_id, update_agent_message_text("Let me look."))
        start = start_tool_call("t1", "Read notes", kind="read", raw_input={"file": "notes"})
        await self._tell(session_id, start)
        await self._tell(session_id, start_tool_call("t2", "Never ends", kind="other"))
        content = [tool_content(text_block("milk"))]
        done = update_tool_call("t1", status="completed", content=content)
        await self._tell(session_id, done)
        await self._tell(session_id, update_agent_message_text("Milk."))
        return PromptResponse(stop_reason="end_turn")

    async def _crash(self, session_id: str, _: str) -> PromptResponse:
        await self._tell(session_id, update_agent_message_text("Half a"))
        await asyncio.sleep(0.05)
        sys.stderr.write("I am going down\n")
        sys.stderr.flush()
        os._exit(3)

    async def _fall_silent(self, session_id: str, _: str) -> PromptResponse:
        os.close(sys.stdout.fileno())
        await asyncio.Event().wait()
        raise AssertionError(session_id)

    async def _refuse(self, session_id: str, _: str) -> PromptResponse:
        del session_id
        return PromptResponse(stop_reason="refusal")

    async def _babble(self, session_id: str, said: str) -> PromptResponse:
        sys.stdout.write("this is no JSON\n[1, 2]\n")
        sys.stdout.flush()
        return await self._echo(session_id, said)

    async def _tell_environment(self, session_id: str, _: str) -> PromptResponse:
        await self._tell(session_id, update_agent_message_text(json.dumps(dict(os.environ))))
        return PromptResponse(stop_reason="end_turn")

    async def _remember(self, session_id: str, _: str) -> PromptResponse:
        told = "|".join(self.sessions[session_id])
        await self._tell(session_id, update_agent_message_text(f"{os.getpid()}|{told}"))
        return PromptResponse(stop_reason="end_turn")

    async def _fail(self, session_id: str, _: str) -> PromptResponse:
        del session_id
        raise RequestError.internal_error({"details": "sk-secret-123 was wrong"})


if __name__ == "__main__":
    if "--mute" in sys.argv:
        sys.exit(1)
    place = next((one.partition("=")[2] for one in sys.argv if one.startswith("--keep=")), "")
    asyncio.run(run_agent(Program(Path(place) if place else None)))  # type: ignore[arg-type]
