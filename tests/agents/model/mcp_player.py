"""Plays the recorded answers of an MCP server: `mcp_player.py recording.json`.

Answers go by the method of a request, so that a client may ask in any order.
"""

import json
import sys
from pathlib import Path

UNKNOWN = {"error": {"code": -32601, "message": "Method not found"}}

if __name__ == "__main__":
    answers = json.loads(Path(sys.argv[1]).read_text())["answers"]
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            answer = answers.get(asked["method"], UNKNOWN)
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}) + "\n")
            sys.stdout.flush()
