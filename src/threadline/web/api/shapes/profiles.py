"""Profiles, as the API tells of them."""

from threadline.web.api.shapes.model import Answer


class ProfileShape(Answer):
    """What conversations are kept apart by."""

    name: str
    is_main: bool
