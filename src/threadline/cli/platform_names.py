"""Platform names: the platforms that the settings name, for targets that somebody types."""

from collections.abc import Mapping

from msgspec import Struct

from threadline.config import load_config
from threadline.store import Store
from threadline.store.deliveries.targets import known_platforms


class PlatformNames(Struct, frozen=True, kw_only=True):
    """What the settings say of platforms."""

    platforms: frozenset[str]

    async def known(self, store: Store) -> frozenset[str]:
        """Name the platforms of the settings, and those that the store has heard of."""
        return self.platforms | await store.database.read(known_platforms)


def read_platform_names(settings: Mapping[str, str | None]) -> PlatformNames:
    """Read the platforms of the settings."""
    served = (name for name, one in load_config(settings).platforms.items() if one.enabled)
    return PlatformNames(platforms=frozenset(served))
