"""A device with a passkey, made of software: it answers as the specification of WebAuthn says."""

import hashlib
import json
import struct
from base64 import urlsafe_b64encode

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


class Authenticator:
    """Keeps one key, and signs for the page that asks."""

    def __init__(self, origin: str, host: str, *, flags: int = PRESENT | VERIFIED) -> None:
        """Be used on the pages of one origin."""
        self.origin, self.host, self._flags = origin, host, flags
        self.id = b"a credential of 32 bytes, or so."
        self.count = 0
        self._key = ec.generate_private_key(ec.SECP256R1())

    def make(self, challenge: str) -> dict[str, object]:
        """Make a passkey, as `navigator.credentials.create` does."""
        numbers = self._key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + public
        data = self._data(ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._credential(
            {
                "clientDataJSON": _written(self._client(challenge, "webauthn.create")),
                "attestationObject": _written(attestation),
            }
        )

    def sign(self, challenge: str) -> dict[str, object]:
        """Sign a question, as `navigator.credentials.get` does."""
        self.count += 1
        client, data = self._client(challenge, "webauthn.get"), self._data()
        signed = data + hashlib.sha256(client).digest()
        return self._credential(
            {
                "clientDataJSON": _written(client),
                "authenticatorData": _written(data),
                "signature": _written(self._key.sign(signed, ec.ECDSA(SHA256()))),
            }
        )

    def _data(self, flags: int = 0) -> bytes:
        host = hashlib.sha256(self.host.encode()).digest()
        return host + struct.pack(">BI", self._flags | flags, self.count)

    def _client(self, challenge: str, kind: str) -> bytes:
        asked = _written(challenge.encode())
        return json.dumps({"type": kind, "challenge": asked, "origin": self.origin}).encode()

    def _credential(self, response: dict[str, str]) -> dict[str, object]:
        id = _written(self.id)
        return {"id": id, "rawId": id, "type": "public-key", "response": response}


def _written(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
