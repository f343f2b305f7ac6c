"""Save: settings are changed in their file, all of them or none, and never to wrong ones."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from threadline.config.config import Config
from threadline.config.config_source import Source
from threadline.config.secret_files import SecretFiles, hidden_among
from threadline.config.sources import read_text
from threadline.config.toml_edit import edit_toml
from threadline.core.errors import ConfigError
from threadline.core.revision import Seen, require_seen, revision_of

FILE_LIMIT = 500_000
"""Bytes."""

Check = Callable[[Config], object]
"""Raises what is wrong with settings that are right by themselves."""
Show = Callable[[Config], Mapping[str, object]]
"""Answers how each setting looks to anybody."""


def change_settings(
    source: Source,
    changes: Mapping[str, object],
    *,
    show: Show,
    check: Check,
    seen: Seen | None = None,
) -> Config:
    """Write some settings into the file, by their dotted names, and answer what holds then.

    None takes one out. `seen` are the revisions of which the file must have one. What is a secret
    goes into a file of its own. Nothing is written before all together have been found right.
    """
    file, vault = source.file, SecretFiles(source.file.parent)
    with _held(file.parent):
        text = read_text(file)
        require_seen(revision_of(text), seen, str(file))
        meant = source.load(edit_toml(text, changes, str(file)))
        hidden = hidden_among(changes, show(meant))
        try:
            written = edit_toml(text, vault.stow(changes, hidden), str(file))
            config = source.load(written)
            check(config)
            replace_file(file, written)
        except BaseException:
            vault.drop()
            raise
        vault.tidy(written)
    return config


def replace_file(file: Path, text: str) -> None:
    """Put a text into the place of a file, in one step that a crash cannot cut in two.

    A new file is its owner's alone; an old one keeps its mode, and a link keeps leading to it.
    """
    place = file.resolve()
    data = text.encode()
    if len(data) > FILE_LIMIT:
        raise ConfigError(f"The file would have more than {FILE_LIMIT:,} bytes", id=str(file))
    beside = place.with_name(f".{place.name}.{token_hex(4)}")
    try:
        mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o600
        opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "wb") as out:
            out.write(data)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        beside.replace(place)
        _sync(place.parent)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"The file cannot be written: {why}", id=str(file)) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Let one process at a time change what is in a folder."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"The folder cannot be used: {why}", id=str(folder)) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
