"""Marks per student, the files for Moodle and Canvas, feedback pages, what confines a submission, the mock course."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from softlab import course
from softlab.cli import main
from softlab.course import confinement, feedback, marks
from softlab.course.confinement import Confinement
from softlab.course.grading import Submission
from softlab.errors import Error
from tests.course import importers, mock

IDS = course.lesson("00").ids


def submission(file, *states, problem="", **messages):
    return Submission(file, dict(zip(IDS, states, strict=True)), problem, {IDS[0]: messages.get("said", "")})


CLASS = marks.students(
    [
        submission("bob/a.ipynb", "right", "wrong", "missing", said="<b>&", problem="cell 2: <script>"),
        submission("bob/b.ipynb", "wrong", "right", "not answered"),
        submission("=ada.ipynb", "right", "right", "right"),
        Submission("cyd.ipynb", {}, "no notebook: it is empty"),
    ],
    {IDS[0]: 2.5},
)
ROSTER = {
    "bob": dict(zip(marks.ROSTER_COLUMNS, ("Bob B.", "bob@x.org", "7", "bb", "A", "9"), strict=True)),
}


def written(rows):
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return list(csv.reader(io.StringIO(stream.getvalue())))


def test_the_better_of_two_files_counts_and_nothing_is_lost():
    assert [(one.name, one.points, one.of) for one in CLASS] == [("=ada", 4.5, 4.5), ("bob", 3.5, 4.5), ("cyd", 0, 4.5)]
    assert [mark.state for mark in CLASS[1].marks] == ["right", "right", "not answered"]
    assert [mark.state for mark in CLASS[2].marks] == ["missing"] * 3
    assert CLASS[1].problems == ("bob/a.ipynb: cell 2: <script>",)


def test_a_further_exercise_counts_on_top():
    ids = course.lesson("18").ids
    states = {**dict.fromkeys(ids, "right"), "18-tile-in-use": "right"}
    ada, bob = marks.students([Submission("a.ipynb", states), Submission("b.ipynb", dict.fromkeys(ids, "wrong"))], {})
    assert (ada.points, ada.of, bob.points, bob.of) == (len(ids) + 1, len(ids), 0, len(ids))
    assert "18-tile-in-use" not in [mark.exercise for mark in bob.marks]


def test_one_row_per_student_and_one_per_exercise():
    head, ada, bob, _ = written(marks.student_rows(CLASS))
    assert head == ["student", "points", "of", "right", *IDS, "problems"]
    assert ada == ["'=ada", "4.5", "4.5", "3", "2.5", "1", "1", ""]
    assert bob[:4] == ["bob", "3.5", "4.5", "2"]
    rows = written(marks.exercise_rows(CLASS))
    assert len(rows) == 1 + 3 * len(IDS)
    assert rows[4] == ["bob", IDS[0], "right", "2.5", "2.5", "<b>&"]


def test_moodle_gets_a_column_to_identify_a_grade_and_a_feedback():
    title = f"softlab 00 {course.lesson('00').title}"
    head, ada, *_ = written(marks.moodle_rows(CLASS, {}))
    assert head == ["Username", title, f"{title} feedback"]
    assert ada[:2] == ["'=ada", "4.5"]
    head, bob = written(marks.moodle_rows(CLASS, ROSTER))
    assert (head[0], bob[0], bob[1]) == ("Email address", "bob@x.org", "3.5")
    assert bob[2].startswith(f"{IDS[0]}: right; ")


def test_canvas_gets_its_five_columns_and_the_points_that_are_possible():
    head, possible, ada, bob, _ = written(marks.canvas_rows(CLASS, ROSTER))
    assert head[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert possible == ["    Points Possible", "", "", "", "", "4.5"]
    assert bob == ["Bob B.", "9", "7", "bb", "A", "3.5"]
    assert ada == ["'=ada", "", "", "", "", "4.5"]
    assert all(len(row) == len(head) for row in (possible, ada, bob))


def file_of(rows):
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue()


def roster_of(**emails):
    rows = {name: dict.fromkeys(marks.ROSTER_COLUMNS, "") for name in emails}
    return {name: {**row, "email": emails[name], "canvas_id": str(k)} for k, (name, row) in enumerate(rows.items())}


def test_moodle_gives_nobody_the_marks_of_another():
    title = f"softlab 00 {course.lesson('00').title}"
    roster = roster_of(bob="bob@x.org", cyd="")
    text = file_of(marks.moodle_rows(CLASS, roster))
    assert importers.moodle(text, {"bob@x.org": "bob"}) == {"bob": {title: 3.5}}
    assert marks.left_out(CLASS, roster) == ["=ada", "cyd"]
    assert marks.left_out_sentence(CLASS, roster).endswith("leaves out =ada, cyd: the roster has no email of them")
    # The rule that makes this necessary: a row without a user goes to the user before.
    assert importers.moodle("u,a\nbob,1\n,0\n", {"bob": "bob"}) == {"bob": {"a": 0.0}}


def test_moodle_takes_the_column_that_most_students_have():
    roster = roster_of(bob="bob@x.org", cyd="")
    roster = {name: {**row, "id_number": name} for name, row in roster.items()}
    head, *rows = written(marks.moodle_rows(CLASS, roster))
    assert head[0] == "ID number"
    assert [row[0] for row in rows] == ["bob", "cyd"]
    assert marks.left_out_sentence(CLASS[1:], roster) == ""


def test_a_lesson_is_not_worth_more_than_moodle_takes():
    marks.check_moodle({IDS[0]: 98})
    with pytest.raises(ValueError, match="lesson 00 is worth 101; Moodle takes 100"):
        marks.check_moodle({IDS[0]: 99})


def test_canvas_reads_each_mark():
    title = f"softlab 00 {course.lesson('00').title}"
    named = marks.Student("Points Possible", CLASS[0].marks)
    people = [{"canvas_id": "9", "id_number": "7", "login": "bb", "name": "Bob B."}]
    people += [
        {"canvas_id": name, "id_number": "", "login": "", "name": name} for name in ("'=ada", "cyd", "points possible")
    ]
    possible, found = importers.canvas(file_of(marks.canvas_rows([*CLASS, named], ROSTER)), people)
    assert possible == {title: 4.5}
    assert {name: grades[title] for name, grades in found.items()} == {
        "9": 3.5, "'=ada": 4.5, "cyd": 0.0, "points possible": 4.5
    }  # fmt: skip


def test_no_lesson_has_a_title_that_canvas_takes_for_another_column():
    for lesson in course.lessons():
        importers.canvas(f"Student,ID,SIS User ID,SIS Login ID,Section,softlab {lesson.title}\n", [])
    with pytest.raises(importers.RefusedError):
        importers.canvas("Student,ID,SIS User ID,SIS Login ID,Section,Softmax (12)\n", [])


@pytest.mark.parametrize("column", ["folder", "email", "id_number", "login", "canvas_id"])
def test_two_students_share_nothing_that_identifies_them(tmp_path, column):
    other = "email" if column == "folder" else "folder"
    (tmp_path / "roster.csv").write_text(f"{column},{other},name\nx,1,a\nx,2,a\n")
    with pytest.raises(ValueError, match=f"two students have the {column} x"):
        marks.read_roster(tmp_path / "roster.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"00-nothing" = 2', "no exercise"),
        (f'"{IDS[0]}" = -1', "no number of points"),
        (f'"{IDS[0]}" = true', "no number of points"),
    ],
)
def test_points_that_are_none(tmp_path, text, said):
    (tmp_path / "points.toml").write_text(text)
    with pytest.raises(ValueError, match=said):
        marks.read_points(tmp_path / "points.toml")


def test_points_and_a_roster_are_read(tmp_path):
    (tmp_path / "points.toml").write_text(f'"{IDS[0]}" = 2.5')
    assert marks.read_points(tmp_path / "points.toml") == {IDS[0]: 2.5}
    (tmp_path / "roster.csv").write_text("\ufefffolder,email\nbob,bob@x.org\n", encoding="utf-8")
    assert marks.read_roster(tmp_path / "roster.csv")["bob"]["email"] == "bob@x.org"
    with pytest.raises(ValueError, match="a column folder"):
        marks.read_roster(tmp_path / "points.toml")
    with pytest.raises(Error, match="cannot be read"):
        marks.read_points(tmp_path / "none.toml")


def test_a_feedback_page_has_no_code_of_a_student(tmp_path):
    page = feedback.page(CLASS[1])
    assert "3.5 of 4.5 points" in page
    assert "&lt;b&gt;&amp;" in page
    assert "cell 2: &lt;script&gt;" in page
    assert not re.search(r"<script|<b>&|https?:", page)
    twins = [marks.Student(name, ()) for name in ("a/b", "a_b", "..", "A_B")]
    feedback.write_pages(tmp_path, twins)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A_B-3.html", "a_b-2.html", "a_b.html", "student.html"]


def test_pages_that_cannot_be_written(tmp_path, monkeypatch):
    """The message says where, and why: the system's words, else the error's own."""
    (tmp_path / "file").write_text("")
    with pytest.raises(Error, match=r"^--feedback .*/file cannot be written: (File exists|Not a directory)$"):
        feedback.write_pages(tmp_path / "file", [])

    def refuse(student):
        raise OSError("no room")

    monkeypatch.setattr(feedback, "page", refuse)
    with pytest.raises(Error, match=r"cannot be written: no room$"):
        feedback.write_pages(tmp_path, [marks.Student("a", ())])


def test_the_whole_of_a_page():
    """Name, points, and for each exercise its points and what softlab replied."""
    made = [marks.Mark("07-a", "right", 1.0, 1.0, "Right."), marks.Mark("08-b", "wrong", 0.0, 2.5, "Right, it said."),
            marks.Mark("09-c", "missing", 0.0, 1.0, ""), marks.Mark("10-d", "wrong", 0.0, 1.0, "No.")]  # fmt: skip
    page = feedback.page(marks.Student("a & b", tuple(made)))
    assert page.startswith('<!doctype html><html lang="en"><meta charset="utf-8"><title>a &amp; b</title><style>')
    assert "<h1>a &amp; b</h1><p><b>1 of 5.5 points.</b></p>" in page
    for head in ("<span>07-a</span><span>1 of 1</span>", "<span>08-b</span><span>0 of 2.5</span>"):
        assert head in page
    assert [page.count(words) for words in ("Right.", "it said", "not right where the cell", "Missing.", "No.")] == [
        1, 0, 1, 1, 1
    ]  # fmt: skip
    assert "What went wrong" not in page
    said = feedback.page(marks.Student("c", (), ("cell 2", "<3>")))
    assert "<h2>What went wrong in the run</h2><ul><li>cell 2</li><li>&lt;3&gt;</li></ul>" in said


def test_a_right_reply_to_a_wrong_mark_is_not_shown():
    (student,) = marks.students([submission("a.ipynb", "wrong", "wrong", "wrong", said="Right. (3 of 3)")], {})
    assert "not right where the cell runs by itself" in feedback.page(student)


def test_without_bubblewrap_it_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(confinement.shutil, "which", lambda name: None)
    assert main(["grade", str(tmp_path), "--sandbox"]) == 2
    assert "bubblewrap (bwrap) is not installed" in capsys.readouterr().err
    with pytest.raises(ValueError, match="memory = -1"):
        Confinement.of(-1, False)


def test_a_sandbox_shows_the_submission_and_softlab_and_not_the_tests(tmp_path):
    command = Confinement(100, "/usr/bin/bwrap").command(tmp_path)
    assert command[: command.index("--proc")] == ["/usr/bin/bwrap", "--unshare-all", "--die-with-parent"]
    bound = {Path(command[k + 1]) for k, word in enumerate(command) if word in ("--ro-bind-try", "--bind")}
    assert tmp_path in bound
    hidden = Path(__file__).resolve()
    assert not any(hidden.is_relative_to(path) or path in (Path("/"), Path.home()) for path in bound)
    assert command[-2:] == [str(100 << 20), str(1 << 26)]


@pytest.mark.further
def test_a_small_class_gets_the_marks_that_it_must_have(tmp_path):
    """``python -m tests.course.mock run`` is the whole class; here are a cheat, a broken file and a good answer."""
    names = ("cheat-bribed-judge", "broken-half")
    mocks = [one for one in mock.students("00", 24) if one.name in names or one.name.startswith("student-01")]
    assert len(mocks) == 3
    mock.write(tmp_path / "in", mocks, "00")
    found = mock.graded(tmp_path / "in", tmp_path / "out", ["--seconds", "60"])
    assert mock.differences(mocks, found, "00") == []
    assert mock.lost_imports(mocks, tmp_path / "out", "00") == []
    assert len(list((tmp_path / "out" / "feedback").iterdir())) == 3
