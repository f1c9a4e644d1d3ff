"""A PostgreSQL server of its own, on loopback, for tests that need one; skipped where none is installed."""

import contextlib
import glob
import os
import pwd
import shutil
import socket
import subprocess

import pytest

REASON = "there is no PostgreSQL server: no initdb below /usr/lib/postgresql or in PATH (apt-get install postgresql)"


def program(name):
    found = shutil.which(name)
    return found or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), None)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def account():
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextlib.contextmanager
def server(folder):
    """Starts a server and gives the address of its database."""
    if not program("initdb") or not shutil.which("psql"):
        pytest.skip(REASON)
    user, data, port = account(), folder / "data", free_port()
    data.mkdir()
    # The data must belong to the account, and it must be able to reach them.
    if user:
        shutil.chown(data, user)
        for parent in [folder, *folder.parents]:
            if parent.stat().st_uid == 0 and str(parent) not in ("/", "/tmp"):
                parent.chmod(parent.stat().st_mode | 0o055)
    started = dict(user=user, cwd="/", check=True, capture_output=True, timeout=120)
    subprocess.run([program("initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8"], **started)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
    control = [program("pg_ctl"), "-D", data, "-w"]
    subprocess.run([*control, "-o", options, "-l", data / "log", "start"], **{**started, "capture_output": False})
    try:
        yield f"postgres://postgres@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **started)


def run(address, *arguments, cwd=None):
    done = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", address, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
