"""Pages in a browser, from disk: heard, sorted, filtered, followed; hostile words stay words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import DESK, PHONE, Hand, chromium

pytest.importorskip("fastapi", reason="the extra [web] is not installed")
from written_results import (
    HOSTILE,
    SHOWN,
    written_benchmark,
    written_evaluation,
    written_filter,
    written_run,
    written_scores,
    written_votes,
)

from auditeval import pages
from auditeval.audio import files
from auditeval.audio.waveform import quantised

KINDS = {
    "scores": lambda folder: written_scores(folder),
    "evaluate": lambda folder: (written_evaluation(folder), None),
    "filter": lambda folder: (written_filter(folder), None),
    "bench": lambda folder: (written_benchmark(folder), None),
    "train": lambda folder: (written_run(folder), None),
    "votes": lambda folder: (written_votes(folder), None),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The page of a kind of result; each is made once."""
    known: dict[tuple[str, str], Path] = {}

    def page(kind: str, mode: Any = "embed") -> Path:
        if (kind, mode) not in known:
            folder = tmp_path_factory.mktemp(kind)
            if kind == "hostile":
                what, manifest = written_scores(folder, hostile=True)
            else:
                what, manifest = KINDS[kind](folder)
            known[kind, mode] = folder / f"{kind}.html"
            pages.write(pages.read([what], manifest), mode, known[kind, mode])
        return known[kind, mode]

    return page


def opened(browser: Any, path: Path, width: dict[str, int] = DESK, **options: Any) -> Hand:
    """A hand on the page, when all of it is there."""
    hand = Hand(browser.new_context(viewport=width, **options).new_page())
    hand.page.goto(path.as_uri())
    hand.page.wait_for_selector("html[data-ready=true]")
    return hand


def until(page: Any, holds: str) -> None:
    """Wait until an expression is true; playwright's own way needs a policy that allows eval."""
    for _ in range(100):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {holds}")


