"""Addresses of the machine's own: in all the ways in which one can be written."""

import pytest

from threadline.core.ssrf import is_machine_own


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.0.1:8080",
        "http://user@169.254.169.254/",
        "http://169.254.169.254./v1",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0x0000000000a9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://000000000000251.254.169.254/",
        "http://169\u3002254\u3002169\u3002254/",
        "http://169\uff0e254\uff0e169\uff61254/",
        "http://\uff11\uff16\uff19.254.169.254/",
        "http://169.254.43518/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://METADATA.google.internal/computeMetadata",
        "http:169.254.169.254/",
        " HTTP:/169.254.169.254/",
        "http:\\\\169.254.169.254/",
        "http://169.254.169.254\\@example.org/",
        "ht\ntp://169.254.169.254/",
        "http://%31%36%39.254.169.254/",
        "http://meta\u00addata.google.internal/",
    ],
)
def test_it_is_known_however_it_is_written(url: str) -> None:
    """A client would ask there."""
    assert is_machine_own(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434/v1",
        "http://192.168.1.5/v1",
        "https://api.example.org/v1",
        "https://169.254.169.254.example.org/",
        "http://[fd00::1]/",
        "openai:gpt-5",
        "http://[broken/",
        "",
    ],
)
def test_others_are_left_alone(url: str) -> None:
    """A model may well run at home, or next door."""
    assert not is_machine_own(url)
