"""Plays a recorded conversation of an ACP program: `player.py recording.json starts.txt`.

Each start of the program plays the next run of the recording. The client has to send what it sent
when the conversation was recorded, in the same order: methods, sessions and decisions.
"""

import json
import sys
from pathlib import Path
from typing import Any


def play(run: list[tuple[str, dict[str, Any]]]) -> None:
    """Play one run: send what the program sent, and wait for what the client sent."""
    ids: dict[object, object] = {}
    for direction, message in run:
        if direction == ">":
            heard = json.loads(sys.stdin.readline() or "null")
            if heard is None or shape_of(heard) != shape_of(message):
                sys.exit(f"expected {shape_of(message)}, heard {heard and shape_of(heard)}")
            if "method" in message and "id" in message:
                ids[message["id"]] = heard["id"]
            continue
        sent = message if "method" in message else {**message, "id": ids[message["id"]]}
        sys.stdout.write(json.dumps(sent) + "\n")
        sys.stdout.flush()


def shape_of(message: dict[str, Any]) -> object:
    """Return what has to be the same as in the recording."""
    if "method" in message:
        params = message.get("params", {})
        return [message["method"], params.get("sessionId"), params.get("methodId")]
    return [message.get("id"), message.get("result")]


if __name__ == "__main__":
    recording, starts = Path(sys.argv[1]), Path(sys.argv[2])
    with starts.open("a+") as file:
        file.seek(0)
        number = len(file.readlines())
        file.write("started\n")
    played = json.loads(recording.read_text())["runs"][number]
    play(played)
    if played[-1][1].get("method") != "session/request_permission":
        sys.stdin.read()
