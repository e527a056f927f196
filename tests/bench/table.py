"""The Markdown table of a run, put into docs/performance.md between its two marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- made by `make bench DOCS=1` -->", "<!-- end -->"


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(facts: dict[str, Any]) -> str:
    """Where it was measured, and a row per figure."""
    lines = [
        f"Measured {facts['when']} at {facts['commit']}: {facts['cores']} shared cores, load "
        f"{facts['load_before']:.1f} before and {facts['load_after']:.1f} after, Python "
        f"{facts['python']}, jupyter_server {facts['jupyter_server']}, tornado {facts['tornado']}, "
        f"SQLite {facts['sqlite']}.",
        "",
        "| what | goal | ours | floor of the same run | ratio | n | peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in facts["rows"]:
        ratio = row.get("ratio")
        cells = [
            row["name"],
            row.get("goal", ""),
            f"**{number(row['ours'])}** {row['unit']}".strip(),
            number(row.get("floor")),
            "" if ratio is None else f"{ratio:.2g}",
            str(row["n"]),
            row.get("peer", ""),
        ]
        if row.get("note"):
            cells[3] = f"{cells[3]} ({row['note']})".strip()
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines)


def put(facts: dict[str, Any], document: Path = DOCUMENT) -> None:
    """Replace the table of the document. Raises ValueError when its marks are gone."""
    text = document.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document} has lost the marks of its table")
    document.write_text(f"{before}{BEGIN}\n{table(facts)}\n{END}{after}", "utf-8")
