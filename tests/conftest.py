"""What every test can count on: the async runner, Hypothesis' manners, and nothing left behind."""

import gc
import inspect
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator

import hypothesis
import pytest

from tests.architecture.leftovers import running_tasks, tasks_left, threads_left
from tests.memory_files import keep_files_in_memory

keep_files_in_memory()

hypothesis.settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=60,
    stateful_step_count=30,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "deep", hypothesis.settings.get_profile("ci"), derandomize=False, max_examples=2_000
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

pytest_plugins = ["tests.databases"]

THREADS = pytest.StashKey[frozenset[threading.Thread]]()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let nobody look for garbage among a million things that stay: not now, and not later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run coroutines on asyncio, the only loop that Threadline knows."""
    return "asyncio"


@pytest.fixture
def machine_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move this process to a time zone for one test."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no test, and no program that one starts, find or leave anything in the real home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("THREADLINE_HOME", raising=False)
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield


@pytest.fixture(autouse=True)
def clean_house(request: pytest.FixtureRequest) -> None:
    """Remember what was there before the test; being first here, it looks again as the last."""
    request.node.stash[THREADS] = frozenset(threading.enumerate())
    if is_coroutine(request.function):
        request.getfixturevalue("no_task_left")


@pytest.fixture
async def no_task_left() -> AsyncIterator[None]:
    """Fail the test that leaves a task behind, before the runner would cancel it in silence."""
    before = running_tasks()
    yield
    if left := await tasks_left(before):
        pytest.fail(f"The test left tasks behind: {', '.join(left)}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail the test that leaves a thread behind which would keep the process alive."""
    yield
    before = item.stash.get(THREADS, None)
    if before is not None and (left := threads_left(before)):
        pytest.fail(f"The test left threads behind: {', '.join(left)}", pytrace=False)


def is_coroutine(test: object) -> bool:
    """Tell whether a test runs on the loop; Hypothesis hides the coroutine inside."""
    inner = getattr(getattr(test, "hypothesis", None), "inner_test", test)
    return inspect.iscoroutinefunction(inner)
