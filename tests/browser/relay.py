"""Firefox as Playwright can drive it: a relay answers the one command that this Firefox does not know.

    python -m tests.browser.relay FIREFOX [arguments of Firefox]

Playwright 1.65 speaks WebDriver BiDi with any Firefox, and begins each context with
``emulation.setMediaFeaturesOverride``. Firefox 153 does not know it, so nothing would work. The relay starts Firefox,
stands between the two, and answers this command itself when it asks for the light theme, which Firefox has anyway.
A Firefox that knows the command gets it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

from tornado.web import Application
from tornado.websocket import WebSocketHandler, websocket_connect

COMMAND = "emulation.setMediaFeaturesOverride"
MOST_BYTES = 1 << 28
_LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


class Relay(WebSocketHandler):
    """One connection of Playwright, and one to Firefox."""

    address = ""

    def check_origin(self, origin: str) -> bool:
        """Playwright names no origin."""
        return True

    async def open(self, *arguments: str) -> None:
        """Connect to Firefox, too."""
        url = self.address + self.request.path
        self.firefox = await websocket_connect(url, max_message_size=MOST_BYTES)
        self.asked: set[int] = set()
        self.reading = asyncio.create_task(self._read())

    async def on_message(self, message: str | bytes) -> None:
        """A command of Playwright."""
        command = json.loads(message)
        if command["method"] == COMMAND and command["params"]["features"].get("prefers-color-scheme") != "dark":
            self.asked.add(command["id"])
        await self.firefox.write_message(message)

    async def _read(self) -> None:
        while (message := await self.firefox.read_message()) is not None:
            await self.write_message(self._answered(message))
        self.close()

    def _answered(self, message: str | bytes) -> Any:
        # Most messages are long: only the few that can be an answer to the command are read.
        if self.asked and b"unknown command" in (message.encode() if isinstance(message, str) else message):
            answer = json.loads(message)
            if answer.get("id") in self.asked:
                self.asked.remove(answer["id"])
                return {"type": "success", "id": answer["id"], "result": {}}
        return message

    def on_close(self) -> None:
        """Playwright is gone."""
        self.firefox.close()


async def relay(command: list[str]) -> int:
    """Run Firefox, and the relay on a free port, until Firefox ends; its exit status."""
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    async for line in process.stderr:
        if found := _LISTENING.search(line):
            Relay.address = found[1].decode()
            server = Application([("/.*", Relay)], websocket_max_message_size=MOST_BYTES).listen(0, "127.0.0.1")
            port = next(iter(server._sockets.values())).getsockname()[1]
            line = b"WebDriver BiDi listening on ws://127.0.0.1:%d\n" % port
        sys.stderr.buffer.write(line)
        sys.stderr.flush()
    return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(relay(sys.argv[1:])))
