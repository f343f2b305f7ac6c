"""Uptime: how long this machine has been up, by a clock that nobody can set."""

import secrets
import sys
import time
from datetime import timedelta
from functools import cache
from pathlib import Path

from threadline.core.gateway_status import Uptime

# On macOS the monotonic clock counts time asleep; on Linux another one does.
_UP = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC


def read_uptime() -> Uptime:
    """Return how long this machine has been up, time asleep included."""
    return Uptime(boot=_read_boot(), elapsed=timedelta(seconds=time.clock_gettime(_UP)))


@cache
def _read_boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # Then only this process can tell how long ago it recorded something.
        return secrets.token_hex(8)
