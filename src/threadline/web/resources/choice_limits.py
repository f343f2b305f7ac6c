"""Choice limits: what a visitor may choose for a conversation."""

from threadline.core.allowed_models import is_open
from threadline.core.errors import Refused
from threadline.core.session import ModelChoice
from threadline.core.session_patch import KEPT, SessionPatch
from threadline.core.settings import Settings
from threadline.web.authentication import Caller
from threadline.web.resources.visibility import require_admin, require_owner


def require_leave(visitor: Caller, wanted: SessionPatch, rules: Settings) -> None:
    """Refuse what would let somebody reach further than their conversation.

    A folder is on the owner's machine, a tool can do more than speak, an address of a model is
    called from here, and a model that is not offered may cost what nobody wants to pay.
    """
    if wanted.tools is not KEPT or wanted.workspace is not KEPT:
        require_admin(visitor, "choose tools and folders")
    if wanted.project is not KEPT:
        require_owner(visitor, "move sessions into projects, or out of them")
    if isinstance(wanted.model, ModelChoice):
        if wanted.model.base_url is not None:
            require_admin(visitor, "choose which server a model runs on")
        if not visitor.may_administer and not is_open(wanted.model, rules.models):
            raise Refused("This model is not offered here", hint="GET /api/models lists them")
