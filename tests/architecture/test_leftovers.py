"""What the tests themselves leave behind."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.architecture.leftovers import running_tasks, tasks_left, threads_left
from tests.architecture.source import ROOT

UNTIDY = """
import asyncio, threading
import pytest
from tests.architecture import leftovers

KEEP, OVER = [], threading.Event()
leftovers.GRACE = 0.1

async def test_leaves_a_task():
    KEEP.append(asyncio.create_task(asyncio.sleep(60), name="forgotten"))

def test_leaves_a_thread():
    threading.Thread(target=OVER.wait, name="stubborn").start()

@pytest.fixture(scope="session", autouse=True)
def end():
    yield
    OVER.set()

@pytest.fixture
async def clock():
    task = asyncio.create_task(asyncio.sleep(60))
    yield task
    task.cancel()

async def test_lets_its_fixture_tidy_up(clock):
    await asyncio.to_thread(threading.enumerate)
    await asyncio.sleep(0)
"""


async def test_a_forgotten_task_is_found() -> None:
    """A task that is still waiting is named; one that was told to end is not."""
    before = running_tasks()
    waiting = asyncio.create_task(asyncio.sleep(60))
    leaving = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    leaving.cancel()

    (name,) = await tasks_left(before)

    assert name == "sleep"
    waiting.cancel()


def test_a_forgotten_thread_is_found() -> None:
    """A thread that keeps the process alive is named; a daemon of somebody else is not."""
    before = frozenset(threading.enumerate())
    over = threading.Event()
    for name, daemon in (("plain", False), ("theirs", True), ("threadline-writer", True)):
        threading.Thread(target=over.wait, name=name, daemon=daemon).start()

    try:
        assert threads_left(before, grace=0.01) == ["plain", "threadline-writer"]
    finally:
        over.set()
    assert threads_left(before) == []


def test_untidy_tests_fail(tmp_path: Path) -> None:
    """A test that leaves a task or a thread behind fails; what a fixture tidies up is no matter."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import *", encoding="utf-8")
    (tmp_path / "test_untidy.py").write_text(UNTIDY, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o"]
    command += ["anyio_mode=auto", "--rootdir", str(tmp_path), "test_untidy.py"]

    answer = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout

    assert "3 passed, 2 errors" in answer
    assert "left tasks behind: sleep" in answer
    assert "left threads behind: stubborn" in answer
