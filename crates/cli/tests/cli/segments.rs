//! Folders of segments: written atomically, run unchanged and edited, rejected with the place.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{definition, ferrofuse, files, fine};

/// Rows divided by their sums; `powers` passes between two segments, because of an explicit boundary.
const ROWS: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    powers = fd.ops.segment_set(fd.ops.exp(x))
    total = fd.ops.sum(powers, dims=[1], keepdim=True)
    scaled = fd.ops.div(powers, total)
    fd.add_output(scaled)
";
const SIZES: &str = "--size i0=5 --size i1=7";

/// A folder of the segments of `ROWS`, in another folder that keeps it alive.
fn cut() -> (TempDir, PathBuf) {
    let (kept, path) = definition(ROWS);
    let folder = kept.path().join("segments");
    fine(&format!("segment {path} --output {}", folder.display()));
    (kept, folder)
}

fn index(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("index_map.json")).unwrap()).unwrap()
}

/// Changes `index_map.json`.
fn with_index(folder: &Path, change: impl FnOnce(&mut Value)) {
    let mut index = index(folder);
    change(&mut index);
    fs::write(folder.join("index_map.json"), index.to_string()).unwrap();
}

/// Changes a file of a segment.
fn with_text(folder: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(folder.join(file), text.replace(from, to)).unwrap();
}

/// The error about the folder, in one line.
fn rejected(folder: &Path) -> String {
    let line = format!("run {} {SIZES}", folder.display());
    let ended = ferrofuse(line.split_whitespace());
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    ended.stderr.trim().trim_start_matches("× ").to_owned()
}

#[test]
fn a_folder_holds_the_segments_and_how_they_belong_together() {
    let (kept, folder) = cut();
    assert_eq!(files(&folder), ["definition.py", "index_map.json", "seg0.py", "seg1.py"]);
    assert_eq!(fs::read_to_string(folder.join("definition.py")).unwrap(), ROWS);
    assert_eq!(
        fs::read_to_string(folder.join("seg1.py")).unwrap(),
        "# seg1: takes powers; gives scaled
def nvfuser_fusion(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    T1 = fd.ops.sum(T0, dims=[1])
    T2 = fd.ops.broadcast(T1, is_broadcast_dim=[False, True])
    T3 = fd.ops.div(T0, T2)
    fd.add_output(T3)
"
    );
    let reason = "in one kernel powers is a boundary that the definition asks for";
    let segment = |file: &str, map: Value, inputs: Value, outputs: Value| {
        json!({
            "file": file, "index_map": map, "inputs": inputs, "outputs": outputs, "recomputed": [], "bytes": null,
            "bytes_formula": "8*i0*i1", "schedule": null, "reason": reason,
        })
    };
    assert_eq!(
        index(&folder),
        json!({
            "segments": [
                segment("seg0.py", json!({"0": 0, "1": 1}), json!(["x"]), json!(["powers"])),
                segment("seg1.py", json!({"0": 1, "2": 3, "3": 4}), json!(["powers"]), json!(["scaled"])),
            ],
            "order": [0, 1],
            "inputs": ["x"],
            "outputs": ["scaled"],
        })
    );
    drop(kept);
}

#[test]
fn a_folder_runs_as_the_definition_does() {
    let (kept, folder) = cut();
    let outputs = [kept.path().join("whole"), kept.path().join("parts")];
    let definition = kept.path().join("definition.py");
    for (what, output) in [definition.as_path(), &folder].into_iter().zip(&outputs) {
        let text =
            fine(&format!("run {} {SIZES} --check --time --output {}", what.display(), output.display()));
        for expected in ["matches the evaluator", "best call", "GB/s", "runs as", "plan "] {
            assert!(text.contains(expected), "{expected} is missing:\n{text}");
        }
    }
    let [whole, parts] = outputs.map(|output| fs::read(output.join("scaled.npy")).unwrap());
    assert_eq!(whole, parts);
    let text = fine(&format!("run {} {SIZES} --check --json", folder.display()));
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["matches"], json!(true));
    let parts = report["segments"].as_array().unwrap().iter();
    let parts: Vec<Value> =
        parts.map(|part| json!([part["name"], part["inputs"], part["outputs"]])).collect();
    assert_eq!(parts, [json!(["seg0", ["x"], ["powers"]]), json!(["seg1", ["powers"], ["scaled"]])]);
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!([&kernels[0]["name"], &kernels[1]["name"]], ["seg0.seg0", "seg1.seg0"]);
}

