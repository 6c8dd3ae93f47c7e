"""Messages: macros of templates, one by one; what is called exists, and nothing is kept that nobody calls."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import judgefixtures
from judgefixtures.models.messages import shared_filters
from judgefixtures.util.jinja import MACRO, Messages

PACKAGE = Path(judgefixtures.__file__).parent
CALLED = re.compile(r"""(?:MESSAGES|say)\.(?:lines\(\s*"(\w+)"|(?!lines\b)(\w+))""")
TEMPLATES = sorted(path.parent for path in PACKAGE.glob("*/messages.txt.jinja") if path.parent.name != "canary")

SOURCE = """\
{# A comment. #}
{% macro verdicts(n, more="") %}
{% if n %}
{{ n | plural("verdict") }} moved, \\
   {{ more }}{% if n > 1 %} (several){% endif %}
{% else %}
no verdict moved
{% endif %}
{% endmacro %}

{% macro listed(items) %}
{% for each in items %}
  {{ each }}
.
{% endfor %}
{{ say.verdicts(items | length, "as listed") }}
{% endmacro %}
"""


@pytest.fixture
def messages(tmp_path: Path) -> Messages:
    """Return two messages."""
    path = tmp_path / "messages.txt.jinja"
    path.write_text(SOURCE)
    return Messages(path, shared_filters)


def test_a_line_of_tags_is_no_line(messages: Messages) -> None:
    """Tags alone leave no line, a backslash joins the next line, and the last line break is no part of a text."""
    assert messages.verdicts(0) == "no verdict moved"
    assert messages.verdicts(1, "at most") == "1 verdict moved, at most"
    assert messages.verdicts(2, "at most") == "2 verdicts moved, at most (several)"


def test_lines_of_a_macro(messages: Messages) -> None:
    """Empty lines are left out, a dot is an empty line, and macros call each other."""
    assert messages.lines("listed", ["a"]) == ["  a", "", "1 verdict moved, as listed"]
    assert messages.lines("listed", []) == ["no verdict moved"]


@pytest.mark.parametrize(
    "value", ["a\nb", "\n.\n", "\x1e", "\x1e1\x1e0\n", "{{ n }}\\\n b", Path("a\nb"), OSError("\x1e1")]
)
def test_a_value_stays_as_it_is(messages: Messages, value: object) -> None:
    """A line break within a value ends no line, and nothing of a value is read as a template."""
    assert messages.lines("listed", [value])[0] == f"  {value}"
    assert messages.verdicts(1, value) == f"1 verdict moved, {value}"


def test_a_missing_name_is_an_error(messages: Messages) -> None:
    """A macro that does not exist, and a value that is not given, are errors."""
    assert not hasattr(messages, "nothing")
    with pytest.raises(Exception, match="not provided"):
        messages.verdicts()


def sources_of(folder: Path) -> str:
    """Return the modules and the messages of a package."""
    files = [*folder.rglob("*.py"), *folder.rglob("messages.txt.jinja")]
    return "\n".join(path.read_text() for path in files)


@pytest.mark.parametrize("folder", TEMPLATES, ids=lambda path: path.name)
def test_every_macro_is_called_and_every_call_has_a_macro(folder: Path) -> None:
    """The names in the code and in the template are the same; each macro compiles."""
    macros = MACRO.findall((folder / "messages.txt.jinja").read_text())
    called = {one or other for one, other in CALLED.findall(sources_of(folder))}
    assert len(macros) == len({*macros})
    assert called == {*macros}


@pytest.mark.parametrize("module", [f"{folder.name}.messages" for folder in TEMPLATES] + ["swap.sentences"])
def test_every_macro_compiles(module: str) -> None:
    """No macro has an error of syntax or a filter that does not exist."""
    messages = importlib.import_module(f"judgefixtures.{module}").MESSAGES
    assert all(callable(getattr(messages, name)) for name in messages._sources)


def test_jinja_is_imported_with_the_first_message() -> None:
    """Importing the packages that have messages imports no jinja2."""
    code = "import sys, judgefixtures.report, judgefixtures.run.preflight; print('jinja2' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
