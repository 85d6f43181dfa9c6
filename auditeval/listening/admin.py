"""The page of who runs a test: progress, links, agreement, raters, systems. Its link is its own."""

import hmac
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import RedirectResponse, Response

from auditeval.listening import overview
from auditeval.listening.page import page
from auditeval.listening.protection import check_seal, form, seal
from auditeval.listening.session import Refused, Session
from auditeval.report.render import printed
from auditeval.table import Table
from auditeval.types import AXES, Undefined

MOST_RATERS = 100
_LEFT, _WIDTH, _ROW = 170, 330, 30


def add_pages(app: FastAPI, test: Session, prefix: str) -> None:
    """The pages under /admin/TOKEN, for the token that the database keeps."""
    admin = test.database.fact("admin")
    made: dict[tuple[float, ...], overview.Overview] = {}  # the last one

    def allowed(token: str) -> str:
        if not hmac.compare_digest(token.encode(), admin.encode()):
            raise HTTPException(404)
        return token

    Allowed = Annotated[str, Depends(allowed)]

    @app.get("/admin/{token}")
    def now(token: Allowed) -> Response:
        # All that the tables are made of: who has finished, and tries of the headphone check, too.
        counted = (
            "SELECT (SELECT COUNT(*) FROM votes), COUNT(*), COUNT(finished), "
            "TOTAL(LENGTH(headphones)) FROM raters"
        )
        (key,) = test.database.rows(counted)
        if key not in made:
            made.clear()
            made[key] = overview.of(test.database, test.settings)
        return page(
            test,
            prefix,
            "admin.html",
            found=made[key],
            tables=[_plain(table) for table in made[key].tables],
            chart=_chart(made[key].ranking),
            raters=test.database.raters(),
            admin=token,
            seal=seal(test.secret, token),
            most=MOST_RATERS,
        )

    @app.post("/admin/{token}/raters")
    def add(token: Allowed, fields: Annotated[dict[str, str], Depends(form)]) -> Response:
        check_seal(fields, test.secret, token)
        count = fields.get("count", "")
        digits = count.isascii() and count.isdecimal() and len(count) <= len(str(MOST_RATERS))
        if not (digits and 1 <= int(count) <= MOST_RATERS):
            raise Refused(422, f"1 to {MOST_RATERS} raters at a time")
        test.database.add_raters(int(count))
        return RedirectResponse(f"{prefix}/admin/{token}", 303)


def _plain(table: Table) -> dict[str, Any]:
    """A table as texts, for a page."""
    rows = [
        [
            {"says": " ".join(printed(content, column)), "amount": not isinstance(content, str)}
            for content, column in zip(row, table.columns, strict=True)
        ]
        for row in table.rows
    ]
    amounts = [all(row[place]["amount"] for row in rows) for place in range(len(table.columns))]
    heads = [" ".join(filter(None, column.heading)) for column in table.columns]
    return {
        "title": table.title,
        "heads": list(zip(heads, amounts, strict=True)),
        "rows": rows,
        "notes": [*table.notes, *(f"–: {u.reason}." for u in table.undefined())],
    }


def _chart(ranking: overview.Ranking) -> dict[str, Any]:
    """Places in pixels of means and intervals, for one panel an axis."""
    panels = []
    for place, axis in enumerate(AXES):
        left = _LEFT + place * (_WIDTH + 30)

        def across(value: float, left: int = left) -> float:
            return round(left + (value - 1) / 4 * _WIDTH, 1)

        marks = []
        for row, (system, ranks) in enumerate(ranking.items()):
            if axis in ranks:
                mean, interval, _ = ranks[axis]
                ends = (mean, mean) if isinstance(interval, Undefined) else interval
                low, high = map(across, ends)
                y = 46 + row * _ROW
                shown = f"{system}: {mean:.2f}"
                marks.append({"y": y, "x": across(mean), "low": low, "high": high, "says": shown})
        ticks = [{"x": across(grade), "grade": grade} for grade in range(1, 6)]
        panels.append({"axis": axis, "left": left, "marks": marks, "ticks": ticks})
    names = [{"name": system, "y": 46 + row * _ROW} for row, system in enumerate(ranking)]
    height = 46 + _ROW * len(ranking)
    return {
        "panels": panels,
        "names": names,
        "height": height,
        "width": _LEFT + 3 * (_WIDTH + 30),
    }
