"""Simulated raters in real browsers: they press the keys that a person would press.

    python raters.py WORK SERVED PICTURES

SERVED is what `auditeval listen` printed: each rater's link, and the admin's. A rater grades as
WORK/panel.json says, with an error of an own, and known answers rightly: which pair a page shows
they look up in WORK/votes.db, in place of ears. PICTURES is a folder for pictures of a trial and
of the admin page. Needs playwright, and a Chromium on the path.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import typer
from playwright.async_api import Browser, Page, async_playwright

from auditeval.listening import design, headphones, votes_database
from auditeval.listening.votes_database import VotesDatabase
from auditeval.types import AXES

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Rater:
    """One person in a window of their own."""

    def __init__(self, page: Page, database: VotesDatabase, panel: dict[str, Any], number: int):
        self.page, self.database, self.panel, self.number = page, database, panel, number
        self.rng = np.random.default_rng(number)

    async def run(self, link: str, picture: Path | None) -> int:
        """From the consent to the thanks; how many votes that were."""
        page, votes = self.page, 0
        await page.goto(link)
        while True:
            if await page.locator("input[name=agree]").count():
                await page.check("input[name=agree]")
                await self.go_on()
            elif await page.locator("fieldset.tones").count():
                await self.answer_tones()
            elif await page.locator("#trial").count():
                await self.vote(picture if votes == 6 else None)
                votes += 1
            elif await page.locator("button.primary").count():
                await self.go_on()  # from an explanation, a break
            else:
                return votes

    async def answer_tones(self) -> None:
        check = headphones.of_json(self.database.raters()[self.number].headphones)
        assert check is not None
        for question, order in enumerate(check.orders):
            await self.page.check(f"input[name=answer{question}][value='{order[1]}']")
        await self.go_on()

    async def go_on(self) -> None:
        """To the next page: one that is just being left looks like the end."""
        async with self.page.expect_navigation():
            await self.page.click("button.primary")

    async def vote(self, picture: Path | None) -> None:
        page, keys = self.page, self.page.keyboard
        await page.wait_for_selector("#play:enabled")
        await keys.press(" ")
        await page.wait_for_selector(".heard[data-side=original][data-heard=true]")
        await page.wait_for_selector("#play:has-text('Play')")  # it has ended
        await keys.press("b")
        await keys.press(" ")
        await page.wait_for_selector(".heard[data-side=edited][data-heard=true]")
        for grade in self.grades(str(await page.get_attribute("#trial", "data-about"))):
            await keys.press(str(grade))
        await page.wait_for_selector("#send:enabled")
        if picture is not None:
            await page.locator("#position").fill("0.9")
            await page.screenshot(path=picture, full_page=True)
        async with page.expect_navigation():
            await keys.press("Control+Enter")

    def grades(self, about: str) -> list[int]:
        rater = self.database.raters()[self.number]
        trial = self.database.trial(rater, json.loads(about)["trial"])
        assert trial is not None
        true = self.panel[self.database.pairs[trial.pair].id] | design.FORMS[trial.form]
        own = [true[axis] + self.rng.normal(0, 0.35) for axis in AXES]
        return [int(np.clip(np.rint(grade), 1, 5)) for grade in own]


async def rate(work: Path, served: Path, pictures: Path) -> None:
    links = dict(re.findall(r"^(r\d+|you)  (\S+)$", served.read_text(), re.M))
    admin = links.pop("you")
    panel = json.loads((work / "panel.json").read_text())
    database = votes_database.opened(work / "votes.db", reading=True)
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    async with async_playwright() as driver:
        browser: Browser = await driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        raters = []
        for number, link in enumerate(links.values()):
            window = await browser.new_context(viewport={"width": 1180, "height": 860})
            rater = Rater(await window.new_page(), database, panel, number)
            raters.append(rater.run(link, pictures / "trial.png" if number == 0 else None))
        print("votes:", *await asyncio.gather(*raters))
        page = await browser.new_page(viewport={"width": 1180, "height": 860})
        await page.goto(admin)
        await page.evaluate("document.querySelector('main').lastElementChild.remove()")  # the links
        await page.screenshot(path=pictures / "admin.png", full_page=True)
        await browser.close()


def main(work: Path, served: Path, pictures: Path) -> None:
    asyncio.run(rate(work, served, pictures))


if __name__ == "__main__":
    typer.run(main)