#[test]
fn examples_run_from_their_folders() {
    // Cut at their own sizes, and run at smaller ones.
    for (example, size) in [
        ("nanogpt_attention", "i0=2"),
        ("batch_norm", "i0=2"),
        ("dropout_layer_norm", "i0=256"),
        ("adam_step", "i0=262144"),
    ] {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().join("segments");
        fine(&format!("segment examples/{example}.py --output {}", folder.display()));
        let text = fine(&format!("run {} --check --size {size}", folder.display()));
        assert!(text.contains("matches the evaluator"), "{example}: {text}");
    }
}

#[test]
fn an_edited_segment_runs_in_place_of_the_old() {
    let (_kept, folder) = cut();
    with_text(&folder, "seg0.py", "fd.ops.exp(T0)", "fd.ops.exp(fd.ops.neg(T0))");
    let line = format!("run {} {SIZES} --check", folder.display());
    let ended = ferrofuse(line.split_whitespace());
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("DIFFERS from the evaluator"), "{}", ended.stdout);
    with_text(&folder, "seg0.py", "fd.ops.neg(T0)", "T0");
    with_index(&folder, |index| {
        index["segments"][1]["schedule"] = json!("schedule lanes 4\nrow x0\ninner x1\n")
    });
    assert!(fine(&line).contains("matches the evaluator"));
}

#[test]
fn edited_folders_that_cannot_be_are_rejected() {
    let (_kept, folder) = cut();
    with_text(&folder, "seg1.py", "fd.add_output(T3)", "fd.add_output(T1)");
    let kept = "; an edited segment keeps its inputs and outputs";
    assert_eq!(rejected(&folder), format!("seg1: output 0 is f32[i0] and was f32[i0, i1]{kept}"));

    let (_kept, folder) = cut();
    with_index(&folder, |index| index["segments"][1]["index_map"] = json!({"0": 1, "3": 9}));
    let map = "index_map.json: the index map of seg1 has 3: 9";
    assert_eq!(rejected(&folder), format!("{map}, but definition.py has no 9: it has 5 values"));
    with_index(&folder, |index| index["segments"][1]["index_map"] = json!({"0": 1, "4": 4}));
    let map = "index_map.json: the index map of seg1 has 4: 4";
    assert_eq!(rejected(&folder), format!("{map}, but seg1.py has no 4: it has 4 values"));

    with_index(&folder, |index| index["segments"][1]["index_map"] = json!({"0": 1, "2": 2, "3": 4}));
    let map = "index_map.json: the index map of seg1 has 2: 2, but as it is cut it has 2: 3";
    assert_eq!(rejected(&folder), map);
    with_index(&folder, |index| index["segments"][1]["index_map"] = json!({"0": 1, "3": 4}));
    assert_eq!(rejected(&folder), map.replace("has 2: 2,", "has no 2,"));
    with_index(&folder, |index| index["segments"][1]["inputs"] = json!(["x"]));
    assert_eq!(rejected(&folder), "index_map.json: seg1 takes x, but as it is cut it takes powers");
    with_index(&folder, |index| index["outputs"] = json!(["powers"]));
    assert_eq!(rejected(&folder), "index_map.json: the outputs are powers; definition.py has scaled");

    let (_kept, folder) = cut();
    with_index(&folder, |index| index["segments"][0]["schedule"] = json!("schedule lanes 4\nrow x7\n"));
    assert_eq!(rejected(&folder), "the schedule of seg0 does not fit it: the segment has no axis x7");
    with_index(&folder, |index| index["segments"][0]["schedule"] = json!("rows first"));
    let error = ferrofuse::parse_schedule("rows first").unwrap_err();
    assert_eq!(rejected(&folder), format!("index_map.json: the schedule of seg0: {error}"));
    with_index(&folder, |index| index["order"] = json!([0, 0]));
    assert_eq!(rejected(&folder), "index_map.json: the order must name each of 2 segments once");

    let (_kept, folder) = cut();
    with_index(&folder, |index| index["segments"][1]["outputs"] = json!(["total"]));
    assert_eq!(rejected(&folder), "no segment makes the output `scaled`");
    with_index(&folder, |index| index["segments"][1]["outputs"] = json!(["sum"]));
    let unknown = "line 2: the definition has no value `sum`, or does not compute it";
    assert_eq!(rejected(&folder), format!("index_map.json: {unknown}"));
    fs::remove_file(folder.join("seg0.py")).unwrap();
    let missing = folder.join("seg0.py");
    assert_eq!(rejected(&folder), format!("{}: No such file or directory (os error 2)", missing.display()));

    let (_kept, folder) = cut();
    let line = format!("run {} --segmentation x", folder.display());
    let error = ferrofuse(line.split_whitespace()).stderr;
    assert_eq!(error.trim(), "× --segmentation: segments have their own: edit index_map.json");
    let line = format!("run {} {SIZES} --peak-memory 8", folder.display());
    let error = ferrofuse(line.split_whitespace()).stderr;
    let said = "the segments that are given have a peak memory of 280 bytes, and 8 are allowed";
    assert!(error.contains(said), "{error}");
}

