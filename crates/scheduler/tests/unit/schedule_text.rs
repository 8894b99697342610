//! The text of a schedule: accepted and rejected forms.

use ferrofuse_scheduler::schedule::parse;

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
            assert_eq!((error.line, error.found), (2, line.trim().to_owned()));
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
        assert_eq!(parse(&text).expect_err(line).line, 2);
    }
    assert_eq!(parse("row x0\n").expect_err("no lanes").line, 2);
    assert_eq!(parse("schedule lanes 8\n# row\n\nrow x0\n").expect("fits").rows.len(), 1);
    for mixed in ["persist n1 narrow\npersist n2", "persist n1\npersist n2 narrow"] {
        assert_eq!(parse(&format!("schedule lanes 8\n{mixed}\n")).expect_err(mixed).line, 3);
    }
}
