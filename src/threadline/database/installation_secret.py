"""Installation secret: a file outside of the database, for its owner's eyes only."""

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from threadline.core.database_url import home_folder
from threadline.core.deletion import SEAL_BYTES
from threadline.core.errors import StorageError

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def secret_file(where: str) -> Path:
    """Return the file that holds the secret of a server's database: one for each of them."""
    which = hashlib.sha256(where.encode()).hexdigest()[:16]
    return Path(home_folder(os.environ)).expanduser() / f"seal-{which}"


def read_secret(file: Path) -> bytes:
    """Read the secret, or make it if there is none yet; two who make it at once get the same."""
    try:
        with suppress(FileExistsError):
            _make(file)
        with os.fdopen(os.open(file, _READ), "rb") as opened:
            found = opened.read(SEAL_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StorageError(f"The secret cannot be read or made ({why})", id=str(file)) from error
    if len(found) != SEAL_BYTES:
        raise StorageError(
            "The secret is damaged",
            id=str(file),
            hint="Restore the file; without it nobody can tell what was forgotten before",
        )
    return found


def _make(file: Path) -> None:
    """Write it under another name first, so that nobody reads half of it."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.exists():
        return
    unseen = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(unseen, _MAKE, 0o600), "wb") as opened:
        opened.write(secrets.token_bytes(SEAL_BYTES))
        opened.flush()
        os.fsync(opened.fileno())
    try:
        os.link(unseen, file)
    finally:
        unseen.unlink()
