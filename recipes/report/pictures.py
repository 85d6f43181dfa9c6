"""Pages of results through a browser, as a reader uses them, and pictures of them for the docs.

    python pictures.py PICTURES WORK/evaluate WORK/votes ...

Each WORK/NAME.html is opened from disk in a Chromium without a window: a pair is played and
switched, a table sorted, the rows filtered, a point followed to its pair. What a page's script
complains of, or what does not come about, ends this with its sentence. PICTURES gets report.png
and report_pair.png of `evaluate`, where it is among them, and WORK a NAME.png of each.
Needs playwright.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import typer
from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1200, 860


def natural(name: str) -> list[tuple[int, str]]:
    """sys2 before sys10."""
    return [(int(x), "") if x.isdecimal() else (-1, x) for x in re.split(r"(\d+)", name)]


def used(page: Page, name: str) -> str:
    """What was done on a page; it is left with the view of a pair that plays."""
    for choice in page.locator(".choice").all():
        choice.click()
        page.wait_for_timeout(400)
        if page.is_enabled("#play"):
            break
        page.keyboard.press("Escape")
    page.click("#play")
    page.wait_for_timeout(500)
    first = float(page.input_value("#position"))
    page.keyboard.press("x")
    page.wait_for_selector("button.side[data-side=edited][aria-pressed=true]")
    page.wait_for_timeout(200)
    second = float(page.input_value("#position"))
    if not 0 < first < second:
        sys.exit(f"{name}: the clips stand still ({first} s, then {second} s)")
    page.keyboard.press("Escape")

    rows = page.locator("#list tbody tr").count()
    page.click("#list th button:text-is('id')")
    ids = page.locator("#list tbody button.open").all_inner_texts()
    page.fill("#search", ids[0])
    page.wait_for_timeout(200)
    left = page.locator("#list tbody tr").count()
    if ids != sorted(ids, key=natural) or not 0 < left < rows:
        sys.exit(f"{name}: {len(ids)} rows are not sorted, or {left} left of {rows}")
    page.click("#clear")
    page.wait_for_timeout(300)
    page.focus("canvas.scatter >> nth=0")
    page.keyboard.press("ArrowRight")
    named = page.inner_text(".point >> nth=0").rpartition(": ")[0]
    page.keyboard.press("Enter")
    if page.inner_text("#pair-id") != named:
        sys.exit(f"{name}: the point of {named} leads to {page.inner_text('#pair-id')}")
    page.keyboard.press("Escape")
    return f"{rows} rows listed, {left} found, played to {second:.1f} s, the point of {named}"


def photographed(page: Page, pictures: Path) -> None:
    """The head of the page with its plots, and a pair while it plays."""
    page.evaluate(
        "document.activeElement.blur(), document.querySelector('#plots').scrollIntoView()"
    )
    page.wait_for_timeout(200)
    page.screenshot(path=pictures / "report.png")
    page.click(".choice >> nth=0")
    page.wait_for_selector("#play:enabled")
    page.click("#play")
    page.wait_for_timeout(900)
    page.screenshot(path=pictures / "report_pair.png")


def main(pictures: Path, places: list[str]) -> None:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit("pictures.py: no Chromium on the path")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for place in places:
            name = Path(place).name
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            wrong: list[str] = []
            page.on("pageerror", lambda error, w=wrong: w.append(str(error)))
            page.on("console", lambda m, w=wrong: w.append(m.text) if m.type == "error" else None)
            page.goto(Path(f"{place}.html").absolute().as_uri())
            page.wait_for_selector("html[data-ready=true]")
            page.wait_for_timeout(300)
            page.screenshot(path=f"{place}.png", full_page=True)
            print(f"{name}: {used(page, name)}")
            if name == "evaluate":
                photographed(page, pictures)
            if wrong:
                sys.exit(f"{name}: {wrong[0]}")
            page.close()
        browser.close()


if __name__ == "__main__":
    typer.run(main)
