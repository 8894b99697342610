//! The text of a schedule: accepted and rejected forms.

use ferrofuse_scheduler::schedule::{ScheduleParseError, parse};

/// The line of an error, and what was found there.
fn place(error: ScheduleParseError) -> (usize, String) {
    match error {
        ScheduleParseError::Line { line, found, .. } => (line, found),
        other => panic!("{other}"),
    }
}

#[test]
fn numbers_are_spelled_as_python_spells_them() {
    for number in
        ["0777", "00", "1__0", "1_0", "1_", "+8", "-8", "0x8", "8.0", "1e1", "", "99999999999999999999"]
    {
        for line in
            ["block x0 by N", "jam x0 by N", "tile x0 by N", "prefetch x0 by N", "row xN", "persist nN"]
        {
            let line = line.replace('N', number);
            let error = parse(&format!("schedule lanes 8\n{line}\n")).expect_err(&line);
            assert_eq!(place(error), (2, line.trim().to_owned()));
        }
        parse(&format!("schedule lanes {number}")).expect_err(number);
    }
}

#[test]
fn lines_that_say_too_much_or_too_little_are_rejected() {
    for line in [
        "!",
        "fuse x0",
        "block x0",
        "block x0 by",
        "row",
        "row x0 x1",
        "lane x0 inside",
        "prefetch x0 by 8 near",
        "persist 7",
    ] {
        let text = format!("schedule lanes 8\n{line}\n");
        assert_eq!(place(parse(&text).expect_err(line)).0, 2);
    }
    assert_eq!(parse("schedule lanes 8\n# row\n\nrow x0\n").expect("fits").rows.len(), 1);
    for mixed in ["persist n1 narrow\npersist n2", "persist n1\npersist n2 narrow"] {
        assert_eq!(place(parse(&format!("schedule lanes 8\n{mixed}\n")).expect_err(mixed)).0, 3);
    }
}

#[test]
fn errors_name_the_line_and_what_is_wrong_with_it() {
    for (text, said) in [
        ("", "the text is empty: a schedule has at least a line `schedule lanes N`"),
        ("\n# nothing\n", "the text is empty: a schedule has at least a line `schedule lanes N`"),
        ("row x0\n", "a schedule has a line `schedule lanes N`, and this text has none"),
        ("schedule lanes 0\n", "line 1: expected a number of lanes, at least 1, found `schedule lanes 0`"),
        ("schedule lanes 8\njam x0 by 2\n\njam x0 by 4\n", "line 4: `jam` is chosen in line 2 already"),
        ("schedule lanes 8\nschedule lanes 8\n", "line 2: `schedule` is chosen in line 1 already"),
    ] {
        assert_eq!(parse(text).expect_err(text).to_string(), said);
    }
    parse("schedule lanes 8\nrow x0\nrow x1\npersist n1\npersist n2\ncombine by 2\ncombine by 4")
        .expect("several lines");
}
