"""Headers: what every answer tells browsers about what its page may do."""

from collections.abc import Mapping

from starlette.types import Scope

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
"""A page has no script and no style but ours, and talks to nobody else."""

_ALWAYS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_OVER_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}


def headers_for(scope: Scope) -> Mapping[str, str]:
    """Answer what goes with an answer, unless it says something else itself."""
    return {**_ALWAYS, **_OVER_HTTPS} if scope.get("scheme") == "https" else _ALWAYS
