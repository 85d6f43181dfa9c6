"""Raters in a real browser: heard, graded by mouse and by keyboard, sent, come back, finished."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import DESK, PHONE, Hand, chromium
from commands import row_of, write_rows
from listening_tests import pairs
from remote_raters import Server
from test_killed import free_port

from auditeval.listening import votes_database

DESIGN = """
title: Barks in the rain
raters_per_pair: 6
block: 2
repeat_share: 0
attention_share: 0
"""


class Site:
    """A running test, and pages of one browser on it."""

    def __init__(self, folder: Path, browser: Any) -> None:
        rain = "Rain_against_the_window_of_a_kitchen_48kHz.wav"  # wider than a phone
        words = {
            "instruction": "Add a dog <b>barking</b>.",
            "original_caption": f"{rain}.",
            "target_caption": f"{rain}, with a dog barking.",
        }
        given = pairs(folder, 3, seconds=0.4, **words)
        manifest = write_rows(folder / "pairs.jsonl", [row_of(pair) for pair in given])
        design = folder / "design.yaml"
        design.write_text(DESIGN)
        self.votes = folder / "votes.db"
        self.server = Server(manifest, self.votes, design, 6, free_port()).start()
        self.browser = browser

    def hand(self, width: dict[str, int] = DESK, **options: Any) -> Hand:
        """A device of its own."""
        return Hand(self.browser.new_context(viewport=width, **options).new_page())

    def grades(self, rater: int) -> list[tuple[float, ...]]:
        """Of practice and of rated pairs, in their order."""
        database = votes_database.opened(self.votes, reading=True)
        votes = database.votes(database.raters()[rater])
        return [tuple(votes[number].grades.values()) for number in sorted(votes)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with chromium() as browser:
        made = Site(tmp_path_factory.mktemp("site"), browser)
        yield made
        made.server.stop(signal.SIGINT)


def check_headphones(hand: Hand, site: Site, rater: int) -> None:
    """Answer as ears behind headphones do: by what the server knows."""
    from auditeval.listening import headphones

    database = votes_database.opened(site.votes, reading=True)
    check = headphones.of_json(database.raters()[rater].headphones)
    assert check is not None
    for number, order in enumerate(check.orders):
        hand.page.check(f"input[name=answer{number}][value='{order[1]}']")
    hand.sends()


def test_a_rater_hears_grades_comes_back_and_finishes(site: Site) -> None:
    link = site.server.links[0]
    hand = site.hand()
    hand.begin(link)
    with hand.page.expect_response("**/tones/*") as tones:
        hand.page.click("fieldset.tones button >> nth=0")
    assert tones.value.status in (200, 206)
    for number in range(6):
        hand.page.check(f"input[name=answer{number}][value='0']")  # two of six
    hand.sends()
    assert hand.at("[role=alert]")
    check_headphones(hand, site, 0)

    hand.by_mouse((5, 5, 5))
    assert "both recordings are the same" in hand.page.inner_text("main")
    hand.sends()
    hand.by_keyboard((1, 1, 1))
    hand.goes_on()
    hand.by_keyboard((5, 1, 5))
    hand.goes_on()

    hand.ready()
    assert hand.page.locator("mark.new").all_inner_texts() == ["with a dog barking"]
    assert "<b>barking</b>" in hand.page.inner_text(".instruction")
    assert hand.page.is_disabled("#send")
    hand.by_mouse((4, 3, 2))

    # On another device, from the same link, at the same place; a break, then the rest.
    assert hand.wrong == []
    hand.page.context.close()
    hand = site.hand()
    hand.page.goto(link)
    hand.by_keyboard((2, 3, 4))
    assert "break" in hand.page.inner_text("h1")
    hand.sends()
    hand.by_mouse((3, 3, 3))
    assert "Thank you" in hand.page.inner_text("h1")
    hand.page.go_back()
    assert "Thank you" in hand.page.inner_text("h1")
    assert hand.wrong == []
    assert site.grades(0) == [(5, 5, 5), (1, 1, 1), (5, 1, 5), (4, 3, 2), (2, 3, 4), (3, 3, 3)]


@pytest.fixture
def at_trial(site: Site) -> Iterator[Hand]:
    """A page at a practice trial of the second rater, who never sends it."""
    hand = site.hand()
    hand.begin(site.server.links[1])
    if hand.at("fieldset.tones"):
        check_headphones(hand, site, 1)
    hand.ready()
    yield hand
    assert hand.wrong == []
    hand.page.context.close()


def test_half_a_clip_is_not_heard(at_trial: Hand) -> None:
    page = at_trial.page
    page.evaluate("document.querySelector('#position').focus()")
    page.locator("#position").fill("0.25")
    page.click("#play")
    page.wait_for_selector("#play:has-text('Play')")
    assert page.locator(".heard[data-heard=true]").count() == 0
    page.keyboard.press("Control+Enter")
    assert page.is_disabled("#send")


def test_a_stretch_repeats_until_it_is_let_go(at_trial: Hand) -> None:
    page = at_trial.page
    page.locator("#position").fill("0.10")
    page.keyboard.press("[")
    page.locator("#position").fill("0.20")
    page.keyboard.press("]")
    assert page.get_attribute("#loop", "aria-pressed") == "true"
    page.click("#play")
    page.wait_for_timeout(600)  # three times the stretch, longer than the clip
    assert 0.09 <= float(page.input_value("#position")) <= 0.21
    assert page.inner_text("#play") == "Pause"
    page.keyboard.press("x")
    page.wait_for_selector("button.side[data-side=edited][aria-pressed=true]")
    page.click("#loop-clear")
    page.wait_for_selector("#play:has-text('Play')")


def test_who_cannot_judge_says_why(site: Site) -> None:
    hand = site.hand()
    hand.begin(site.server.links[2])
    check_headphones(hand, site, 2)
    hand.ready()
    hand.page.check("#cannot-judge")
    hand.page.select_option("select[name=cannot]", "disturbed")
    with hand.page.expect_navigation():
        hand.page.click("#send")
    assert hand.wrong == []
    database = votes_database.opened(site.votes, reading=True)
    (vote,) = database.votes(database.raters()[2]).values()
    assert (vote.cannot, vote.grades) == ("disturbed", {})


def test_a_vote_waits_where_the_server_is_gone(site: Site) -> None:
    hand = site.hand()
    hand.begin(site.server.links[3])
    check_headphones(hand, site, 3)
    hand.ready()
    hand.page.check("#cannot-judge")
    site.server.stop(signal.SIGKILL)
    hand.page.click("#send")
    hand.page.wait_for_selector("#state.wrong")
    site.server.start()
    hand.page.wait_for_selector("text=What we expected", timeout=20_000)


@pytest.mark.parametrize("width", [DESK, PHONE], ids=["desk", "phone"])
def test_pages_are_for_everybody(site: Site, width: dict[str, int]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    rater = 4 if width is DESK else 5
    hand = site.hand(width, bypass_csp=True)  # axe comes as a script of its own

    def check() -> None:
        found = axe.run(hand.page).response["violations"]
        serious = [
            f"{v['id']}: {v['help']}" for v in found if v["impact"] in ("serious", "critical")
        ]
        assert serious == []
        wide = hand.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width["width"]

    hand.page.goto(site.server.links[rater])
    check()
    hand.begin(site.server.links[rater])
    check()
    check_headphones(hand, site, rater)
    hand.ready()
    check()
    hand.page.goto(site.server.admin)
    check()
    hand.page.context.close()


def test_links_are_whole_whenever_they_are_copied(site: Site) -> None:
    hand = site.hand()
    hand.page.clock.install()
    hand.page.goto(site.server.admin)
    assert hand.page.locator(".link").all_inner_texts() == site.server.links
    hand.page.evaluate("document.querySelector('h1').textContent = 'Before'")
    hand.page.clock.run_for(11_000)  # the page renews itself
    hand.page.wait_for_selector("h1:has-text('How it stands')")
    assert hand.page.locator(".link").all_inner_texts() == site.server.links
    hand.page.context.close()


def test_a_page_loads_nothing_from_elsewhere(site: Site, at_trial: Hand) -> None:
    asked: list[str] = []
    at_trial.page.on("request", lambda request: asked.append(request.url))
    at_trial.page.reload()
    at_trial.ready()
    own = site.server.admin.split("/admin")[0]
    assert len(asked) >= 6
    assert [url for url in asked if not url.startswith(own)] == []
