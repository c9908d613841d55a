"""Tables as Markdown, LaTeX (booktabs), CSV and HTML that needs no other file."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from benchmarks.leaderboard import safe_text
from benchmarks.rows import number
from benchmarks.table_data import DAGGER, Cell, Line, TableData

Format: TypeAlias = Literal["md", "latex", "csv", "html"]

_LATEX = str.maketrans(
    {
        **{char: "\\" + char for char in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "–": "--",
        "−": "$-$",
        "×": r"$\times$",
        DAGGER: r"\textsuperscript{\textdagger}",
    }
)
_LEADING_ZERO = re.compile(r"(?<!\d)0(?=\.)")
_STYLE = """
:root { color-scheme: light dark; --line: #8888; --dim: #6b6b6b; }
@media (prefers-color-scheme: dark) { :root { --dim: #a5a5a5; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem; }
figure { margin: 0 0 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; border-bottom: 1.5px solid; border-top: 1.5px solid; }
caption { caption-side: top; text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .25rem .6rem; text-align: right; vertical-align: top; white-space: nowrap; }
td { font-variant-numeric: tabular-nums; }
th { font-weight: 500; }
th.text { text-align: left; }
thead th { border-bottom: 1px solid; vertical-align: bottom; }
tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); }
td small { color: var(--dim); display: block; font-size: .78em; line-height: 1; }
tr.exact > *, tr.oracle > *, tr.reported > * { font-style: italic; }
figcaption { color: var(--dim); font-size: .85em; max-width: 60rem; margin-top: .4rem; }
"""


def render(tables: Sequence[TableData], form: Format) -> str:
    """Writes tables.

    Args:
        tables: The tables.
        form: The format.

    Returns:
        The text, with a line end.
    """
    if form == "html":
        return _page(tables)
    return "\n".join(map(_WRITERS[form], tables))


def cell_text(cell: Cell) -> tuple[str, str]:
    """Writes a cell: the value, and the interval in brackets; empty if there is none.

    Rates and scores have three digits; from 100 on, one.

    >>> from benchmarks.statistics import Estimate
    >>> cell_text(Cell(Estimate(0.25, 0.2, 0.301, 9), signed=True)), cell_text(Cell())
    (('+0.250', '[0.200, 0.301]'), ('', ''))
    """
    value, low, high = cell.estimate[:3]
    if value is None:
        return "", ""
    digits = 3 if abs(value) < 100 else 1
    shown = f"{value + 0.0:{'+' if cell.signed else ''}.{digits}f}" + ("!" if cell.incomplete else "")
    return shown, "" if low is None or high is None else f"[{low + 0.0:.{digits}f}, {high + 0.0:.{digits}f}]"


def _markdown(table: TableData) -> str:
    heads = [*table.head, *table.columns]
    lines = [_pipes(map(_markdown_text, heads)), _pipes([":--"] * len(table.head) + ["--:"] * len(table.columns))]
    for line in (line for block in table.blocks for line in block):
        cells = [_markdown_cell(cell) for cell in line.cells]
        lines.append(_pipes([*map(_markdown_text, line.head), *cells]))
    notes = [_markdown_text(note) for note in table.notes]
    return "\n".join([f"**{_markdown_text(table.title)}**", "", *lines, "", "  \n".join(notes), ""])


def _pipes(cells: Sequence[str] | map[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    value, interval = cell_text(cell)
    return f"{f'**{value}**' if cell.best else value} {interval}".strip()


def _markdown_text(text: str) -> str:
    escaped = "".join("\\" + char if char in "\\`*_[]<>|#" else char for char in text)
    return " ".join(escaped.split())  # A line end would end the table.


def _latex(table: TableData) -> str:
    lines = [
        r"% needs \usepackage{booktabs}, \usepackage{graphicx} and \usepackage[T1]{fontenc}",
        r"\begin{table*}[t]",
        r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"  \caption{{{_latex_text(table.title)}}}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{@{{}}{'l' * len(table.head)}{'r' * len(table.columns)}@{{}}}}",
        r"    \toprule",
        "    " + _ampersands([*map(_latex_text, table.head), *map(_latex_text, table.columns)]),
        r"    \midrule",
    ]
    for k, block in enumerate(table.blocks):
        lines += [r"    \midrule"] if k else []
        lines += ["    " + _ampersands([*map(_latex_text, line.head), *map(_latex_cell, line.cells)]) for line in block]
    lines += [r"    \bottomrule", r"  \end{tabular}}"]
    notes = " ".join(map(_latex_text, table.notes))
    lines += [r"  \par\smallskip", rf"  \parbox{{\linewidth}}{{\scriptsize {notes}}}", r"\end{table*}", ""]
    return "\n".join(lines)


def _ampersands(cells: Sequence[str]) -> str:
    row = " & ".join(cells) + r" \\"
    return "{}" + row if row.startswith(("[", "*")) else row  # The \\ before it would take them for its options.


def _latex_cell(cell: Cell) -> str:
    value, interval = cell_text(cell)
    value, interval = (_LEADING_ZERO.sub("", text).replace("-", "$-$") for text in (value, interval))
    shown = value.replace("+", "$+$")
    shown = rf"\textbf{{{shown}}}" if cell.best else shown
    return f"{shown} {{\\scriptsize {interval}}}" if interval else shown


def _latex_text(text: str) -> str:
    return " ".join(text.split()).translate(_LATEX)


def _csv(table: TableData) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ends = [f"{name}{end}" for name in table.columns for end in ("", " low", " high")]
    writer.writerow([safe_text(name) for name in (*table.head, "status", *ends)])
    for line in (line for block in table.blocks for line in block):
        numbers = [number(x) for cell in line.cells for x in cell.estimate[:3]]
        incomplete = any(cell.incomplete for cell in line.cells)
        status = f"{line.status}, incomplete" if incomplete else line.status
        writer.writerow([*map(safe_text, line.head), status, *numbers])
    return text.getvalue()


def _page(tables: Sequence[TableData]) -> str:
    title = html.escape(tables[0].title.split(":")[0] if tables else "MAGE")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{''.join(map(_html, tables))}</body>\n</html>\n"
    )


def _html(table: TableData) -> str:
    heads = "".join(f'<th scope="col" class="text">{html.escape(name)}</th>' for name in table.head)
    heads += "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.columns)
    blocks = "".join(f"<tbody>\n{''.join(map(_html_line, block))}</tbody>\n" for block in table.blocks)
    notes = "<br>".join(map(html.escape, table.notes))
    return (
        f'<figure>\n<div class="wide"><table>\n<caption>{html.escape(table.title)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n{blocks}</table></div>\n<figcaption>{notes}</figcaption>\n</figure>\n"
    )


def _html_line(line: Line) -> str:
    cells = [f'<th scope="row" class="text">{html.escape(text)}</th>' for text in line.head]
    for cell in line.cells:
        value, interval = cell_text(cell)
        shown = f"<b>{value}</b>" if cell.best else value
        cells.append(f"<td>{shown}{f' <small>{interval}</small>' if interval else ''}</td>")
    return f'<tr class="{line.status}">{"".join(cells)}</tr>\n'


_WRITERS: Mapping[str, Callable[[TableData], str]] = MappingProxyType({"md": _markdown, "latex": _latex, "csv": _csv})
