"""Seals: a provider knows the thoughts that it had, and takes back no other."""

from tests.doubles.providers.script import seal_of


class Seals:
    """Which thoughts were given out under which seals."""

    def __init__(self) -> None:
        """Begin with none."""
        self._texts: dict[str, str] = {}

    def give(self, seal: str, text: str) -> str:
        """Remember a thought by its seal."""
        self._texts[seal] = text
        return seal

    def fits(self, seal: object, text: str | None = None) -> bool:
        """Tell whether a thought, or any thought at all, was given out under a seal."""
        if text is None:
            return seal in self._texts
        return self._texts.get(str(seal)) == text or seal == seal_of(text)