/// Asserts that nothing is written; returns the message.
fn unwritten(words: &str, folder: &Path) -> String {
    let before = files(folder);
    let line = format!("segment {words} --output {}", folder.display());
    let ended = ferrofuse(line.split_whitespace());
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert_eq!(files(folder), before);
    ended.stderr.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim_start_matches("× ").to_owned()
}

#[test]
fn folders_are_written_whole_or_not_at_all() {
    let (kept, path) = definition(ROWS);
    let folder = kept.path().join("others");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    let error = unwritten(&path, &folder);
    let others = "the folder holds `notes.txt`, which is no file of these segments";
    let help = "help: give a folder that is empty or yet to be made";
    assert_eq!(error.trim(), format!("{}: {others} {help}", folder.display()));
    let cyclic = kept.path().join("cyclic.txt");
    fs::write(&cyclic, "segment a -> powers, scaled\nsegment b -> total\n").unwrap();
    let error = unwritten(&format!("{path} --segmentation {}", cyclic.display()), &kept.path().join("none"));
    let cycle = "the segments wait for each other: a needs `total` of b, b needs `powers` of a";
    assert_eq!(error.trim(), format!("{}: {cycle}", cyclic.display()));
    fs::write(&cyclic, "segment a -> powers\n").unwrap();
    let error = unwritten(&format!("{path} --segmentation {}", cyclic.display()), &kept.path().join("none"));
    assert_eq!(error.trim(), "no segment makes the output `scaled`");
    let twice = kept.path().join("twice");
    fine(&format!("segment {path} --output {}", twice.display()));
    fine(&format!("segment {path} --output {}", twice.display()));
    with_text(&twice, "seg0.py", "fd.ops.", "fd .ops.");
    let error = unwritten(&path, &twice);
    assert_eq!(error.trim(), format!("{}: `seg0.py` is there with other contents {help}", twice.display()));
}

/// What is compared with is cut by the compiler.
#[test]
fn choices_are_for_the_first_file() {
    let (kept, path) = definition(ROWS);
    let segmentation = kept.path().join("cut.txt");
    fs::write(&segmentation, "segment seg0 -> powers\nsegment seg1 -> total\nsegment seg2 -> scaled\n")
        .unwrap();
    let line = format!("explain {path} --segmentation {} --against {path}", segmentation.display());
    assert!(!fine(&line).contains("no difference"));
    let saved = kept.path().join("saved.json");
    fs::write(&saved, fine(&format!("explain {path} --segmentation {} --json", segmentation.display())))
        .unwrap();
    let line =
        format!("explain {} --segmentation {} --against {path}", saved.display(), segmentation.display());
    assert!(fine(&line).contains("no difference"));
}

