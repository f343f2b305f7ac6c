"""SSRF: addresses that tell whoever asks from this machine the secrets of the machine itself."""

import ipaddress
import re
import unicodedata
from urllib.parse import unquote, urlsplit

_NUMBER = re.compile(r"(0x0*[0-9a-f]{0,8})|(0+[0-7]{0,11})|([1-9][0-9]{0,9})", re.ASCII)
_ENDS = "".join(map(chr, range(33)))
"""Blanks and control characters, which clients leave out around an address."""
_SCHEME = re.compile(r"(https?):[/\\]*", re.IGNORECASE)
_BYTES, _LARGEST = 4, 255
"""Of an IPv4 address, and what one of them holds."""
_METADATA = frozenset({"metadata.google.internal", "metadata.goog"})
_METADATA_ADDRESSES = frozenset(map(ipaddress.ip_address, ("100.100.100.200", "fd00:ec2::254")))


def is_machine_own(url: str) -> bool:
    """Tell whether an address is link-local, where clouds keep the credentials of a machine.

    It is judged as it is written, in any of the ways in which a client reads it; whoever can let a
    name of their own lead there is not stopped by this.
    """
    plain = plain_address(url)
    # Some clients end the name of the host at a backslash.
    return any(map(_is_own_host, {_host_of(plain), _host_of(plain.replace("\\", "/"))}))


def plain_address(text: str) -> str:
    """Write an address with two slashes and without blanks: many clients also call `https:host`."""
    text = text.strip(_ENDS).translate(dict.fromkeys(map(ord, "\t\n\r")))
    return _SCHEME.sub(r"\1://", text, count=1) if _SCHEME.match(text) else text


def _host_of(url: str) -> str:
    try:
        return _folded(unquote(urlsplit(url).hostname or "")).rstrip(".")
    except ValueError:
        return ""


def _is_own_host(host: str) -> bool:
    address = _address_of(host.partition("%")[0])
    if address is None:
        return host in _METADATA
    return address.is_link_local or address in _METADATA_ADDRESSES


def _folded(host: str) -> str:
    """Write wide digits, and the signs that clients take for dots, as everybody else does."""
    shown = "".join(sign for sign in host if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFKC", shown).replace("\u3002", ".").lower()


def _address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return _odd_address_of(host)
    if isinstance(found, ipaddress.IPv6Address):
        return found.ipv4_mapped or found.sixtofour or found
    return found


def _odd_address_of(host: str) -> ipaddress.IPv4Address | None:
    """Read 2852039166, 0xa9fe.43518 and the like, which systems take for addresses, too."""
    parts = [found for part in host.split(".") if (found := _NUMBER.fullmatch(part))]
    if len(parts) != host.count(".") + 1 or len(parts) > _BYTES:
        return None
    *first, last = map(_number, parts)
    left = _BYTES - len(first)  # the last number fills all that is left
    if any(one > _LARGEST for one in first) or last >= 256**left:
        return None
    return ipaddress.IPv4Address(bytes(first) + last.to_bytes(left, "big"))


def _number(part: re.Match[str]) -> int:
    sixteen, eight, ten = part.groups()
    if ten:
        return int(ten)
    return int(sixteen.removeprefix("0x") or "0", 16) if sixteen else int(eight, 8)
