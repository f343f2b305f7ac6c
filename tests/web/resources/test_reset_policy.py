"""The policy of a session over the API: when it ends by itself, and its manners when busy."""

from datetime import UTC, datetime, timedelta

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.resources.callers import calling
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.session import BusyMode
from threadline.core.settings import Settings
from threadline.testing.clock import FakeClock

RULES = Settings(
    policies=Policies(
        by_platform={"local": ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(hours=2))}
    ),
    busy_by_platform={"local": BusyMode.COLLECT},
)


@on(FAST, POSTGRES)
async def test_the_policy_of_a_session_is_told(open_store: OpenStore) -> None:
    """What is chosen for it wins over its platform, and the moment of its reset comes."""
    clock = FakeClock()
    store = await open_store(clock=clock, rules=RULES)
    async with calling(store) as callers:
        id = await callers.talk("member")
        url = f"/api/sessions/{id}"
        before = (await callers.member.get(f"{url}/policy")).json()
        session = (await callers.member.get(url)).json()
        wish = {"busy_mode": "steer"}
        await callers.member.patch(url, json=wish, headers={"If-Match": "*"})
        chosen = (await callers.member.get(f"{url}/policy")).json()
        clock.advance(timedelta(hours=2, seconds=1))
        over = (await callers.member.get(f"{url}/policy")).json()
        await callers.member.post(f"{url}/end")
        ended = (await callers.member.get(f"{url}/policy")).json()
        hidden = await callers.other.get(f"{url}/policy")

    (route,) = before["routes"]
    assert route.startswith("agent:main:local:dm:account-")
    assert (before["mode"], before["idle_minutes"], before["carry"]) == ("idle", 120, "nothing")
    assert (before["busy_mode"], before["chosen_busy_mode"]) == ("collect", None)
    assert (chosen["busy_mode"], chosen["chosen_busy_mode"]) == ("steer", "steer")
    last = datetime.fromisoformat(session["last_activity_at"])
    assert datetime.fromisoformat(before["resets_at"]) == (last + timedelta(hours=2)).astimezone(
        UTC
    )
    assert (before["next_cause"], over["next_cause"]) == (None, "idle")
    assert (ended["resets_at"], ended["next_cause"]) == (None, "closed")
    assert hidden.status_code == 404
