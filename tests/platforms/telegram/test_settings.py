import subprocess
import sys

import pytest
from pydantic import ValidationError

from tests.doubles.telegram import TOKEN
from threadline.core.platform import Unit
from threadline.platforms.telegram import TelegramSettings, make

HOOK = {
    "mode": "webhook",
    "webhook_url": "https://bot.example/platforms/telegram/updates",
    "webhook_secret": "long-enough-to-be-one",
}


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"token": "no token at all"}, "token"),
        ({"token": "12345"}, "token"),
        ({"token": f"{TOKEN} "}, "token"),
        ({}, "token"),
        ({"token": TOKEN, "mode": "pigeon"}, "mode"),
        ({"token": TOKEN, "mode": "webhook"}, "webhook_url"),
        ({"token": TOKEN, **HOOK, "webhook_secret": "short"}, "webhook_secret"),
        ({"token": TOKEN, **HOOK, "webhook_secret": "with a space in it"}, "webhook_secret"),
        ({"token": TOKEN, "api_url": "nowhere"}, "api_url"),
        ({"token": TOKEN, "download_limit": 10**9}, "download_limit"),
        ({"token": TOKEN, "grups": "all"}, "grups"),
    ],
)
def test_a_mistake_names_its_setting_and_no_value(given: dict[str, object], wrong: str) -> None:
    """The owner learns what is wrong, and nobody learns a secret."""
    with pytest.raises(ValidationError) as raised:
        make("telegram", given)

    assert wrong in str(raised.value)
    for value in (given.get("token"), given.get("webhook_secret")):
        assert value is None or str(value) not in str(raised.value)


def test_secrets_do_not_show() -> None:
    """Settings may be printed."""
    settings = TelegramSettings.model_validate({"token": TOKEN, **HOOK})

    assert TOKEN not in repr(settings)
    assert HOOK["webhook_secret"] not in repr(settings)


def test_it_says_what_telegram_can_do() -> None:
    """Text is counted in UTF-16 units; ids need not be known to speak to somebody."""
    telegram = make("bot", {"token": TOKEN})

    assert (telegram.name, telegram.capabilities.text_limit) == ("bot", 4096)
    assert telegram.capabilities.unit is Unit.UTF16
    assert not telegram.capabilities.raw_ids
    assert len(telegram.notes) < 500


def test_making_it_does_not_load_the_sdk() -> None:
    """Seconds pass while it is loaded, and the settings are checked by commands that are quick."""
    code = (
        "import sys; from threadline.platforms.telegram import make;"
        f"make('telegram', {{'token': {TOKEN!r}}});"
        "sys.exit('aiogram' in sys.modules or 'aiohttp' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
