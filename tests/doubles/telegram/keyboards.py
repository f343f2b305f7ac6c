"""Keyboards: the buttons under a message, checked as strictly as Telegram checks them."""

from tests.doubles.telegram.refusals import Wire, bad

DATA_LIMIT = 64
"""How many bytes a button may carry."""
_ACTIONS = {
    "callback_data",
    "callback_game",
    "copy_text",
    "login_url",
    "pay",
    "switch_inline_query",
    "switch_inline_query_chosen_chat",
    "switch_inline_query_current_chat",
    "url",
    "web_app",
}
_OTHERS = ("keyboard", "remove_keyboard", "force_reply")


def checked_markup(markup: object) -> Wire | None:
    """Take what stands under a message; only an inline keyboard is shown there."""
    if markup is None:
        return None
    if not isinstance(markup, dict):
        raise bad("object expected as reply markup")
    if any(name in markup for name in _OTHERS):
        return None
    rows = markup.get("inline_keyboard", [])
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad('can\'t parse inline keyboard: Field "inline_keyboard" must be of type Array')
    kept = [[_checked_button(button) for button in row] for row in rows if row]
    return {"inline_keyboard": kept} if kept else None


def _checked_button(button: object) -> Wire:
    trouble = "can't parse inline keyboard button"
    if not isinstance(button, dict):
        raise bad(f"{trouble}: InlineKeyboardButton must be an Object")
    told = {key: value for key, value in button.items() if value is not None}
    if not isinstance(told.get("text"), str):
        raise bad(f'{trouble}: Field "text" must be of type String')
    if not told["text"].strip():
        raise bad("inline keyboard button text must be non-empty")
    actions = _ACTIONS & told.keys()
    if not actions:
        raise bad(f"{trouble}: Text buttons are unallowed in the inline keyboard")
    if len(actions) > 1:
        raise bad(f"{trouble}: exactly one optional field must be used")
    if "callback_data" in told:
        data = told["callback_data"]
        if not isinstance(data, str) or not 1 <= len(data.encode()) <= DATA_LIMIT:
            raise bad("BUTTON_DATA_INVALID")
    if "url" in told and "." not in str(told["url"]) and "://" not in str(told["url"]):
        raise bad("BUTTON_URL_INVALID")
    return told
