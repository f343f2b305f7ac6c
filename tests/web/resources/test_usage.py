"""Usage and caps over HTTP: everybody's for the owner, one's own for a member."""

from decimal import Decimal

from tests.databases import FAST, OpenStore, on
from tests.web.resources.callers import calling
from threadline.core.budget import SpendCaps
from threadline.core.settings import Settings
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store


def dollars(cost: str) -> tuple[Usage, ...]:
    """Spend something on one call."""
    return (
        Usage(
            provider="acme",
            model="one",
            input_tokens=10,
            cost=Decimal(cost),
            cost_status=CostStatus.EXACT,
        ),
    )


@on(FAST)
async def test_usage_is_everybodys_for_the_owner_and_ones_own_for_a_member(store: Store) -> None:
    """By any subject a member is told of nothing that another one spent."""
    async with calling(store) as call:
        await call.talk("member", usage=dollars("0.5"))
        secret = await call.talk("other", usage=dollars("2"))
        for by in ("day", "model", "task", "person", "session", "turn"):
            asked = {"by": by}
            all_of_it = (await call.owner.get("/api/usage", params=asked)).json()["items"]
            own = (await call.member.get("/api/usage", params=asked)).json()["items"]
            assert sum(Decimal(one["cost"]) for one in all_of_it) == Decimal("2.5"), by
            assert [Decimal(one["cost"]) for one in own] == [Decimal("0.5")], by

        one = await call.owner.get("/api/usage", params={"by": "model", "session": secret})
        assert [row["cost"] for row in one.json()["items"]] == ["2"]
        assert one.json()["items"][0]["subject"] == "acme/one"
        pry = await call.member.get("/api/usage", params={"session": secret})
        assert pry.status_code == 404


@on(FAST)
async def test_the_dearest_come_first_page_by_page(store: Store) -> None:
    """A page says where the next one begins; days are told all at once."""
    async with calling(store) as call:
        for cost in ("1", "3", "2"):
            await call.talk("owner", usage=dollars(cost))
        first = (await call.owner.get("/api/usage?by=session&most=2")).json()
        rest = (await call.owner.get(f"/api/usage?by=session&after={first['next']}")).json()
        days = (await call.owner.get("/api/usage?by=day&most=1")).json()
        odd = [await call.owner.get(f"/api/usage?{one}") for one in ("most=0", "after=x")]

    assert [one["cost"] for one in first["items"]] == ["3", "2"]
    assert ([one["cost"] for one in rest["items"]], rest["next"]) == (["1"], None)
    assert ([one["cost"] for one in days["items"]], days["next"]) == (["6"], None)
    assert [one.status_code for one in odd] == [422, 422]


@on(FAST)
async def test_a_member_cannot_ask_for_others_by_name(store: Store) -> None:
    """Neither by sender nor by person; their own name is no secret to them."""
    async with calling(store) as call:
        me = f"local:{call.accounts['member'].sender.id}"
        assert (await call.member.get(f"/api/usage?sender={me}")).status_code == 200
        assert (await call.member.get("/api/usage?sender=local:owner")).status_code == 403
        assert (await call.member.get("/api/usage?person=1")).status_code == 403
        assert (await call.nobody.get("/api/usage")).status_code == 401
        assert (await call.owner.get("/api/usage?person=1&sender=a:b")).status_code == 422


@on(FAST)
async def test_periods_and_time_zones_are_checked(store: Store) -> None:
    """A moment needs a zone, and a zone has to be one; what is outside is not counted."""
    async with calling(store) as call:
        await call.talk("owner", usage=dollars("1"))
        early = await call.owner.get("/api/usage?until=2000-01-01T00:00:00Z")
        assert early.json()["items"] == []
        since = await call.owner.get("/api/usage?since=2000-01-01T00:00:00Z&timezone=Asia/Tokyo")
        assert len(since.json()["items"]) == 1
        odd = (
            "since=2000-01-01T00:00:00",
            "since=yesterday",
            "timezone=../../etc/passwd",
            "timezone=/etc/passwd",
            "timezone=",
            "timezone=America",
            "timezone=%00",
            "by=colour",
        )
        for query in odd:
            assert (await call.owner.get(f"/api/usage?{query}")).status_code == 422, query


@on(FAST)
async def test_caps_tell_how_near_they_are(open_store: OpenStore) -> None:
    """A member is told of their own, not of what all spent together."""
    caps = SpendCaps(day=Decimal(10), person_day=Decimal(2), session=Decimal(1))
    store = await open_store(rules=Settings(spend=caps))
    async with calling(store) as call:
        mine = await call.talk("member", usage=dollars("1.7"))
        await call.talk("other", usage=dollars("3"))
        all_caps = (await call.owner.get("/api/usage/caps")).json()["items"]
        told = {one["kind"]: Decimal(one["spent"]) for one in all_caps}
        assert told == {"day": Decimal("4.7"), "person_day": Decimal(0)}

        own = (await call.member.get("/api/usage/caps", params={"session": mine})).json()["items"]
        near = {one["kind"]: (one["is_warned"], one["is_refused"]) for one in own}
        assert near == {"person_day": (True, False), "session": (True, True)}
        stranger = await call.other.get("/api/usage/caps", params={"session": mine})
        assert stranger.status_code == 404