def ids(hand: Hand) -> list[str]:
    return hand.page.locator("#list tbody button.open").all_inner_texts()


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_heard_sorted_filtered_and_followed(
    browser: Any, written: Any, kind: str
) -> None:
    hand = opened(browser, written(kind))
    page = hand.page
    page.click(".choice:not(:has-text('pair5')) >> nth=0")
    page.wait_for_selector("#play:enabled")
    page.click("#play")
    until(page, "document.querySelector('#position').value > 0.1")
    page.keyboard.press("x")
    page.wait_for_selector("button.side[data-side=edited][aria-pressed=true]")
    assert page.locator("#play").inner_text() == "Pause"  # a switch goes on where it is
    page.keyboard.press("Escape")
    assert not page.is_visible("#pair")

    heads = page.locator("table.sortable >> nth=0 >> thead th button")
    column = heads.count() - 1
    shown = page.locator(f"table.sortable >> nth=0 >> tbody tr > :nth-child({column + 1})")
    heads.nth(column).click()
    values = [x.get_attribute("data-value") for x in shown.all()]
    numbers = [float(x) for x in values if x and x.replace(".", "").lstrip("-").isdigit()]
    assert numbers == sorted(numbers)

    before = ids(hand)
    page.click("#list th button:text-is('id')")
    assert ids(hand) == sorted(before)
    page.click("#list th button:text-is('id')")
    assert ids(hand) == sorted(before, reverse=True)
    wanted = before[0]
    page.fill("#search", wanted.upper())
    assert set(ids(hand)) == {wanted}
    assert f"of {len(before)} rows" in page.inner_text("#count")
    page.click("#clear")
    until(page, f"document.querySelectorAll('#list tbody tr').length == {len(before)}")

    page.mouse.move(0, 0)  # a pointer that rests on the plot points as well
    page.focus("canvas.scatter >> nth=0")
    page.keyboard.press("ArrowRight")
    named = page.inner_text(".point >> nth=0").split(": ")[0]
    page.keyboard.press("Enter")
    assert page.inner_text("#pair-id") == named
    page.keyboard.press("Escape")
    point = page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas.scatter");
          const box = canvas.getBoundingClientRect();
          const move = (x, y) =>
            canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y }));
          for (let y = 0; y < canvas.clientHeight; y += 3) for (let x = 0; x < canvas.clientWidth; x += 3) {
            move(x, y);
            if (canvas.style.cursor !== "pointer") continue;
            move(x, y + 9);  // at the rim of what a point reaches, a part of a pixel decides
            return [x, y + 9];
          }
        }"""  # noqa: E501
    )
    named = page.inner_text(".point >> nth=0").split(": ")[0]
    page.click("canvas.scatter >> nth=0", position={"x": point[0], "y": point[1]})
    assert page.inner_text("#pair-id") == named
    assert hand.wrong == []
    page.context.close()


def test_losses_fall_from_left_to_right(browser: Any, written: Any) -> None:
    hand = opened(browser, written("train"))
    figure = hand.page.locator("#losses figure")
    assert figure.locator("figcaption").all_inner_texts() == ["quality"]
    assert figure.locator(".key").all_inner_texts() == ["heads, training", "heads, validation"]
    points = figure.locator("polyline.training").get_attribute("points").split()
    across, down = zip(*(map(float, point.split(",")) for point in points), strict=True)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1])
    # 4, 2, 1: each half of the one before, so as far below it as that is below its own
    assert down[1] - down[0] == pytest.approx(down[2] - down[1], abs=0.2)
    assert down[0] < down[1]
    hand.page.context.close()


def test_paper_is_light_and_shows_all_tables(browser: Any, written: Any) -> None:
    look = """() => [
      getComputedStyle(document.body).color,
      document.querySelector("canvas.scatter").getContext("2d").strokeStyle,
      document.querySelectorAll("details:not([open])").length,
    ]"""
    looks = {}
    for scheme in ("light", "dark"):
        page = opened(browser, written("votes"), color_scheme=scheme).page
        until(page, "document.querySelectorAll('svg.boxes').length > 0")  # what it draws at last
        looks[scheme] = page.evaluate(look)
    light, dark = looks.values()
    page.evaluate(f"window.addEventListener('beforeprint', () => (window.printed = ({look})()))")
    page.pdf()
    printed = page.evaluate("window.printed")
    assert dark[0] != light[0] == printed[0]
    assert dark[1] != light[1] == printed[1]
    assert dark[2] == light[2] > printed[2] == 0
    assert page.evaluate(look) == dark


@pytest.mark.parametrize("kind", ["hostile", "bench", "votes", "train"])
def test_hostile_words_are_shown_as_words(browser: Any, written: Any, kind: str) -> None:
    hand = opened(browser, written(kind))
    page = hand.page
    page.fill("#search", SHOWN)
    page.wait_for_timeout(50)
    first = "#list tbody tr >> nth=0 >> button.open"
    if kind == "train":  # of a remark, not of a row
        assert SHOWN in page.inner_text("body")
    else:
        page.click(first)
        assert SHOWN in page.inner_text("#pair")
        page.keyboard.press("Escape")
    whole = page.content()
    assert HOSTILE not in whole
    assert "\u202e" not in whole
    assert "49" not in page.inner_text("h1")
    assert page.title() != "x"
    assert page.locator("img, body script:not([type])").count() == 0
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert hand.wrong == []
    page.context.close()


def test_a_page_can_ask_nobody_for_anything(browser: Any, written: Any) -> None:
    hand = opened(browser, written("scores"))
    refused = hand.page.evaluate(
        """async () => {
          const seen = [];
          document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
          await fetch("http://127.0.0.1:9/").catch(() => {});
          const elements = { img: "src", script: "src", iframe: "src", audio: "src", link: "href", object: "data" };
          for (const [tag, name] of Object.entries(elements)) {
            const element = document.createElement(tag);
            if (tag === "link") element.rel = "stylesheet";
            element[name] = "http://127.0.0.1:9/x";
            document.body.append(element);
          }
          const inline = document.createElement("script");
          inline.textContent = "document.title = 'x'";
          document.body.append(inline);
          await new Promise((done) => setTimeout(done, 300));
          return seen;
        }"""  # noqa: E501
    )
    directives = {"connect-src", "img-src", "script-src-elem", "media-src", "style-src-elem"}
    assert directives | {"frame-src", "object-src"} <= set(refused)
    assert hand.page.title() == "scores"
    hand.page.context.close()


def test_what_is_missing_is_shown_as_that(browser: Any, written: Any) -> None:
    hand = opened(browser, written("scores"))
    page = hand.page
    assert "1 of 6 rows are errors" in page.inner_text("header")
    cells = page.locator("#list tbody tr >> nth=4 >> td").all_inner_texts()
    assert cells[3] == "–"
    assert "error" in cells
    page.click("#list button.open >> nth=4")
    assert "script" in page.inner_text("#pair-facts")
    page.keyboard.press("Escape")
    page.click(".choice:has-text('pair5') >> nth=0")
    said = page.inner_text("#loading")
    assert said.startswith("No sound: ")
    assert "edited-5.wav" in said
    assert page.is_disabled("#play")
    page.context.close()


@pytest.mark.parametrize("mode", ["copy", "link"])
def test_clips_beside_the_page_are_heard_from_disk(browser: Any, written: Any, mode: str) -> None:
    hand = opened(browser, written("hostile", mode))
    page = hand.page
    page.click(".choice >> nth=0")
    until(page, "document.querySelector('#time').textContent.endsWith('/ 2.0 s')")
    page.click("#play")
    until(page, "document.querySelector('#position').value > 0.05")
    page.keyboard.press("b")
    page.wait_for_selector("button.side[data-side=edited][aria-pressed=true]")
    drawn = page.evaluate(
        "() => { const c = document.querySelector('.sound-picture'); "
        "return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size }"
    )
    assert drawn > 20
    assert hand.wrong == []
    page.context.close()


def test_what_is_decoded_late_is_not_heard_beside_another_pair(
    browser: Any, tmp_path: Path
) -> None:
    what, manifest = written_scores(tmp_path)
    for side in ("original", "edited"):  # a minute takes long to decode
        noise = np.random.default_rng(1).uniform(-0.3, 0.3, 60 * 48_000)
        files.write(tmp_path / "clips" / f"{side}-0.wav", quantised(noise), 48_000)
    pages.write(pages.read([what], manifest, most=9), "embed", tmp_path / "a.html")
    hand = opened(browser, tmp_path / "a.html")
    hand.page.evaluate(
        "() => { const buttons = [...document.querySelectorAll('#list tbody button.open')];"
        "buttons.find((button) => button.textContent === 'pair0').click();"
        "document.querySelector('#pair-next').click(); }"
    )
    until(hand.page, "document.querySelector('#time').textContent.endsWith('/ 2.0 s')")
    hand.page.wait_for_timeout(1500)
    assert hand.page.inner_text("#time").endswith("/ 2.0 s")
    assert hand.wrong == []
    hand.page.context.close()


def test_a_linked_clip_without_a_picture_says_why(browser: Any, tmp_path: Path) -> None:
    what, manifest = written_scores(tmp_path)
    pages.write(pages.read([what], manifest, most=0), "link", tmp_path / "a.html")
    hand = opened(browser, tmp_path / "a.html")
    hand.page.click("#list button.open >> nth=0")
    hand.page.wait_for_selector("#play:enabled")
    assert hand.page.inner_text("#loading").startswith("No spectrograms: ")
    hand.page.context.close()


@pytest.mark.parametrize(("kind", "width"), [("scores", DESK), ("scores", PHONE), ("votes", PHONE)])
def test_pages_are_for_everybody(
    browser: Any, written: Any, kind: str, width: dict[str, int]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    scheme = "light" if width is DESK else "dark"
    hand = opened(browser, written(kind), width, bypass_csp=True, color_scheme=scheme)

    def check() -> None:
        found = axe.run(hand.page).response["violations"]
        serious = [
            f"{v['id']}: {v['help']}: {v['nodes'][0]['html']}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
        assert serious == []
        assert hand.page.evaluate("document.documentElement.scrollWidth") <= width["width"]

    check()
    hand.page.click(".choice >> nth=0")
    hand.page.wait_for_selector("#play:enabled")
    check()
    hand.page.context.close()
