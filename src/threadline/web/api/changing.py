"""Changing a session: what is for an owner to choose."""

from threadline.web.api.looking import require_owner
from threadline.web.api.shapes.session import NewSession, SessionChange
from threadline.web.visiting import Visitor


def require_leave(visitor: Visitor, wish: NewSession | SessionChange) -> None:
    """Refuse what would let a member reach further than their conversation.

    A folder is on the owner's machine, a tool can do more than speak, and an address of a model
    is called from here.
    """
    if wish.model_fields_set & {"tools", "workspace"}:
        require_owner(visitor, "choose tools and folders")
    if wish.model is not None and wish.model.base_url is not None:
        require_owner(visitor, "choose where a model is asked")
    if wish.project is not None:
        require_owner(visitor, "move sessions into projects")
