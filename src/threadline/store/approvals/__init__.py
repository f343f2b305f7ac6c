"""Approvals: what agents ask, who may answer, and the tools that need no question."""
