"""Passwords: which ones are taken, and how they are compared without being kept."""

import asyncio
from typing import TYPE_CHECKING

from threadline.core.errors import Invalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

PASSWORD_LEAST = 10
PASSWORD_MOST = 1000
"""Characters; more would only cost time."""
ROUNDS = 2
MEMORY = 19_456
"""KiB for a comparison. Each hash names what it costs, so both may rise."""

# Those that are guessed first, of ten characters or more: what is shorter is refused anyway.
_WORST = """
1234567890 0123456789 0987654321 9876543210 12345678910 123456789012 1111111111 0000000000
1q2w3e4r5t 1q2w3e4r5t6y q1w2e3r4t5 1qaz2wsx3edc qwertyuiop qwertzuiop azertyuiop asdfghjkl1
qwerty1234 qwerty12345 qwerty123456 abcdefghij abcdefghijk abcdef1234 abcd123456 aaaaaaaaaa
password12 password123 password1234 password12345 passwordpassword passw0rd123 p@ssw0rd123
mypassword letmein123 letmein1234 welcome123 welcome1234 administrator admin12345 admin123456
adminadmin iloveyou12 iloveyou123 sunshine123 princess123 football123 baseball123 superman123
changeme123 changemenow threadline threadline1 threadline123
"""
# What an unknown name is compared with, so that its answer takes as long as another one.
_NOBODY = (
    "$argon2id$v=19$m=19456,t=2,p=1$UA/4MhL5TcS+TIeoXEUhfw$"
    "JxcFeGKIuAPDUg85Smv+up2uuzK27y7szJmKOm2I5ak"
)
_AT_ONCE = 2
"""Comparisons at a time: each takes memory for a moment."""


class Passwords:
    """Hashes and compares passwords, on threads and few at a time."""

    def __init__(self) -> None:
        """Have nothing to do yet."""
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._made: PasswordHasher | None = None

    async def hash(self, password: str) -> str:
        """Make of a password what the store may keep."""
        async with self._room:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def is_right(self, password: str, kept: str | None) -> bool:
        """Tell whether a password is the one; where none is kept it takes as long, and is not."""
        async with self._room:
            fits = await asyncio.to_thread(self._compare, password, kept or _NOBODY)
        return fits and kept is not None

    def _compare(self, password: str, kept: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return self._hasher.verify(kept, password)
        except (InvalidHashError, VerificationError, UnicodeEncodeError):
            return False

    @property
    def _hasher(self) -> "PasswordHasher":
        if self._made is None:
            from argon2 import PasswordHasher

            self._made = PasswordHasher(time_cost=ROUNDS, memory_cost=MEMORY, parallelism=1)
        return self._made


def checked_password(password: str, name: str) -> str:
    """Take a password that is not guessed at once; it is repeated in no error."""
    if not PASSWORD_LEAST <= len(password) <= PASSWORD_MOST:
        wish = f"It must have {PASSWORD_LEAST} to {PASSWORD_MOST:,} characters"
        raise Invalid("This password is not accepted", hint=wish)
    plain = password.casefold()
    if plain in _WORST.split() or len(set(plain)) < 4 or plain.strip() == name.casefold() * 2:
        raise Invalid(
            "This password is too easy to guess", hint="Use several words, or a longer one"
        )
    try:
        password.encode()
    except UnicodeEncodeError as error:
        raise Invalid("This password contains an invalid character") from error
    return password
