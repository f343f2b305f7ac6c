"""Test modules made ready once: each worker would rewrite the asserts of all of them by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import (
    PYC_TAIL,
    _read_pyc,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
    try_makedirs,
)


def rewrite_for_workers(config: pytest.Config) -> None:
    """Rewrite the modules of this run, if workers are about to be started that need them."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        return
    for module in sorted(_modules(config)):
        _rewrite(module, config)


def _modules(config: pytest.Config) -> Iterator[Path]:
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        yield from path.rglob("test_*.py")
        yield from path.rglob("conftest.py")


def _rewrite(module: Path, config: pytest.Config) -> None:
    folder = get_cache_dir(module)
    compiled = folder / (module.stem + PYC_TAIL)
    if try_makedirs(folder) and _read_pyc(module, compiled) is None:
        source_hash, code = _rewrite_test(module, config)
        _write_pyc(config.stash[assertstate_key], code, source_hash, compiled)
