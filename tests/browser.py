"""A rater in Debian's Chromium: what a hand with a mouse, or on the keyboard, would do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 740}


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window; skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Without a sandbox as in a container's root; the pages are our own.
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Hand:
    """On one page; fails at once where the page's script does."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)

    def at(self, selector: str) -> bool:
        return bool(self.page.locator(selector).count())

    def begin(self, link: str) -> None:
        """Open the link and consent."""
        self.page.goto(link)
        if self.at("input[name=agree]"):
            self.page.check("input[name=agree]")
            self.sends()

    def sends(self) -> None:
        """The form of the page; waits for what comes of it."""
        with self.page.expect_navigation():
            self.page.click("button.primary")

    def ready(self) -> None:
        self.page.wait_for_selector("#play:enabled")

    def heard(self, side: str) -> None:
        self.page.wait_for_selector(f".heard[data-side={side}][data-heard=true]")

    def by_mouse(self, grades: tuple[int, int, int]) -> None:
        """Hear both clips, grade and send by clicks."""
        self.ready()
        self.page.click("#play")
        self.heard("original")
        self.page.wait_for_selector("#play:has-text('Play')")  # it has ended
        self.page.click("button.side[data-side=edited]")
        self.page.click("#play")
        self.heard("edited")
        for axis, grade in zip(("quality", "relevance", "faithfulness"), grades, strict=True):
            self.page.click(f"label.grade:has(input[name={axis}][value='{grade}'])")
        with self.page.expect_navigation():
            self.page.click("#send")

    def by_keyboard(self, grades: tuple[int, int, int]) -> None:
        """The same without a mouse."""
        self.ready()
        keys = self.page.keyboard
        keys.press(" ")
        self.heard("original")
        keys.press("b")
        self.page.wait_for_selector("button.side[data-side=edited][aria-pressed=true]")
        self.page.wait_for_selector("#play:has-text('Play')")  # it has ended
        keys.press(" ")
        self.heard("edited")
        for grade in grades:
            keys.press(str(grade))
        self.page.wait_for_selector("#send:enabled")
        with self.page.expect_navigation():
            keys.press("Control+Enter")

    def goes_on(self) -> None:
        """From an explanation, by the key for its button, which the page puts under the keys."""
        self.page.wait_for_selector("button.primary:focus")
        self.page.keyboard.press("Enter")
