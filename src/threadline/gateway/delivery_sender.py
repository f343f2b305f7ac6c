"""Delivery sender: sends one delivery, message by message, and records each of them."""

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.delivery import GROWING, SentPiece
from threadline.core.errors import LeaseLost
from threadline.core.message import Attachment
from threadline.core.platform import Choice, Outgoing, Platform
from threadline.core.splitting import limit_of, split
from threadline.database.port import Database
from threadline.gateway.intervals import retry_until_stored
from threadline.gateway.lease import LeaseProof
from threadline.gateway.live_replies import Certainty, LiveReply
from threadline.gateway.platform_call import MARKED, CallLease, edit, send
from threadline.store.blobs import stream_blob
from threadline.store.deliveries.lease import renew_deliveries
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.deliveries.results import record_piece, record_sent, withdraw_pieces

EDIT_TRIES = 3
"""After so many attempts what cannot be changed is said anew."""
_ASKED = "Press your answer, or write it."
_NOTHING_LEFT = "…"


class SendStep(Struct, frozen=True, kw_only=True):
    """One message that is to be shown, or to read differently."""

    n: int
    length: int
    text: str = ""
    attachment: Attachment | None = None
    choices: tuple[Choice, ...] = ()
    edits: str | None = None
    """The message that is changed; None: it is a new one."""
    is_done: bool = False
    """That message reads so already, and only has to be written down."""
    is_anew: bool = False
    """Sent again because the original message can no longer be edited."""

    @property
    def is_new(self) -> bool:
        """Whether it adds a message."""
        return self.edits is None and not self.is_done


