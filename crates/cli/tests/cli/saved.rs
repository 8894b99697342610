//! Files that Python's `save` wrote: every verb heeds the segments, schedules and the limit on memory in them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::{definition, ferrofuse, fine};

/// A softmax of exponentials, beside their sums.
const BODY: &str = "# saved by ferrofuse, version 1
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.exp(x)
    z = fd.ops.softmax(y, dim=1)
    fd.add_output(z)
    total = fd.ops.sum(y, dims=[0])
    fd.add_output(total)
";
const SEGMENTS: &str = "# ---- segments
# segment seg0 -> y, total
# segment seg1 -> z
";
/// A schedule for the definition of `seg1` by itself, whose exponentials are `n4` there, and another node in the whole.
const SCHEDULE: &str = "# ---- schedule seg1
# schedule lanes 4
# block x0 by 2
# inner x1
# lane x1
# persist n8
";
const SIZES: &str = "--size i0=9 --size i1=17";

/// A saved file with these sections.
fn saved(sections: &str) -> (TempDir, String) {
    definition(&format!("{BODY}{sections}# ---- end\n"))
}

fn segments(explained: &str) -> Vec<Value> {
    let explained: Value = serde_json::from_str(explained).expect("JSON");
    explained["segments"].as_array().expect("a list").clone()
}

fn written(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file for the test");
    path
}

#[test]
fn segments_and_schedules_of_a_saved_file_are_those_that_run() {
    let (folder, path) = saved(&format!("{SEGMENTS}{SCHEDULE}"));
    let explained = segments(&fine(&format!("explain {path} {SIZES} --json")));
    assert_eq!(explained.len(), 2, "{explained:?}");
    let schedule = explained[1]["schedule"].as_str().expect("a kernel");
    assert!(schedule.starts_with("schedule lanes 4\nblock x0 by 2\n"), "{schedule}");
    let emitted = fine(&format!("emit {path} --stage schedule"));
    assert!(emitted.contains("# seg1\nschedule lanes 4\nblock x0 by 2\n"), "{emitted}");
    assert!(fine(&format!("emit {path} --stage kernel --segment 1")).starts_with("# seg1\nkernel seg1("));
    let cut = fine(&format!("emit {path} --stage segments"));
    assert_eq!(cut, "segment seg0 -> y, total\nsegment seg1 -> z\n");
    let ran = fine(&format!("run {path} {SIZES} --check --time"));
    for expected in ["matches the evaluator", "\nseg0 ", "\nseg1 ", "\nseg1.seg0 ", "GB/s", "plan "] {
        assert!(ran.contains(expected), "{expected:?} is missing:\n{ran}");
    }
    let parts = folder.path().join("parts");
    fine(&format!("segment {path} --output {}", parts.display()));
    let index: Value =
        serde_json::from_str(&fs::read_to_string(parts.join("index_map.json")).unwrap()).unwrap();
    assert!(
        index["segments"][1]["schedule"].as_str().is_some_and(|text| text.contains("persist n8")),
        "{index}"
    );
    assert_eq!(
        fine(&format!("explain {} {SIZES}", parts.display())),
        fine(&format!("explain {path} {SIZES}"))
    );
    let ended = ferrofuse(["explain", &path]);
    assert!(!ended.stderr.contains("not used"), "{}", ended.stderr);
}

#[test]
fn options_have_priority_over_what_a_file_says_and_a_note_says_so() {
    let (folder, path) = saved(&format!("{SEGMENTS}{SCHEDULE}"));
    let explained = |options: &str| {
        let ended = ferrofuse(format!("explain {path} {SIZES} --json {options}").split_whitespace());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        (segments(&ended.stdout), ended.stderr)
    };
    let cut = written(&folder, "cut.txt", "segment seg0 -> y\nsegment seg1 -> z\nsegment seg2 -> total\n");
    let (there, told) = explained(&format!("--segmentation {}", cut.display()));
    assert_eq!(there.len(), 3);
    for choice in ["segmentation", "schedule of seg1"] {
        let note = format!("definition.py: its {choice} is not used: --segmentation is given");
        assert!(told.contains(&note), "{note} is missing:\n{told}");
    }
    let schedule = written(&folder, "rows.txt", "schedule lanes 8\nrow x0\ninner x1\nlane x1\n");
    let (there, told) = explained(&format!("--schedule 1={}", schedule.display()));
    assert!(there[1]["schedule"].as_str().is_some_and(|text| text.starts_with("schedule lanes 8\nrow x0")));
    assert!(told.contains("its schedule of seg1 is not used: --schedule is given"), "{told}");
    let (there, told) = explained(&format!("--schedule 0={}", schedule.display()));
    assert!(there[1]["schedule"].as_str().is_some_and(|text| text.starts_with("schedule lanes 4\n")));
    assert_eq!(told, "");
}

#[test]
fn the_limit_of_a_saved_file_is_heeded() {
    let (_folder, path) = saved("# ---- peak_memory\n# 16\n");
    for verb in ["run", "explain", "emit --stage schedule"] {
        let ended = ferrofuse(format!("{verb} {path} {SIZES}").split_whitespace());
        assert_eq!(ended.code, 2, "{verb}: {}", ended.stdout);
        assert!(ended.stderr.contains("no segments have a peak memory within 16 bytes"), "{}", ended.stderr);
    }
    let ended = ferrofuse(format!("run {path} {SIZES} --peak-memory 1000000").split_whitespace());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("its peak_memory is not used: --peak-memory is given"), "{}", ended.stderr);
    let (_folder, path) = saved(SEGMENTS);
    let ended = ferrofuse(format!("run {path} {SIZES} --peak-memory 16").split_whitespace());
    assert!(ended.code == 2 && ended.stderr.contains("16 are allowed"), "{}", ended.stderr);
}

#[test]
fn broken_files_are_rejected_with_the_place() {
    let broken = |sections: &str, end: &str| {
        let (_folder, path) = definition(&format!("{BODY}{sections}{end}"));
        let ended = ferrofuse(["explain", &path]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
        let name = Path::new(&path).display().to_string();
        ended.stderr.trim().trim_start_matches("× ").trim_start_matches(&format!("{name}: ")).to_owned()
    };
    let end = "# ---- end\n";
    for (sections, end, expected) in [
        (SEGMENTS.to_owned(), "", "the file is cut short: it does not end with `# ---- end`"),
        (
            SEGMENTS.replace("-> z", "-> w"),
            end,
            "line 11: the definition has no value `w`, or does not compute it",
        ),
        (SEGMENTS.replace("ts\n", "tz\n"), end, "line 9: `segmentz` is not a known section"),
        (format!("{SEGMENTS}{SEGMENTS}"), end, "line 12: there is a section `segments` already"),
        (format!("{SEGMENTS}{}", SCHEDULE.replace("seg1", "seg7")), end, "`schedule seg7` names no segment"),
        (SCHEDULE.to_owned(), end, "`schedule seg1` names no segment"),
        ("# ---- peak_memory\n# much\n".to_owned(), end, "line 10: expected a number of bytes, found `much`"),
    ] {
        assert_eq!(broken(&sections, end), expected);
    }
    let wrong = format!("{SEGMENTS}{}", SCHEDULE.replace("inner", "inmost"));
    assert!(
        broken(&wrong, end).starts_with("line 15: expected `schedule lanes N"),
        "{}",
        broken(&wrong, end)
    );
    let newer = definition(&format!("{}{end}", BODY.replace("version 1", "version 2")));
    let ended = ferrofuse(["run", &newer.1]);
    assert!(ended.stderr.contains("saved by a newer ferrofuse: version 2"), "{}", ended.stderr);
}
