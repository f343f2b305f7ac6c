"""Platforms: one module for each way to reach people."""
