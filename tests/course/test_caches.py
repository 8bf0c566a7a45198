"""Which functions keep their results, and how many: None where there are few different ones."""

from __future__ import annotations

from tests.caches import bounds


def test_how_many_results_are_kept() -> None:
    assert bounds("softlab/course") == {
        "course.catalogue.lessons": None,
        "course.clinic.bugs.bugs": None,
        "course.glossary.words": None,
        "course.mutants._single": None,
        "course.syllabus.lesson_05.superfluous": None,
        "course.syllabus.lesson_07.most_smem": None,
        "course.syllabus.lesson_08.first_of_256": None,
        "course.syllabus.lesson_11.recording": None,
        "course.syllabus.lesson_15.line_waited_for": None,
    }
