"""What the documents say to whoever runs a gateway is so."""

import re

from tests.house.source import DOCS
from threadline.config import parse_config
from threadline.gateway.meters import Meters


def test_the_settings_that_are_shown_can_be_used() -> None:
    """Every TOML of the page about configuration is a file that loads."""
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)

    assert shown
    for one in shown:
        config = parse_config(one, "configuration.md", environ={})
        assert config.profiles["coder"].concurrency == 4


def test_every_metric_is_in_the_table() -> None:
    """What Prometheus finds is explained, and what is explained can be found."""
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    told = set(re.findall(r"threadline_\w+", text.partition("### Metrics")[2].partition("###")[0]))
    counted = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in Meters().registry.collect()
    }

    assert told == counted
