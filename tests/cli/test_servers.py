"""`softlab lab` and `softlab explore` as processes: SIGTERM ends the server and the kernels that it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from tests.sampled import sampled

ROOT = Path(__file__).resolve().parents[2]
HOST, TOKEN = "127.0.0.1", "a-token-of-this-test"
SECONDS = 60

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals between processes")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def wait_for(condition, what: str, process: subprocess.Popen, log: Path) -> None:
    limit = time.monotonic() + SECONDS
    while not condition():
        if process.poll() is not None or time.monotonic() > limit:
            pytest.fail(f"{what} did not happen; the server said:\n{log.read_text()[-3000:]}")
        time.sleep(0.05)


def kernels(process: subprocess.Popen) -> list[psutil.Process]:
    """The kernels that run below a process."""
    found = psutil.Process(process.pid).children(recursive=True)
    return [child for child in found if any("ipykernel" in word for word in child.cmdline())]


def start_kernel(command: str, port: int) -> None:
    """Make the server start a kernel: JupyterLab when asked, Voilà for its page."""
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    if command == "lab":
        body = json.dumps({"name": "python3"}).encode()
        urllib.request.urlopen(urllib.request.Request(f"http://{HOST}:{port}/api/kernels", body, headers), timeout=30)
        return

    def load() -> None:
        with contextlib.suppress(OSError):  # the server ends while it makes the page: that is the test
            urllib.request.urlopen(f"http://{HOST}:{port}/?token={TOKEN}", timeout=30).read()

    threading.Thread(target=load, daemon=True).start()


@pytest.mark.parametrize("command", sampled(["lab", "explore"], lambda command: command == "explore"))
def test_sigterm_ends_the_server_and_its_kernels(command, tmp_path):
    port = free_port()
    options = {
        "lab": ["--no-browser", f"--ServerApp.port={port}", f"--IdentityProvider.token={TOKEN}"],
        "explore": ["--no-browser", f"--port={port}", f"--token={TOKEN}"],
    }[command]
    own = {name: str(tmp_path / name) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    log = tmp_path / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "softlab", command, "--", *options],
            cwd=ROOT, env=os.environ | own, stdout=stream, stderr=stream, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    family: list[psutil.Process] = []
    try:
        wait_for(lambda: listens(port), "listening", process, log)
        start_kernel(command, port)
        wait_for(lambda: kernels(process), "the start of a kernel", process, log)
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
        _, alive = psutil.wait_procs(family, timeout=SECONDS)
        assert [child.cmdline() for child in alive] == []
        assert not listens(port)
    finally:
        for child in [*family, process]:
            if child.poll() is None if isinstance(child, subprocess.Popen) else child.is_running():
                child.kill()
