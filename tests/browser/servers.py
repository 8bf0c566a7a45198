"""JupyterLab and the app as a learner has them, for tests: servers of their own on 127.0.0.1.

They run on a learner's copies of the lessons, which have no outputs, so that whatever is on the page was computed there
and then. Settings, runtime files and the token are their own. The browser can reach nothing but 127.0.0.1.
"""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Playwright

from softlab import app
from softlab.cli.course import lab_command
from softlab.course import copies
from tests.browser import relay
from tests.tools.notebooks import NOTEBOOKS

HOST = "127.0.0.1"
START_SECONDS = 60
VIEWPORT = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Server:
    """A running server: where it answers, its token, and for JupyterLab the folder that it shows."""

    url: str
    token: str
    folder: Path

    def status(self, path: str, token: str | None) -> int:
        """The HTTP status of a path, asked for with a token or without one; redirections are not followed."""
        headers = {"Authorization": f"token {token}"} if token else {}
        opener = urllib.request.build_opener(_NoRedirection)
        try:
            with opener.open(urllib.request.Request(f"{self.url}{path}", headers=headers)) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        """A redirection is an answer, too."""


@contextmanager
def serving(folder: Path, scratch: Path) -> Iterator[Server]:
    """JupyterLab on a folder, with an empty configuration kept in ``scratch``: the very command that `make lab` runs,
    and what a test needs besides."""

    def command(port: int, token: str) -> Sequence[str]:
        options = ["--no-browser", "--expose-app-in-browser", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        return lab_command(folder, "", options)

    with _running(command, os.environ, folder, scratch, "/api/status") as server:
        yield server


@contextmanager
def exploring(scratch: Path) -> Iterator[Server]:
    """The app, by the very command that `softlab explore` runs."""

    def command(port: int, token: str) -> Sequence[str]:
        return app.command(["--no-browser", f"--port={port}", f"--token={token}"])

    with _running(command, app.environment(), scratch, scratch, "/voila/static/voila.js") as server:
        yield server


@contextmanager
def _running(
    command: Callable[[int, str], Sequence[str]],
    environment: Mapping[str, str],
    folder: Path,
    scratch: Path,
    ready: str,
) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    server = Server(f"http://{HOST}:{port}", secrets.token_hex(24), folder)
    variables = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = {variable: str(scratch / variable.lower()) for variable in variables}
    log = scratch / "server.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            command(port, server.token), env={**environment, **own, "JUPYTER_TOKEN": server.token},
            stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _await(server, process, ready, log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await(server: Server, process: subprocess.Popen[Any], path: str, log: Path) -> None:
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        if process.poll() is not None:
            break
        try:
            # Any answer of the server's own will do; 404 included, before its files are known.
            if server.status(path, server.token) < 500:
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server does not answer on {server.url}:\n{log.read_text()[-3000:]}")


def copy_of_the_course(folder: Path) -> Path:
    """The learner's folder as ``softlab lab`` makes it, in ``folder``: lessons without outputs, kernels beside them."""
    copies.update(folder, NOTEBOOKS)
    return folder


def launch(playwright: Playwright, chromium: Path) -> Browser:
    """Chromium, headless, that finds no host but 127.0.0.1."""
    options = [f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}"]
    if os.name == "posix" and os.getuid() == 0:
        options.append("--no-sandbox")  # Chromium refuses to run its sandbox as root
    return playwright.chromium.launch(executable_path=chromium, args=options)


def launch_firefox(playwright: Playwright, firefox: Path, scratch: Path) -> Browser:
    """Firefox, headless, that finds no host but 127.0.0.1: every other is asked of a proxy that is not there.

    scratch: a folder for the program that Playwright starts, which stands between the two (``relay``).
    """
    program = scratch / "firefox"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, relay.__file__, str(firefox)])} "$@"\n')
    program.chmod(0o755)
    settings = {"network.proxy.type": 1, "layout.css.prefers-color-scheme.content-override": 1}
    for kind in ("http", "ssl", "socks"):
        settings |= {f"network.proxy.{kind}": HOST, f"network.proxy.{kind}_port": 9}
    return playwright.firefox.launch(channel="moz-firefox", executable_path=program, firefox_user_prefs=settings)
