"""The documentation is correct: every command in the README and in the pages of the book is run, page by page.

Blocks of `sh`, `console` and `python` run in order in one shell and one folder for each page, with a server that is
started at the first use of its address. Only the port is replaced. A `console` block must also print what it shows, and a
block `toml file=NAME` becomes that file. `<!-- not run: REASON -->` above a block excludes it."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass

import pytest

from conftest import REPOSITORY, server_binary

PAGES = sorted(
    str(page.relative_to(REPOSITORY))
    for page in [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("*/README.md")]
)
RUN = {"sh", "console", "python"}
SHOWN = {"toml", "json", "text", "ini", "dockerfile", "rust", "markdown", "mermaid"}
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\s*\n)?(?P<indent> *)```(?P<info>[^\n]*)\n(?P<body>.*?)\n(?P=indent)```", re.DOTALL)
SERVE = re.compile(r"^(?:[A-Z_]+=\S+ )*partita serve\b.*$", re.MULTILINE)
PAGE_SECONDS = 120
END = "end of block"

# `partita serve` runs in the background, and replaces the page's former server; a command on a data folder first stops the
# server, as the pages say to do.
PRELUDE = r"""
set -eo pipefail
stop_server() {
  [ -e server.pid ] || return 0
  kill "$(cat server.pid)"
  while kill -0 "$(cat server.pid)" 2>/dev/null; do sleep 0.05; done
  rm server.pid
}
partita() {
  case "$1 $2" in
    serve*)
      stop_server
      rm -f server.log
      command partita "$@" >server.log 2>&1 &
      echo $! >server.pid
      until grep -qs 'http.*://' server.log; do
        kill -0 "$(cat server.pid)" || { cat server.log; return 1; }
        sleep 0.02
      done ;;
    "verify ./"* | compact* | salvage*) stop_server; command partita "$@" ;;
    *) command partita "$@" ;;
  esac
}
"""


@dataclass
class Block:
    language: str
    body: str
    file: str | None
    skipped: str | None


def blocks(page):
    for found in BLOCK.finditer((REPOSITORY / page).read_text()):
        language, _, options = found["info"].strip().partition(" ")
        body = re.sub(rf"^{found['indent']}", "", found["body"], flags=re.MULTILINE)
        yield Block(language, body, options.removeprefix("file=") or None, found["reason"])


def has_commands(page):
    return any(block.language in RUN and not block.skipped for block in blocks(page))


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_found_and_names_a_known_language(page):
    fences = re.findall(r"(?m)^ *```", (REPOSITORY / page).read_text())
    assert len(fences) == 2 * len(list(blocks(page)))
    for block in blocks(page):
        assert block.language in RUN | SHOWN, f"{page}: ```{block.language}\n{block.body}"


@pytest.mark.parametrize("page", PAGES)
def test_nothing_follows_a_server_in_what_is_pasted(page):
    """It runs in the foreground: what follows belongs into a second terminal."""
    for block in blocks(page):
        found = SERVE.search(block.body) if block.language == "sh" else None
        assert not found or found[0].endswith("&") or not block.body[found.end():].strip(), f"{page}: {block.body}"


class Shell:
    """A shell that runs on like a reader's: variables exported by one block are set in the next."""

    def __init__(self, folder):
        self.port = free_port()
        (folder / "bin").mkdir()
        (folder / "bin/partita").symlink_to(server_binary())
        for name in ["models", "examples"]:
            (folder / name).symlink_to(REPOSITORY / name)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PARTITA_"))}
        environment = kept | {
            "PATH": f"{folder}/bin:{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
            "PARTITA_PORT": str(self.port),
            "AWS_PAGER": "",
            "HOME": str(folder),
        }
        self.process = subprocess.Popen(
            ["bash"], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        self.folder = folder
        self.watchdog = threading.Timer(PAGE_SECONDS, self.process.kill)
        self.watchdog.start()
        self.run(PRELUDE)

    def run(self, script, may_fail=False):
        """The output of the script; fails if a command fails."""
        script = re.sub(r"\b8000\b", str(self.port), script)
        if may_fail:
            script = f"set +e\n{script}\nset -e"
        self.process.stdin.write(f"{script}\necho; echo '{END}'\n")
        self.process.stdin.flush()
        output = []
        for line in self.process.stdout:
            if line.rstrip("\n") == END:
                return "".join(output)
            output.append(line)
        pytest.fail(f"{script}\nended with {self.process.wait()}:\n{''.join(output)}")

    def close(self):
        self.watchdog.cancel()
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()
        pid = self.folder / "server.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_block(shell, block):
    if block.file:
        (shell.folder / block.file).write_text(block.body + "\n")
    if block.language == "sh":
        return shell.run(block.body)
    if block.language == "python":
        return shell.run(f"python3 - <<'END_OF_PYTHON'\n{block.body}\nEND_OF_PYTHON")
    if block.language == "console":
        return "".join(run_and_compare(shell, command) for command in block.body.split("$ ")[1:])
    return ""


def run_and_compare(shell, command):
    line, _, expected = command.partition("\n")
    # The shown output may come from a check that fails.
    printed = shell.run(line, may_fail=bool(expected.strip()))
    assert not expected.strip() or printed.strip() == expected.strip(), line
    return printed


@pytest.fixture
def shell(tmp_path):
    if not server_binary().exists():
        pytest.skip("there is no binary to run")
    shell = Shell(tmp_path)
    yield shell
    shell.close()


def run_page(shell, page):
    printed = ""
    started = False
    for block in blocks(page):
        if block.skipped:
            continue
        started = started or bool(SERVE.search(block.body))
        if "8000" in block.body and block.language in RUN and not started:
            # A page that does not start a server relies on the one of the README.
            shell.run("partita serve")
            started = True
        printed += run_block(shell, block)
    return printed


@pytest.mark.parametrize("page", [page for page in PAGES if has_commands(page) and page != "README.md"])
def test_every_command_of_the_page_runs(shell, page):
    run_page(shell, page)


def test_every_command_of_the_readme_runs_and_finds_what_it_put(shell):
    printed = run_page(shell, "README.md")
    assert "ORDER#2026-04-05#o1" in printed and "99.99" in printed
    assert "Alice" in printed
    assert '"GSI1"' in printed, "the table of the model has its indexes"


@pytest.mark.parametrize("command", ["serve", "healthcheck"])
def test_the_reference_has_every_option(command):
    if not server_binary().exists():
        pytest.skip("there is no binary to run")
    usage = subprocess.run([server_binary(), command, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"--[a-z0-9][a-z0-9-]*(?=[ \n])", re.sub(r"(?m)^ {10}.*$", "", usage))) - {"--help"}
    section = (REPOSITORY / "docs/command-line.md").read_text().split(f"\n## partita {command}\n")[1].split("\n## ")[0]
    assert options and not {option for option in options if f"`{option}" not in section}


def test_a_failing_command_fails_the_page(shell):
    with pytest.raises(pytest.fail.Exception, match="No such file"):
        run_block(shell, Block("sh", "cat nowhere\ntrue", None, None))


def test_output_that_differs_from_the_page_fails_it(shell):
    with pytest.raises(AssertionError):
        run_block(shell, Block("console", "$ echo one\ntwo", None, None))
