"""The page: report.json and what the judges said as one HTML file that needs nothing else.

`marks` makes texts safe to look at, `charts` knows geometry, `vocabulary` what pairs and examples are called, `views`
what the report's part of the page says, `cases` what the browser of pairs holds; the templates, page.css and page.js
stand beside them. Nothing is measured here, and whatever came from outside is text: jinja2 escapes it in the page, and
page.js writes it as text alone.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgefixtures.checks.plain import named_in
from judgefixtures.findings import PartRow, Row
from judgefixtures.page.cases import cases_of
from judgefixtures.page.charts import SHARES
from judgefixtures.page.marks import UNSEEN, safe_json
from judgefixtures.page.views import as_sentence, view_of
from judgefixtures.page.vocabulary import Vocabulary, is_graded, vocabulary_of

HERE = Path(__file__).parent


def page(report: Row, judgments: Sequence[Row], pairs: Sequence[Row]) -> str:
    """Return report.html: the report for people, with a browser of every pair and what was said about it.

    `report` is report.json, `judgments` the rows of judgments.jsonl; a row of `pairs` has `dataset`, `pair`,
    `question`, `response_1`, `response_2`, `gold`, `category`, `content_type`, `judges`, who was asked about it so, and
    `close_for`, the judges for which it is a close call. All are plain JSON values, without secrets. The same values
    give the same page, and it always has UTF-8. Fields that are missing leave their part of the page out.

    >>> html = page({"schema": 1, "status": "PASS", "judges": {}}, [], [])
    >>> html.startswith("<!doctype html>"), "http" in html.partition("<body")[2]
    (True, False)
    """
    words = vocabulary_of(report, pairs)
    style = look()
    script = _script(words, columns=any(row.get("columns") for row in pairs))
    data = safe_json({"unseen": UNSEEN, **cases_of(report, judgments, pairs)})
    ours = {"words": words, "shares": SHARES, "policy": policy(style, script), "style": style, "script": script}
    html = _templates().get_template("page.html").render(view=view_of(report), data=data, **ours)
    return str(html).strip() + "\n"


def look() -> str:
    """Return the style sheet of the page, for other pages that are to look like it."""
    return (HERE / "page.css").read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: nothing is loaded, and nothing runs but the script of the page itself."""
    return (
        f"default-src 'none'; script-src {_hash_of(script)}; style-src {_hash_of(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script(words: Vocabulary, *, columns: bool) -> str:
    """Return page.js in the words of a page, and with what shows columns where there are any.

    Its templates' marks are JavaScript's comments, and nothing but words of ours is put into it.
    """
    marks = {"block_start_string": "/*%", "block_end_string": "%*/"}
    made = _templates().overlay(**marks, autoescape=False, keep_trailing_newline=True)
    return str(made.get_template("page.js").render(words=words, columns=columns))


@functools.cache
def _templates() -> Any:
    """Return the templates: every value is escaped that is not marked as safe, and a name that is missing an error."""
    import jinja2

    from judgefixtures.page import labels as words
    from judgefixtures.page.marks import seen, spelled

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What reaches the page reaches it through `seen`: a control character is never written as it is.
        finalize=_finalized(seen),
    )
    named = {name: getattr(words, name) for name in ("share", "shift", "limits", "level", "status", "number")}
    parts = {"measured": words.measured_text, "allowed": words.allowed_text, "named_in": _named_in}
    parts |= {"is_graded": is_graded, "sentence": as_sentence}
    made.filters |= {"spelled": spelled, **named, **parts}
    return made


def _named_in(row: Row) -> str:
    return named_in(row["status"], map(PartRow.from_json, row.get("decided_by") or ()))


def _finalized(seen: Any) -> Any:
    return lambda value: seen(value) if isinstance(value, str) else value
