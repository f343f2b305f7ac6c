"""ACP: any agent that speaks the Agent Client Protocol, run as a program on this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from threadline.agents.settings import AcpSettings

if TYPE_CHECKING:
    from threadline.agents.acp.agent import AcpAgent

__all__ = ["open_acp_agent"]


@asynccontextmanager
async def open_acp_agent(settings: AcpSettings) -> AsyncIterator["AcpAgent"]:
    """Open an agent; its programs are begun when they are needed, and end with this."""
    from threadline.agents.acp.agent import AcpAgent
    from threadline.agents.acp.process_pool import ProcessPool

    async with ProcessPool(settings) as crew:
        yield AcpAgent(settings, crew)
