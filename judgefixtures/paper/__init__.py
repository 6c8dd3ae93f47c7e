"""The paper's tables and figure from recordings: `python -m judgefixtures paper`, `make paper`.

measured: the paper's contrasts of some judges, each beside what was published of it. tables: those as Markdown.
figure: Figure 1, by matplotlib, which is imported nowhere else. written: both as files. Numbers are what checks and
metrics make of recordings; what was published is judgefixtures.material.published.
"""

from judgefixtures.paper.measured import Cell, Paper, measure_paper, open_run
from judgefixtures.paper.written import Written, write_paper

__all__ = ["Cell", "Paper", "Written", "measure_paper", "open_run", "write_paper"]
