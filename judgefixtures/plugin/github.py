"""GitHub output: the job summary and one annotation per failing item."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgefixtures.util.secrets import redact_message

Row = dict[str, Any]

SUMMARY = "GITHUB_STEP_SUMMARY"
MOST = 10  # annotations of a kind that GitHub shows of a step


def append_summary(page: Callable[[], str], environment: Mapping[str, str] = os.environ) -> str:
    """Append a page to the job summary, if any, and return an error or ""."""
    path = environment.get(SUMMARY)
    if not path:
        return ""
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{page()}\n")
    except OSError as error:
        return f"cannot write the job summary to {path}: {error.strerror}"
    return ""


def workflow_notes(results: Iterable[Row], environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield a workflow command for the first failed items, in GitHub only."""
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    failed = [result for result in results if result["failed"]]
    for result in failed[:MOST]:
        finding = result["findings"][-1]
        title = f"{finding['judge']} on {finding['dataset']}: {finding['name']} is {finding['status']}"
        text = finding["plain"] or "; ".join(finding["reasons"]) or "; ".join(finding["diagnosis"][:1])
        file = result["item"].partition("::")[0]
        yield f"::error file={_property(file)},title={_property(title)}::{_data(text)}"
    if len(failed) > MOST:
        yield f"::warning title=judgefixtures::{len(failed) - MOST} more items failed: see the log"


def _data(text: str) -> str:
    """Redact before escaping: escaped secrets would not match."""
    return "".join(_escaped(character) for character in redact_message(text))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(character: str) -> str:
    plain = character.isprintable() and character != "%"
    return character if plain else "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
