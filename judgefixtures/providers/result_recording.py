"""Recording of a call of the judge's code: its inputs and its result, in a cassette's row."""

import hashlib
import json
import os
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.cassettes.files import CassetteRow, dump_json
from judgefixtures.prompts.inputs import Inputs
from judgefixtures.util import secrets

from .result_json import to_json

INSTALLED = "site-packages"
LONGEST = 4000  # characters of an exception's message


@dataclass(frozen=True, slots=True)
class ResultExchange:
    """One call in progress, with its inputs or its whole prompt."""

    call: JudgeCall
    prompt: str

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The keyword arguments; of a function of one prompt, the prompt."""
        return self.prompt.values if isinstance(self.prompt, Inputs) else {"prompt": self.prompt}

    @property
    def digest(self) -> str:
        """The row's key: inputs, repeat, and the example in its condition."""
        key = json.dumps(["result", self.call.repeat, self.call.place, self.prompt])
        return hashlib.sha256(key.encode()).hexdigest()[:32]

    def find(self) -> Mapping[str, Any] | None:
        """Return the recorded call, None if it is to be made; raise if nothing may be asked."""
        call = self.call
        call.check()
        if (row := call.find(self.digest)) is not None:
            call.play(row)
            recorded: Mapping[str, Any] = json.loads(row.body)
            return recorded
        if call.missing is not None:
            try:
                call.missing()
            except BaseException as failure:
                call.fail(failure)
        call.online = True
        return None

    def put(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is to be recorded of the call, which the next `keep` writes."""
        call = self.call
        fields: dict[str, Any] = secrets.redacted_json({"inputs": to_json(self.inputs), **recorded})
        body = dump_json(fields)
        row = CassetteRow(self.digest, call.pair, call.repeat, 200, body, own=bool(call.place))
        call.pending[:] = [(self.digest, row, None)]
        return fields

    def keep(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """Write what the call returned, and return it as a replay reads it."""
        fields = self.put(recorded)
        self.call.keep_answer()
        kept = self.call.played[-1].body if self.call.played else dump_json(fields)
        read: dict[str, Any] = json.loads(kept)
        return read


def error_fields(error: BaseException, message: str) -> dict[str, Any]:
    """Return an exception as JSON: its class, its message, and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{_portable(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return {"class": type(error).__name__, "message": message[:LONGEST], "place": place}


def _portable(file: str) -> str:
    """Return a path as other machines have it, where it is in this folder or in a package."""
    path = Path(file)
    if INSTALLED in path.parts:
        return str(Path(*path.parts[path.parts.index(INSTALLED) + 1 :]))
    relative = os.path.relpath(path)
    return path.name if relative.startswith("..") else relative
