"""A task is awaited by the code that starts it, or its failure is logged."""

import ast

from tests.architecture.source import PACKAGE, Module, modules, sample

STARTERS = {"create_task", "ensure_future"}
SEEN = {
    "agents/acp/agent.py": "prompts and permissions are awaited",
    "agents/acp/process.py": "the reader of standard error is awaited at the end",
    "agents/acp/process_pool.py": "programs that end are awaited at the end",
    "agents/model/mcp_client.py": "closing a connection catches everything",
    "agents/model/tools.py": "calls of tools are awaited together",
    "assembly/agent_lifetime.py": "the agent's end is awaited",
    "cli/chat_view.py": "a failure ends the conversation",
    "cli/terminal.py": "a failure ends the conversation",
    "gateway/gateway.py": "a loop that breaks ends the gateway",
    "gateway/user_callables.py": "callers await it, and it is logged when they do not",
    "gateway/worker.py": "a turn that breaks ends the worker",
    "platforms/telegram/album_buffer.py": "callers await it, and it is logged",
    "platforms/webhook/endpoint.py": "the request awaits it",
    "database/cancellation.py": "what outlives its caller is awaited and logged",
    "store/sessions/endings.py": "a hook is awaited",
    "web/feed/broadcaster.py": "a loop that breaks ends its followers",
    "web/feed/sse_stream.py": "the response awaits it",
}
"""Where tasks are started without `log_failure`, and what sees their failures instead."""


def starts(module: Module) -> list[str]:
    """Name the places that start a task which is in no task group."""
    return [
        module.at(node)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in STARTERS
        and ast.unparse(node.func.value) == "asyncio"
    ]


def unseen(module: Module) -> list[str]:
    """Name the places that start tasks in a module that has nothing to see their failures."""
    name = module.path.relative_to(PACKAGE).as_posix()
    is_logged = any(
        isinstance(node, ast.Name) and node.id == "log_failure" for node in ast.walk(module.tree)
    )
    return [] if is_logged or name in SEEN else starts(module)


def test_no_task_fails_unseen() -> None:
    """Each module that starts tasks logs their failures, or says here what sees them."""
    rooms = [module for module in modules("src") if module.room != "testing"]

    assert [place for module in rooms for place in unseen(module)] == []


def test_what_is_listed_starts_tasks() -> None:
    """The list names no module that has none."""
    assert [name for name in SEEN if not starts(_module(name))] == []


def test_a_task_that_fails_unseen_is_found() -> None:
    """The check itself works."""
    assert starts(sample("import asyncio\nasyncio.create_task(work())\n"))


def _module(name: str) -> Module:
    return next(module for module in modules("src") if str(module).endswith(f"threadline/{name}"))