#[test]
fn a_folder_keeps_devices_and_streams_and_runs() {
    let (kept, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    with fd.group(\"far\", stay=True, device=\"cuda:1\"):
        y = fd.ops.exp(x)
        with fd.group(\"aside\"):
            z = fd.ops.sin(y)
    with fd.group(\"tail\", stream=2):
        w = fd.ops.neg(z)
    fd.add_output(w)
",
    );
    let folder = kept.path().join("segments");
    fine(&format!("segment {path} --output {}", folder.display()));
    let written = index(&folder);
    let places: Vec<Value> = written["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| json!([segment["device"], segment["stream"]]))
        .collect();
    assert_eq!(places, [json!(["cuda:1", null]), json!([null, 2])]);
    let ran = fine(&format!("run {} {SIZES} --check", folder.display()));
    assert!(ran.contains("matches the evaluator"), "{ran}");
    let explained = fine(&format!("explain {path} --compare unfused"));
    assert!(explained.contains("group aside (device cuda:1): in seg0\n"), "{explained}");
    assert!(explained.contains("unfused: 2 segments, "), "a group that stays is one there too: {explained}");
    let spans = kept.path().join("cut.txt");
    fs::write(&spans, "segment all -> w\n").unwrap();
    let ended = ferrofuse(["explain", &path, "--segmentation", spans.to_str().unwrap()]);
    assert_eq!(ended.code, 2);
    let said = "all computes ops for cuda:1 and ops for stream 2; a segment has one device and one stream";
    assert_eq!(ended.stderr.trim(), format!("× {said}"));
}

/// With the folder's cut, its schedules, and edited files.
#[test]
fn a_folder_is_explained_as_it_is_cut() {
    let (kept, folder) = cut();
    let whole = kept.path().join("definition.py");
    let (folder_, whole) = (folder.display(), whole.display());
    assert_eq!(fine(&format!("explain {folder_} {SIZES}")), fine(&format!("explain {whole} {SIZES}")));
    let other = fine(&format!("explain {folder_} {SIZES} --compare unfused --target h200"));
    assert!(other.contains("unfused: "), "{other}");
    with_index(&folder, |index| index["segments"][0]["schedule"] = json!("parallel=[a]"));
    let ended = ferrofuse(format!("explain {folder_} {SIZES}").split(' '));
    assert!(ended.code == 2 && ended.stderr.contains("schedule of seg0"), "{}", ended.stderr);
    with_index(&folder, |index| index["segments"][0]["schedule"] = Value::Null);
    with_text(&folder, "seg0.py", "ops.exp(", "ops.abs(");
    let edited = fine(&format!("explain {folder_} {SIZES} --json"));
    let edited: Value = serde_json::from_str(&edited).unwrap();
    assert_eq!(edited["segments"][0]["operations"], json!(["powers = abs (x) : f32[i0, i1]"]));
    let ended = ferrofuse(format!("emit {folder_} --stage graph").split(' '));
    assert!(ended.code == 2 && ended.stderr.contains("/seg0.py"), "{}", ended.stderr);
}

/// A segment by hand that only re-indexes runs nothing.
#[test]
fn a_segment_that_is_a_view_is_explained_and_run_as_one() {
    let (kept, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.exp(x)
    t = fd.ops.permute(y, dims=[1, 0])
    s = fd.ops.sum(t, dims=[1])
    fd.add_output(t)
    fd.add_output(s)
",
    );
    let text = "segment powers -> y\nsegment flipped -> t\nsegment sums -> s\n";
    let cut = kept.path().join("cut.txt");
    fs::write(&cut, text).unwrap();
    let folder = kept.path().join("segments");
    fine(&format!("segment {path} --segmentation {} --output {}", cut.display(), folder.display()));
    let explained = fine(&format!("explain {} {SIZES}", folder.display()));
    let ran = fine(&format!("run {} {SIZES} --check", folder.display()));
    let row = |text: &str| {
        let row = text.lines().find(|line| line.starts_with("flipped ")).expect("a row").to_owned();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row(&explained), ["flipped", "0", "0", "B", "0", "B", "0", "view", "0"], "{explained}");
    assert_eq!(row(&ran), ["flipped", "0", "y", "t", "0", "B", "view"], "{ran}");
    assert!(explained.contains("448 B moved"), "{explained}");
    let whole = fine(&format!("explain {path} --segmentation {} {SIZES}", cut.display()));
    assert!(whole.lines().any(|line| line.starts_with("flipped ") && line.contains("kernel")), "{whole}");
}

/// A folder for another machine has the cut that `explain` says for it.
#[test]
fn a_definition_is_cut_for_any_machine() {
    let kept = tempfile::tempdir().unwrap();
    for (target, segments) in [("avx2", 1), ("h200", 2)] {
        let folder = kept.path().join(target);
        let line = format!("examples/batch_norm.py --target {target}");
        fine(&format!("segment {line} --output {}", folder.display()));
        let text = fine(&format!("explain {line} --json"));
        let explained: Value = serde_json::from_str(&text).unwrap();
        let count = |value: &Value| value["segments"].as_array().unwrap().len();
        assert_eq!([count(&index(&folder)), count(&explained)], [segments; 2], "{target}");
    }
}
