"""HTML page: report.json and the judges' answers in one file without external resources.

External text is never interpreted: jinja2 and page.js escape it.
"""

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgefixtures.checks.plain_language import status_with_part
from judgefixtures.models.findings import DecisionPart, Row

from .charts import SHARES
from .invisible_characters import UNSEEN, safe_json
from .labels import capitalize_first
from .pair_browser import browser_data
from .views import page_view
from .vocabulary import PageVocabulary, is_grade_contrast, page_vocabulary

HERE = Path(__file__).parent


def page(report: Row, judgments: Sequence[Row], pairs: Sequence[Row]) -> str:
    """Return report.html, with a browser of every pair.

    Missing fields omit their parts of the page. Equal values give equal pages.

    Args:
        report: report.json.
        judgments: Rows of judgments.jsonl.
        pairs: Rows with `dataset`, `pair`, `question`, `response_1`, `response_2`, `gold`, `category`, `content_type`,
            `judges` and `close_for` (judges for which the pair is close).

    >>> html = page({"schema": 1, "status": "PASS", "judges": {}}, [], [])
    >>> html.startswith("<!doctype html>"), "http" in html.partition("<body")[2]
    (True, False)
    """
    words = page_vocabulary(report, pairs)
    style = style_sheet()
    script = _script(words, columns=any(row.get("columns") for row in pairs))
    data = safe_json({"unseen": UNSEEN, **browser_data(report, judgments, pairs)})
    policy = content_security_policy(style, script)
    ours = {"words": words, "shares": SHARES, "policy": policy, "style": style, "script": script}
    html = _templates().get_template("page.html").render(view=page_view(report), data=data, **ours)
    return str(html).strip() + "\n"


def style_sheet() -> str:
    """Return the style sheet for other pages."""
    return (HERE / "page.css").read_text(encoding="utf-8")


def content_security_policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: only the page's own script runs."""
    return (
        f"default-src 'none'; script-src {_hash_of(script)}; style-src {_hash_of(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script(words: PageVocabulary, *, columns: bool) -> str:
    """Return page.js in the words of a page, and with what shows columns where there are any."""
    return str(_script_templates().get_template("page.js").render(words=words, columns=columns))


@functools.cache
def _script_templates() -> Any:
    """Return the templates whose marks are JavaScript's comments; nothing but words of ours is put into them."""
    marks = {"block_start_string": "/*%", "block_end_string": "%*/"}
    return _templates().overlay(**marks, autoescape=False, keep_trailing_newline=True)


@functools.cache
def _templates() -> Any:
    import jinja2

    from ..html import labels as words
    from .invisible_characters import mark_invisible_html, spell_out_invisible

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What reaches the page reaches it through `seen`: a control character is never written as it is.
        finalize=_finalized(mark_invisible_html),
    )
    labels = {
        "share": words.share_label,
        "shift": words.shift_label,
        "limits": words.interval_label,
        "level": words.confidence_label,
        "status": words.status_label,
        "number": words.number_label,
    }
    parts = {"measured": words.estimate_label, "allowed": words.limits_label, "named_in": _named_in}
    parts |= {"is_graded": is_grade_contrast, "sentence": capitalize_first}
    made.filters |= {"spelled": spell_out_invisible, **labels, **parts}
    return made


def _named_in(row: Row) -> str:
    return status_with_part(row["status"], map(DecisionPart.from_json, row.get("decided_by") or ()))


def _finalized(seen: Any) -> Any:
    return lambda value: seen(value) if isinstance(value, str) else value
