"""Agents: whoever answers, behind the protocol of `threadline.core.agent`."""
