"""What the documents say to whoever runs a gateway is so."""

import re

from tests.architecture.source import DOCS
from threadline.config import parse_config
from threadline.gateway.metrics import Metrics


def test_the_settings_that_are_shown_can_be_used() -> None:
    """Every TOML of the documents is a file that loads, but for what says that it is another's."""
    shown = [
        (page.name, one)
        for page in sorted(DOCS.glob("*.md"))
        for one in re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
        if "pyproject.toml" not in one and "[project" not in one
    ]

    assert {"configuration.md", "hooks.md"} <= {page for page, _ in shown}
    for page, one in shown:
        parse_config(one, page, environ={})


def test_every_metric_is_in_the_table() -> None:
    """What Prometheus finds is explained, and what is explained can be found."""
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    told = set(re.findall(r"threadline_\w+", text.partition("### Metrics")[2].partition("###")[0]))
    counted = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in Metrics().registry.collect()
    }

    assert told == counted
