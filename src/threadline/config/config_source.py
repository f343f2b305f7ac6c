"""Config source: what a process was started with, so that settings can be read again."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from threadline.config import Config, load_config, user_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Options, environment and folder, from which the same process reads its settings anew."""

    options: Mapping[str, str | None] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    folder: Path = field(default_factory=Path.cwd)
    secrets: set[str] = field(default_factory=set, repr=False, compare=False)
    """All secrets that these settings ever held or named: whoever writes a log leaves them out."""

    @property
    def file(self) -> Path:
        """The file into which settings are written."""
        return user_file(self.environ)

    def load(self, draft: str | None = None) -> Config:
        """Read the settings; a `draft` stands for what the file says."""
        return load_config(self.options, environ=self.environ, folder=self.folder, draft=draft)