class DeliverySender:
    """Sends one parcel. What its platform has taken is never sent again."""

    def __init__(
        self,
        database: Database,
        platform: Platform,
        parcel: DeliveryPayload,
        stream: LiveReply | None,
        proof: LeaseProof,
    ) -> None:
        """Send a parcel; `stream` knows what is shown of it, if it grew in this process.

        `proof` measures the age of the lease, which has just been taken.
        """
        self._db = database
        self._platform = platform
        self._parcel = parcel
        self._stream = stream
        self.delivery = parcel.delivery
        """The delivery with its doubts as they are now."""
        self._hold = CallLease(proof, self._renew)
        if stream is not None and stream.certainty is Certainty.CERTAIN:
            # This process saw every call of the stream end.
            self.delivery = replace(parcel.delivery, repeated_at=None)
        elif stream is not None and stream.certainty is Certainty.UNHEARD:
            # The turn may have ended before this was recorded.
            seen_at = parcel.delivery.unheard_at or parcel.delivery.repeated_at
            self.delivery = replace(parcel.delivery, unheard_at=seen_at)
        self._may_exist = self.delivery.repeated_at is not None

    async def carry(self) -> None:
        """Send what is missing; raise `SendFailed` if that cannot be done now."""
        # A later attempt must not depend on what only this process knows.
        for piece in self._unnoted():
            await self._note(piece, is_new=False)
        if len(self._pieces()) < len(self._parcel.pieces):
            await self._withdraw()
        platform_id = self._first_id
        done: list[tuple[SendStep, SentPiece]] = []
        for step in list(self._steps()):
            if not step.is_done:
                # All before it, or whoever goes on after a crash would cut the text elsewhere.
                await self._record(done)
                done.clear()
            id = await self._do(step)
            platform_id = platform_id or id
            done.append((step, SentPiece(n=step.n, platform_id=id, length=step.length)))
        # What was sent is not sent again only because storage fails just now.
        await retry_until_stored(
            lambda: self._db.write(
                record_sent,
                self.delivery,
                platform_id=platform_id,
                pieces=[piece for _, piece in done],
            ),
            f"that delivery {self.delivery.id} was sent",
        )

    def text_of(self, message_id: str) -> str | None:
        """Return how a message of a delivery that has ended should read; None: it is not known.

        The words of a question are deleted when it has been sent.
        """
        text, at = self._text(), 0
        for piece in self._parcel.pieces:
            if piece.platform_id == message_id and piece.length != 0:
                return self._cut(text, at, piece)
            at += max(piece.length, 0)
        return None

    def _cut(self, text: str, at: int, piece: SentPiece) -> str | None:
        end = at + piece.length
        if at >= len(text) and piece.length == 1:
            return _NOTHING_LEFT
        if end > len(text):
            return None
        # It was cut by one of these limits; its length says by which.
        for reserved in ("", MARKED):
            cut = next(split(text, limit_of(self._platform.capabilities, reserved), at), None)
            if cut is not None and (cut.end == end or not piece.is_settled):
                return cut.text
        return text[at:end].strip() or None

    async def _record(self, done: Sequence[tuple[SendStep, SentPiece]]) -> None:
        for step, piece in done:
            await self._note(piece, is_new=step.is_new)
            if step.is_new:
                self.delivery = replace(self.delivery, repeated_at=None, unheard_at=None, repeats=0)
            if step.is_new or piece.is_settled:
                self.delivery = replace(self.delivery, attempts=1)

    async def _note(self, piece: SentPiece, *, is_new: bool) -> None:
        await retry_until_stored(
            lambda: self._db.write(record_piece, self.delivery, piece, is_new=is_new),
            f"message {piece.n} of delivery {self.delivery.id}",
        )

    async def _withdraw(self) -> None:
        """Delete the message that the stream was about to add, and that was certainly not shown."""
        first = len(self._pieces())
        await retry_until_stored(
            lambda: self._db.write(withdraw_pieces, self.delivery, first=first),
            f"that message {first} of delivery {self.delivery.id} was not sent",
        )

    async def _renew(self) -> None:
        """Raise `LeaseLost` if another process sends this by now; else prolong the lease."""
        if await retry_until_stored(
            lambda: self._db.write(renew_deliveries, [self.delivery]),
            f"the lease of delivery {self.delivery.id}",
        ):
            raise LeaseLost("Another process sends this reply", id=str(self.delivery.id))

    @property
    def _first_id(self) -> str | None:
        return next((piece.platform_id for piece in self._pieces() if piece.platform_id), None)

    def _pieces(self) -> Sequence[SentPiece]:
        """Return what is already shown, or may be: as the stream knows it, else as recorded."""
        recorded, stream = self._parcel.pieces, self._stream
        if stream is None:
            return recorded
        shown = [*recorded[: stream.noted], *self._unnoted()]
        if stream.certainty is Certainty.CERTAIN:
            return shown
        return [*shown, *recorded[len(shown) :]]  # What it was about to add is in doubt.

    def _unnoted(self) -> Sequence[SentPiece]:
        """Return messages that the stream showed when its turn had just ended."""
        noted, shown = (0, []) if self._stream is None else (self._stream.noted, self._stream.shown)
        return [
            SentPiece(n=noted + at, platform_id=one.platform_id, length=GROWING)
            for at, one in enumerate(shown[noted:])
        ]

    def _steps(self) -> Iterator[SendStep]:
        steps = [*self._text_steps()]
        if self._parcel.choices and self._platform.capabilities.buttons:
            steps = _with_choices(steps, self._parcel.choices, self._pieces())
        yield from self._marked(steps)

    def _text_steps(self) -> Iterator[SendStep]:
        pieces, text = self._pieces(), self._text()
        is_marked = self._is_doubtful or any(self._is_lost(piece) for piece in pieces)
        limit = limit_of(self._platform.capabilities, MARKED if is_marked else "")
        at, n = 0, 0
        for piece in pieces:
            if piece.is_settled:
                at, n = at + piece.length, n + 1
                continue
            cut = next(split(text, limit, at), None)
            words, end = (_NOTHING_LEFT, at + 1) if cut is None else (cut.text, cut.end)
            step = self._changing(piece, words, end - at)
            if self._reads(n, words):
                step = replace(step, edits=piece.platform_id, is_done=True, is_anew=False)
            yield step
            at, n = end, n + 1
        for cut in split(text, limit, min(at, len(text))):
            yield SendStep(n=n, length=max(cut.end - at, 1), text=cut.text)
            at, n = cut.end, n + 1
        sent = sum(piece.length == 0 for piece in pieces)
        for attachment in self._files()[sent:]:
            yield SendStep(n=n, length=0, attachment=attachment)
            n += 1

    def _changing(self, piece: SentPiece, text: str, length: int) -> SendStep:
        edits = None if self._is_lost(piece) else piece.platform_id
        return SendStep(n=piece.n, length=length, text=text, edits=edits, is_anew=edits is None)

    def _is_lost(self, piece: SentPiece) -> bool:
        """Return whether a message is incomplete and can no longer be edited."""
        can_edit = self._platform.capabilities.edits and self.delivery.attempts <= EDIT_TRIES
        return not piece.is_settled and not (can_edit and piece.platform_id)

    def _reads(self, n: int, text: str) -> bool:
        shown = [] if self._stream is None else self._stream.shown
        return n < len(shown) and shown[n].text == text

    def _text(self) -> str:
        """Answer all that is to be read; a file that cannot be sent is at least named."""
        missing = [file for file in self._parcel.attachments if not self._fits(file)]
        names = [f"[{file.name or file.kind.value} cannot be sent here]" for file in missing]
        return "\n\n".join(filter(None, [self._parcel.text, *names]))

    def _files(self) -> list[Attachment]:
        return [file for file in self._parcel.attachments if self._fits(file)]

    def _fits(self, file: Attachment) -> bool:
        can = self._platform.capabilities
        return can.attachments and file.size <= can.attachment_limit

    @property
    def _is_doubtful(self) -> bool:
        can = self._platform.capabilities
        return self.delivery.repeated_at is not None and not can.idempotent

    def _marked(self, steps: Sequence[SendStep]) -> Iterator[SendStep]:
        """Mark every new message that may have been seen already.

        In doubt is only the first one; what is sent again was certainly seen in part.
        """
        doubtful = self._is_doubtful
        for step in steps:
            if step.is_new and (doubtful or step.is_anew):
                doubtful = False
                yield replace(step, text=f"{MARKED}{step.text}".rstrip())
            else:
                yield step

    async def _do(self, step: SendStep) -> str | None:
        if step.is_done:
            return step.edits
        if step.edits is not None:
            await self._edit(step.edits, step.text)
            return step.edits
        key = f"{self.delivery.id}-{step.n}" + ("-anew" if step.is_anew else "")
        outgoing = Outgoing(
            address=self.delivery.address,
            text=step.text,
            attachments=() if step.attachment is None else (step.attachment,),
            choices=step.choices,
            reply_to=self._parcel.reply_to if step.n == 0 else None,
            key=key,
        )
        await self._hold.require()
        id = await send(self._platform, outgoing, partial(stream_blob, self._db), self._hold)
        can = self._platform.capabilities
        if self._may_exist and can.idempotent and can.edits and id and step.text:
            # Its key may name a message that was sent before, when the answer was shorter.
            await self._edit(id, step.text)
        self._may_exist = False
        return id

    async def _edit(self, id: str, text: str) -> None:
        if self._stream is not None:
            await self._stream.breathe()
        await self._hold.require()
        await edit(self._platform, self.delivery.address, id, text, self._hold)


def _with_choices(
    steps: Sequence[SendStep], choices: tuple[Choice, ...], shown: Sequence[SentPiece]
) -> list[SendStep]:
    """Put the choices under the last words; a message that is only changed cannot take them."""
    words = [step for step in steps if step.attachment is None]
    files = [step for step in steps if step.attachment is not None]
    added = [step for step in words if step.is_new]
    if added:
        return [replace(step, choices=choices) if step is added[-1] else step for step in steps]
    if not words or any(piece.n > words[-1].n and piece.length > 0 for piece in shown):
        return list(steps)  # They were shown before it was cut off.
    last = words[-1]
    return [
        *words[:-1],
        # Unsettled until the choices are shown: whoever goes on after a crash sees which are not.
        replace(last, length=GROWING),
        SendStep(n=last.n + 1, length=1, text=_ASKED, choices=choices),
        replace(last, is_done=True),
        *(replace(file, n=file.n + 1) for file in files),
    ]
