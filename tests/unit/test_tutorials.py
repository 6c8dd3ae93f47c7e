"""The tutorials, run as a reader runs them: each from an empty folder, with a provider and without a key.

The simulator is the provider, too. What differs is who is named in the judge's table, and who starts the server.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest
from support.pages import REPOSITORY, Block, assert_done, blocks, run

from judgefixtures.prompts.templates import load_template
from judgefixtures.simulator.server import serving

TUTORIALS = {name: REPOSITORY / "docs" / "tutorial" / f"{name}.md" for name in ("pairs", "pass-fail")}
FAITHFUL = {"pairs": "simulated-faithful", "pass-fail": "simulated-grader-faithful"}
SERVER = "python -m judgefixtures.simulator"
TABLE = "[tool.judgefixtures.judges.production]\n"


def replace_judge(file: Path, table: str) -> None:
    """Put the judge's table of a tutorial in the place of the one that is there."""
    before, after = file.read_text().split(TABLE)
    _, bracket, rest = after.partition("\n[")
    file.write_text(f"{before}{table}{bracket}{rest}")


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def first_part(name: str) -> list[Block]:
    """Return the blocks of a tutorial up to the reader's own data."""
    shown = blocks(TUTORIALS[name])
    return shown[: next(place for place, each in enumerate(shown) if each.language == "json")]


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_without_a_key(name: str, tmp_path: Path) -> None:
    """Every command ends with the code that the page gives, and the shifts are those of the page's table."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    port = str(free_port())
    for block in first_part(name):
        if block.language == "toml" and "simulated" in block.text:
            replace_judge(tmp_path / "pyproject.toml", block.text.replace("8080", port))
        if block.language == "sh" and not asks_a_provider(block):
            for command in block.commands:
                assert_done(command, run(command.line.replace("8080", port), tmp_path))
    rows = json.loads((tmp_path / "report" / "report.json").read_text())["contrasts"]
    (row,) = re.findall(r"^\| shift \(VSR\) .*$", TUTORIALS[name].read_text(encoding="utf-8"), re.M)
    shown = {float(number) for number in re.findall(r"\| (\d\.\d\d) (?=\|)", row)}
    assert {round(each["vsr"]["value"], 2) for each in rows} == shown


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_with_a_provider(name: str, tmp_path: Path) -> None:
    """With a provider that nothing moves each command ends with 0."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    with serving() as server:
        for block in first_part(name):
            if block.language == "toml" and "simulated" not in block.text:
                table = re.sub(r"model = .*", f'model = "{FAITHFUL[name]}"\nbase_url = "{server.url}/v1"', block.text)
                replace_judge(tmp_path / "pyproject.toml", table)
            if block.language == "sh" and SERVER not in block.text:
                for command in block.commands:
                    done = run(command.line, tmp_path)
                    assert done.returncode == 0, f"{command.line}\n{done.stdout}\n{done.stderr}"


def asks_a_provider(block: Block) -> bool:
    """Say whether a block records without starting the simulator."""
    return "--judge-record" in block.text and SERVER not in block.text


@pytest.mark.parametrize(("page", "mode"), [("tutorial/pass-fail", "binary"), ("how-to/own-template", "pairwise")])
def test_the_templates_of_the_docs_load(page: str, mode: str, tmp_path: Path) -> None:
    """The prompts that pages show have the slots that such a judge needs."""
    (text,) = [block.text for block in blocks(REPOSITORY / "docs" / f"{page}.md") if block.language == "text"]
    (tmp_path / "prompt.txt").write_text(text)
    assert load_template(str(tmp_path / "prompt.txt"), mode=mode)
