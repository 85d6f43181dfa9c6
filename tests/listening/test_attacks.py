"""A hostile client: what it sends is refused, and what it may see tells it nothing."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from listening_tests import HOST, RaterClient, pairs, seal_of, session

from auditeval.listening.protection import seal
from auditeval.listening.session import Session
from auditeval.types import AXES

GRADES = dict.fromkeys(AXES, "3")


# Tokens


@pytest.mark.parametrize("token", ["a", "r01", "1", "' OR '1'='1", "%00", "a" * 5000, "€", "%ff"])
def test_a_guessed_link_leads_nowhere(rater: RaterClient, token: str) -> None:
    answer = rater.http.get(f"/r/{token}")
    assert answer.status_code == 404
    assert token not in answer.text or token in ("a", "1")


def test_links_hold_more_than_anybody_can_guess(listening: Session) -> None:
    tokens = [rater.token for rater in listening.database.add_raters(50)]
    assert len(set(tokens)) == 50
    assert min(map(len, tokens)) >= 32  # 24 bytes of 6 bits a letter


def test_a_rater_is_no_admin_and_an_admin_no_rater(listening: Session, rater: RaterClient) -> None:
    admin = listening.database.fact("admin")
    assert rater.http.get(f"/admin/{admin}").status_code == 200
    assert rater.http.get(f"/admin/{rater.rater.token}").status_code == 404
    assert rater.http.get(f"/r/{admin}").status_code == 404
    assert rater.http.get("/admin/").status_code == rater.http.get("/admin").status_code == 404
    assert rater.http.get("/").status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/static/", "/static"])
def test_the_framework_shows_nothing_of_itself(rater: RaterClient, path: str) -> None:
    assert rater.http.get(path).status_code == 404


# Clips


def test_clips_of_another_rater_are_not_served(rater: RaterClient, other: RaterClient) -> None:
    clips = rater.trial()["clips"].values()
    other.trial()
    for clip in clips:
        name = clip.rsplit("/", 1)[1]
        assert rater.http.get(clip).status_code == 200
        assert rater.http.get(f"{other.base}/clip/{name}").status_code == 404


def test_clips_of_a_later_trial_are_not_served(listening: Session, rater: RaterClient) -> None:
    rater.trial()
    first, later = listening.database.trials(rater.rater)[:2]
    assert rater.http.get(f"{rater.base}/clip/{first.original}").status_code == 200
    assert rater.http.get(f"{rater.base}/clip/{later.original}").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        *("../votes.db", "..%2fvotes.db", "%2e%2e%2fvotes.db", "..%5cvotes.db", "....//votes.db"),
        *("%2fetc%2fpasswd", "/etc/passwd", "zebra-file-original-0.wav", "zebra-id-0", "0"),
        *("listening.css%00.js", "listening.css/..", "%c0%ae%c0%ae%2f", "' UNION SELECT 1--"),
    ],
)
def test_no_path_leads_out_of_what_is_served(rater: RaterClient, name: str) -> None:
    rater.trial()
    for place in (f"{rater.base}/clip", f"{rater.base}/tones", "/static"):
        answer = rater.http.get(f"{place}/{name}")
        assert answer.status_code in (400, 404), (place, name)
        assert b"SQLite" not in answer.content
        assert b"RIFF" not in answer.content


@pytest.mark.parametrize(
    "asked",
    [
        *("bytes=0-1,2-3", "bytes=9-1", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=--5", ""),
        *("bytes=99999999999999999999-", "bytes=0x0-0x9", "bytes=" + "9" * 5000, "bytes=-0"),
    ],
)
def test_ranges_that_are_none(rater: RaterClient, asked: str) -> None:
    clip = rater.trial()["clips"]["original"]
    assert rater.http.get(clip, headers={"range": asked}).status_code == 416


def test_a_range_is_that_part_of_the_clip(rater: RaterClient) -> None:
    clip = rater.trial()["clips"]["original"]
    whole = rater.http.get(clip).content
    for asked, part in {
        "bytes=0-99": whole[:100],
        "bytes=100-": whole[100:],
        "bytes=-50": whole[-50:],
        f"bytes=10-{10**9}": whole[10:],
    }.items():
        answer = rater.http.get(clip, headers={"range": asked})
        assert answer.status_code == 206
        assert answer.content == part
        assert answer.headers["content-range"].endswith(f"/{len(whole)}")


def test_nothing_tells_which_system_file_or_pair_it_is(rater: RaterClient) -> None:
    page = rater.page()
    about = rater.trial()
    answers = [rater.http.get(clip) for clip in about["clips"].values()]
    seen = [page.encode(), *(answer.content for answer in answers)]
    seen += [str(answer.headers).encode() for answer in answers]
    for text in seen:
        assert b"zebra" not in text
        assert b".wav" not in text
    for answer in answers:
        assert not {"etag", "last-modified", "content-disposition"} & {*answer.headers}
        # Of FLAC's metadata the block of the stream, and a comment without any: only the maker's.
        assert answer.content[:4] == b"fLaC"
        assert b"=" not in answer.content[4:200].split(b"\xff\xf8")[0].split(b"libFLAC")[-1][:40]


def test_a_hidden_repeat_has_names_of_its_own(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path), repeat_share=0.5)
    client = RaterClient(test).consent()
    client.trial()
    trials = test.database.trials(client.rater)
    assert {trial.kind for trial in trials} == {"rating", "repeat"}
    names = [name for trial in trials for name in (trial.token, trial.original, trial.edited)]
    assert len(set(names)) == len(names)


# Injection

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'--{{1331*1331}} &amp; '); DROP"


class _Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_page(page: str) -> None:
    """No script but our own, no handler, nothing from outside."""
    for tag, attributes in _Elements(page).found:
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("iframe", "object", "embed", "base", "img", "style")
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith("/"), (tag, attributes)
        if tag == "script":
            assert (attributes["src"] or "").startswith("/static/")
    assert "alert(1)</script>" not in page
    assert "1771561" not in page  # what a template would make of it


def test_words_of_a_manifest_are_text(tmp_path: Path) -> None:
    words = dict.fromkeys(("original_caption", "target_caption", "instruction", "system"), HOSTILE)
    given = [p.model_copy(update={"id": f"{p.id}{HOSTILE}"}) for p in pairs(tmp_path, **words)]
    test = session(tmp_path, given, title=HOSTILE[:180])
    client = RaterClient(test)
    check_page(client.page())
    client.consent()
    check_page(client.page())
    about = client.listen()
    assert client.vote(about, comment=HOSTILE).status_code == 303
    (vote,) = client.votes(test)
    assert vote.comment == HOSTILE
    admin = client.http.get(f"/admin/{test.database.fact('admin')}")
    assert "alert(1)" in admin.text
    check_page(admin.text)


@pytest.mark.parametrize("field", ["trial", "side", "seal", "cannot", *AXES])
def test_a_field_is_no_sql(listening: Session, rater: RaterClient, field: str) -> None:
    about = rater.listen()
    path = "heard" if field == "side" else "vote"
    for value in ("x' OR '1'='1", "'; DROP TABLE votes; --", '" UNION SELECT token FROM raters --'):
        form = {"seal": about["seal"], "trial": about["trial"], **GRADES, field: value}
        assert rater.post(path, **form).status_code in (403, 404, 422)
    assert rater.votes(listening) == []
    assert rater.vote(about).status_code == 303


# Forms of others


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://{HOST}.evil.example"},
        {"origin": f"http://{HOST}:81"},
        {"origin": "http://[bad"},
        {"origin": HOST},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_from_another_page_is_refused(
    listening: Session, rater: RaterClient, headers: dict[str, str]
) -> None:
    about = rater.listen()
    form = {"seal": about["seal"], "trial": about["trial"], **GRADES}
    assert rater.post("vote", headers, **form).status_code == 403
    assert rater.votes(listening) == []
    assert rater.post("vote", {"origin": f"http://{HOST}"}, **form).status_code == 303


def test_a_form_needs_the_seal_of_its_rater_and_trial(
    listening: Session, rater: RaterClient, other: RaterClient
) -> None:
    about, others = rater.listen(), other.listen()
    wrong = [
        "",
        "0" * 32,
        others["seal"],
        about["seal"].upper(),
        seal("", rater.rater.token, about["trial"]),
        "é",
    ]
    for given in wrong:
        assert rater.vote({**about, "seal": given}).status_code == 403
    later = listening.database.trials(rater.rater)[1]
    assert rater.vote({**about, "trial": later.token}).status_code == 403
    without = {"trial": about["trial"], **GRADES}
    assert rater.post("vote", **without).status_code == 403
    assert rater.votes(listening) == []


def test_consent_headphones_and_breaks_need_a_seal_too(listening: Session) -> None:
    client = RaterClient(listening)
    for path in ("consent", "headphones", "seen", "go", "heard"):
        assert client.post(path, agree="yes").status_code == 403
    assert listening.database.raters()[0].consented is None
    assert client.post("consent", agree="no", seal=seal_of(client.page())).status_code == 422


def test_an_admins_form_needs_its_seal_and_a_count(listening: Session, rater: RaterClient) -> None:
    path = f"/admin/{listening.database.fact('admin')}"
    given = seal_of(rater.http.get(path).text)

    def add(**fields: str) -> Any:
        return rater.http.post(f"{path}/raters", data=fields)

    assert add(count="5").status_code == 403
    assert add(count="5", seal=rater.trial()["seal"]).status_code == 403
    for count in ("0", "-1", "101", "1e3", "٣", "", "5; DROP TABLE raters"):
        assert add(count=count, seal=given).status_code == 422
    assert len(listening.database.raters()) == 2
    assert add(count="3", seal=given).status_code == 303
    assert len(listening.database.raters()) == 5
