"""Does the model see a claim: every case was measured and estimated, and agreement is counted."""

from __future__ import annotations

import math

from softlab.bench import claims, claims_seen, recordings
from softlab.bench.claims_seen import Seen


def test_every_case_was_measured_and_estimated():
    recording = recordings.load()
    cases = list(claims_seen.cases(recording))
    assert {case.claim for case in cases} == {1, 2, 3, 4, 5, 6}
    for case in cases:
        for made in (case.mine, case.other):
            if made is None:
                continue
            assert len(claims_seen._row(made)["microseconds"]) == 1, made
            assert case.traffic or not math.isnan(claims.speed(recording, made)), made


def test_agreement_is_counted_case_by_case(monkeypatch):
    recording = recordings.load()
    real = [claims_seen._true(case, recording) for case in claims_seen.cases(recording)]
    answers = iter([*real[:-1], not real[-1]])
    monkeypatch.setattr(claims_seen, "_predicted", lambda case: next(answers))
    found = claims_seen.seen(recording)
    assert [one.cases - one.agree for one in found] == [0, 0, 0, 0, 0, 1]


def test_a_recorded_case_is_true_as_the_ledger_says():
    recording = recordings.load()
    verdicts = {claim.number: claim.verdict for claim in claims.judge(recording)}
    truth: dict[int, list[bool]] = {}
    for case in claims_seen.cases(recording):
        truth.setdefault(case.claim, []).append(claims_seen._true(case, recording))
    assert verdicts[2] == "does not hold"
    assert not any(truth[2])
    assert 0 < sum(truth[1]) < len(truth[1])
    assert 0 < sum(truth[3]) <= len(truth[3])


def test_words():
    assert str(Seen(1, 9, 10)) == "yes, 9 of 10 cases"
    assert str(Seen(1, 6, 10)) == "in part, 6 of 10 cases"
    assert str(Seen(1, 5, 10)) == "no, 5 of 10 cases"
