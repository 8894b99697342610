//! Every verb with every option that its help lists.

use std::fs;

use serde_json::Value;

use super::{definition, ferrofuse, files, fine, root};

const SOFTMAX: &str = "run examples/softmax.py --size i0=5 --size i1=33";

fn json(line: &str) -> Value {
    serde_json::from_str(&fine(line)).expect("JSON on stdout")
}

#[test]
fn a_reproducer_runs_as_nvfuser_prints_it() {
    let text = fine("run tests/run/reproducer_of_nvfuser.py --check");
    assert!(text.contains("matches the evaluator"), "{text}");
}

#[test]
fn run_checks_and_times() {
    let text = fine(&format!("{SOFTMAX} --check --time --threads 2 --seed 3"));
    for expected in
        ["segment", "seg0", "kernel", "largest error over its bound", "matches the evaluator", "compile"]
    {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
    let object = json(&format!("{SOFTMAX} --check --time --json"));
    assert_eq!(object["matches"], true);
    assert_eq!(object["outputs"][0]["sizes"], serde_json::json!([5, 33]));
    assert!(object["outputs"][0]["check"]["error_over_bound"].as_f64().is_some_and(|ratio| ratio <= 1.0));
    assert!(object["kernels"][0]["ms"].as_f64().is_some_and(|ms| ms >= 0.0));
}

#[test]
fn run_writes_outputs_that_read_back_as_inputs() {
    let (folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    s = fd.define_scalar(None, dtype=DataType.Double)
    y = fd.ops.mul(x, s)
    z = fd.ops.cast(x, dtype=DataType.BFloat16)
    fd.add_output(y)
    fd.add_output(z)
    fd.add_output(y)
",
    );
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let run = |input: &str, output: &std::path::Path| {
        fine(&format!("run {path} {input} --input s=0.5 --check --output {}", output.display()));
    };
    run("--size i0=3 --size i1=4", &first);
    assert_eq!(files(&first), ["outputs.safetensors", "y.npy", "y_1.npy"]);
    assert_eq!(fs::read(first.join("y.npy")).unwrap(), fs::read(first.join("y_1.npy")).unwrap());
    run(&format!("--input x={}", first.join("y.npy").display()), &second);
    let elements = |folder: &std::path::Path| -> Vec<f32> {
        let bytes = fs::read(folder.join("y.npy")).unwrap();
        bytes[bytes.len() - 48..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let halved: Vec<f32> = elements(&first).iter().map(|x| x * 0.5).collect();
    assert_eq!(elements(&second), halved);
}

/// Their bytes nearly fill 64 bits, so that no sum of them may be computed without a check.
#[test]
fn sizes_beyond_any_machine_are_explained() {
    for example in ["layer_norm_backward", "gelu_bias"] {
        let sizes = "--size i0=4611686018427387000 --size i1=1";
        let text = fine(&format!("explain examples/{example}.py {sizes}"));
        assert!(text.contains(" moved, "), "{text}");
    }
}

#[test]
fn results_do_not_depend_on_threads_and_do_on_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    let output = |name: &str, options: &str| {
        let place = folder.path().join(name);
        let sizes = "--size i0=64 --size i1=300";
        fine(&format!("run examples/softmax.py {sizes} {options} --output {}", place.display()));
        fs::read(place.join("outputs.safetensors")).unwrap()
    };
    let one = output("one", "--threads 1 --seed 5");
    assert_eq!(one, output("two", "--threads 2 --seed 5"));
    assert_ne!(one, output("other", "--threads 2 --seed 6"));
}

#[test]
fn explain_needs_no_data() {
    assert!(fine("explain examples/softmax.py").contains("traffic ratio"));
    assert!(fine("explain tests/segments/a_scalar_gives_a_size.py").contains("128.5 KiB moved"));
    let object = json("explain examples/layer_norm_backward.py --json --size i0=128 --target avx2");
    for key in ["segments", "edges", "bytes", "compulsory_bytes", "traffic_ratio"] {
        assert!(!object[key].is_null(), "{key}");
    }
    let segment = &object["segments"][0];
    for key in ["name", "ops", "inputs", "outputs", "recomputed", "schedule", "passes"] {
        assert!(!segment[key].is_null(), "{key}");
    }
}

/// If a tensor's declared layout is column-major, the lanes take the first axis, whether its sizes are known or not.
#[test]
fn schedules_follow_the_declared_layouts_of_inputs() {
    for shape in ["512, 1024", "-1, -1"] {
        let (_folder, path) = super::definition(&format!(
            "def columns(fd):\n    x = fd.define_tensor(shape=[{shape}], contiguity=True, stride_order=[0, 1])\n    \
             fd.add_output(fd.ops.sum(x, dims=[1]))\n"
        ));
        let schedule = fine(&format!("emit {path} --stage schedule --target avx2"));
        assert!(schedule.contains("lane x0"), "{shape}: {schedule}");
    }
}

#[test]
fn emit_prints_every_stage_of_every_example() {
    for example in files(&super::root().join("examples")) {
        for stage in
            ["definition", "graph", "optimized", "segments", "schedule", "kernel", "llvm", "asm", "cuda"]
        {
            let path = format!("examples/{example}");
            let is_whole = ["definition", "graph", "optimized", "segments"].contains(&stage);
            let segment = if is_whole { &[] } else { &["--segment", "0"][..] };
            let answer = ferrofuse(["emit", &path, "--stage", stage].iter().chain(segment));
            if example == "nanogpt_attention.py" && stage == "cuda" {
                assert!(answer.stderr.contains("which a library computes"), "{}", answer.stderr);
                continue;
            }
            assert_eq!(answer.code, 0, "{example} {stage}: {}", answer.stderr);
            assert!(answer.stdout.lines().count() > 0, "{example} {stage}");
        }
    }
    assert!(fine("emit examples/silu_mul.py --stage cuda --target sm_90").contains("__global__"));
    assert!(fine("emit examples/silu_mul.py --stage asm --target aarch64").contains("ret"));
    let rejected = ferrofuse(["emit", "examples/silu_mul.py", "--stage", "llvm", "--target", "sm_90"]);
    assert_eq!(rejected.code, 2, "{}", rejected.stderr);
    assert_eq!(ferrofuse(["emit", "examples/silu_mul.py", "--stage", "kernel", "--segment", "7"]).code, 2);
    let whole = ferrofuse(["emit", "examples/silu_mul.py", "--stage", "optimized", "--segment", "0"]);
    assert_eq!((whole.code, whole.stderr.contains("stage optimized is of the whole definition")), (2, true));
}

#[test]
fn segmentations_and_schedules_are_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let example = "examples/layer_norm_backward.py --size i0=16 --size i1=32";
    let segmentation = saved("segmentation", &fine(&format!("emit {example} --stage segments")));
    let schedule = saved("schedule", &fine(&format!("emit {example} --stage schedule --segment 0")));
    let given = format!("--segmentation {segmentation} --schedule 0={schedule}");
    assert!(fine(&format!("run {example} {given} --check")).contains("matches the evaluator"));
    // Without a search there are no search numbers, and times differ between runs.
    let same = |options: &str| {
        let text = fine(&format!("explain {example} --json {options}"));
        text.lines().filter(|line| !line.contains("\"search_")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(same(""), same(&given));
    let wrong = saved("wrong", "segment seg0 => nothing\n");
    let rejected = ferrofuse(["run", "examples/softmax.py", "--segmentation", &wrong]);
    assert!(rejected.code == 2 && rejected.stderr.contains("line 1"), "{}", rejected.stderr);
    let rejected = ferrofuse(["run", "examples/softmax.py", "--schedule", &format!("0={wrong}")]);
    assert!(rejected.code == 2 && rejected.stderr.contains("line 1"), "{}", rejected.stderr);
    let [first, second] = [format!("seg0={schedule}"), format!("0={wrong}")];
    let rejected = ferrofuse(["run", "examples/softmax.py", "--schedule", &first, "--schedule", &second]);
    assert!(
        rejected.code == 2 && rejected.stderr.contains("--schedule: seg0 has two"),
        "{}",
        rejected.stderr
    );
}

/// Segments are called as the user's segmentation calls them, in whatever order it has them.
#[test]
fn segments_keep_the_names_of_a_segmentation() {
    let (folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.ops.exp(x)
    total = fd.ops.sum(y, dims=[1], keepdim=True)
    z = fd.ops.div(y, total)
    fd.add_output(z)
",
    );
    let written = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let text = "segment scaled -> z\nsegment sums -> total\n";
    let cut = written("cut", text);
    let given = format!("{path} --segmentation {cut} --size i0=6 --size i1=20");
    let names = |explained: &serde_json::Value| -> Vec<String> {
        let segments = explained["segments"].as_array().unwrap().iter();
        segments.map(|segment| segment["name"].as_str().unwrap().to_owned()).collect()
    };
    let explained = json(&format!("explain {given} --json"));
    assert_eq!(names(&explained), ["sums", "scaled"]);
    assert_eq!([&explained["edges"][0]["from"], &explained["edges"][0]["to"]], ["sums", "scaled"]);
    let text = fine(&format!("explain {given}"));
    assert!(text.contains("\nscaled: z <- x, total\n") && text.contains("sums -> scaled: total"), "{text}");
    let emitted = fine(&format!("emit {given} --stage segments"));
    assert_eq!(emitted, "segment sums -> total\nsegment scaled -> z\n");
    assert!(fine(&format!("emit {given} --stage kernel --segment 1")).starts_with("# scaled\nkernel seg1("));
    let rows = written("rows", "schedule lanes 8\nrow x0\ninner x1\nlane x1\n");
    let scheduled = json(&format!("explain {given} --schedule scaled={rows} --json"));
    let schedule = |number: usize| scheduled["segments"][number]["schedule"].as_str().unwrap().to_owned();
    assert!(schedule(1).starts_with("schedule lanes 8\nrow x0") && !schedule(0).contains("row x0"));
    let ran = fine(&format!("run {given} --schedule sums={rows} --schedule 1={rows} --check"));
    assert!(ran.contains("\nsums ") && ran.contains("\nscaled ") && ran.contains("matches"), "{ran}");
    let parts = folder.path().join("parts").display().to_string();
    fine(&format!("segment {given} --output {parts}"));
    assert!(fine(&format!("run {parts} --size i0=6 --size i1=20 --time")).contains("\nscaled.seg0 "));
    assert_eq!(names(&json(&format!("explain {parts} --size i0=6 --size i1=20 --json"))), ["sums", "scaled"]);
    let rejected = |options: &str| {
        let ended = ferrofuse(format!("explain {given} {options}").split_whitespace());
        assert_eq!(ended.code, 2, "{}", ended.stdout);
        ended.stderr
    };
    let unknown = rejected(&format!("--schedule rest={rows}"));
    assert!(unknown.contains("there is no segment `rest`: there are sums, scaled"), "{unknown}");
    let twice = rejected(&format!("--schedule scaled={rows} --schedule 1={rows}"));
    assert!(twice.contains("--schedule: seg1 has two"), "{twice}");
    let wrong = written("wrong", "schedule lanes 8\nrow x7\ninner x1\n");
    let unfit = rejected(&format!("--schedule scaled={wrong}"));
    assert!(unfit.contains("the schedule of scaled does not fit it: the segment has no axis x7"), "{unfit}");
}

/// Not by the number of a node alone.
#[test]
fn errors_about_schedules_name_values_and_lines() {
    let (folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    t4 = fd.ops.neg(x)
    total = fd.ops.sum(t4, dims=[1])
    fd.add_output(total)
",
    );
    let schedule = folder.path().join("rows");
    fs::write(&schedule, "schedule lanes 8\nrow x0\ninner x1\nlane x1\npersist n2\n").unwrap();
    for verb in ["explain", "run", "emit --stage kernel"] {
        let given = format!("{verb} {path} --size i0=4 --size i1=8 --schedule 0={}", schedule.display());
        let error = ferrofuse(given.split_whitespace()).stderr;
        let said = "n2, which is `total` (`sum` on line 4), cannot persist from stage to stage";
        assert!(error.contains(said), "{verb}: {error}");
    }
}

#[test]
fn ops_lists_every_row() {
    let rows = json("ops --json");
    let rows = rows.as_array().unwrap();
    let named =
        |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(named("add")["signature"], "add(lhs, rhs)");
    assert_eq!(named("add")["ulp"], 0.5);
    assert!(named("silu")["expression"].is_string());
    assert!(named("sum")["signature"].as_str().unwrap().starts_with("sum(arg, dims=None"));
    assert!(rows.iter().all(|row| row["doc"].as_str().is_some_and(|doc| !doc.is_empty())));
    assert!(rows.len() > 90);
    let text = fine("ops");
    assert!(rows.iter().all(|row| text.contains(row["signature"].as_str().unwrap())));
}

#[test]
fn doctor_says_what_there_is() {
    let text = fine("doctor");
    for expected in
        ["libLLVM", "CPU", "NVRTC        12.9", "cuBLASLt     12.9.1", "threads", "targets", "cache"]
    {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
}

#[test]
fn help_names_what_there_is() {
    let text = fine("--help");
    let verbs = ["run", "explain", "segment", "emit", "ops", "bench", "cache", "doctor", "test", "fuzz"];
    for verb in verbs {
        assert!(text.contains(&format!("  {verb} ")), "{verb} is missing:\n{text}");
        assert!(fine(&format!("{verb} --help")).contains("Usage:"));
    }
    assert!(fine("--version").starts_with("ferrofuse "));
}

#[test]
fn explain_draws_the_segments_and_compares() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (svg, html) = (folder.path().join("segments.svg"), folder.path().join("segments.html"));
    let file = "examples/reduction_broadcast_add.py";
    let (svg_path, html_path) = (svg.display(), html.display());
    let text = fine(&format!("explain {file} --svg {svg_path} --html {html_path} --compare greedy"));
    assert!(text.contains("greedy: 2 segments, "), "{text}");
    let drawn = std::fs::read_to_string(&svg).expect("the picture");
    assert!(drawn.starts_with("<svg ") && drawn.contains(">seg0: ") && drawn.contains(">seg1: "), "{drawn}");
    assert!(drawn.contains("seg1 reads ") && drawn.contains("marker-end"), "{drawn}");
    let page = std::fs::read_to_string(&html).expect("the page");
    assert!(page.starts_with("<!doctype html>") && page.contains("<td>greedy</td>"), "{page}");
    assert!(page.contains("<td>unfused</td>") && page.contains("<details>"), "{page}");
    let unfused = fine("explain examples/softmax.py --compare unfused --json");
    let report: serde_json::Value = serde_json::from_str(&unfused).expect("one object");
    assert!(report["compared"]["segments"].as_u64() > Some(5), "{report}");
    assert!(report["compared"]["bytes"].as_u64() > report["bytes"].as_u64(), "{report}");
}

#[test]
fn explain_says_what_differs_from_another_definition_or_a_saved_explanation() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let saved = folder.path().join("unfused.json");
    let (file, sizes) = ("examples/reduction_broadcast_add.py", "--size i0=64 --size i1=64");
    let text = fine(&format!("explain {file} {sizes} --json"));
    std::fs::write(&saved, &text).expect("the saved explanation");
    let saved = saved.display();
    assert_eq!(fine(&format!("explain {file} {sizes} --against {saved}")), "no difference\n");
    assert_eq!(fine(&format!("explain {saved} --against {file} {sizes}")), "no difference\n");
    let other = "examples/layer_norm.py";
    let said = fine(&format!("explain {file} --against {other}"));
    assert!(said.contains(&format!("only in {other}: a segment that writes ")), "{said}");
    let larger = fine(&format!("explain {file} --size i0=128 --size i1=64 --against {saved}"));
    assert!(larger.contains("moved") && !larger.contains("only in"), "{larger}");
    let report: Value =
        serde_json::from_str(&fine(&format!("explain {file} --against {other} --json"))).unwrap();
    assert!(report["difference"]["only_second"].as_array().is_some_and(|made| !made.is_empty()), "{report}");
    let ended = super::ferrofuse(["explain", &saved.to_string(), "--compare", "greedy"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("a saved explanation has no other segmentation"), "{}", ended.stderr);
    let ended = super::ferrofuse(["explain", &saved.to_string(), "--size", "i0=4"]);
    assert!(ended.code == 2 && ended.stderr.contains("--size: a saved explanation"), "{}", ended.stderr);
    let ended = super::ferrofuse(["explain", &saved.to_string(), "--target", "sm_90"]);
    assert!(ended.code == 2 && ended.stderr.contains("--target: a saved explanation"), "{}", ended.stderr);
    let mut damaged: Value = serde_json::from_str(&text).unwrap();
    damaged["segments"][0]["cost_us"]["launch"] = serde_json::json!(-1);
    std::fs::write(folder.path().join("unfused.json"), damaged.to_string()).expect("the damaged explanation");
    let ended = super::ferrofuse(["explain", file, "--against", &saved.to_string()]);
    assert!(
        ended.code == 2 && ended.stderr.contains("segments[0].cost_us.launch is no time"),
        "{}",
        ended.stderr
    );
}

#[test]
fn explain_names_files_that_are_no_saved_explanation() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let map = folder.path().join("index_map.json");
    for (text, why) in [
        ("[1, 2]", "it has no list of segments"),
        (r#"{"seg0": {}}"#, "it has no list of segments"),
        ("{", "EOF while parsing"),
    ] {
        std::fs::write(&map, text).expect("the file");
        let ended = super::ferrofuse(["explain", &map.display().to_string()]);
        let said = format!("index_map.json: not a saved explanation: {why}");
        assert!(ended.code == 2 && ended.stderr.contains(&said), "{}", ended.stderr);
        assert!(ended.stderr.contains("`ferrofuse explain FILE --json` prints one"), "{}", ended.stderr);
    }
}

/// Earlier versions reported fewer facts, and later ones may report more.
#[test]
fn explanations_of_other_versions_are_compared_in_what_both_say() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (earlier, later) = (folder.path().join("earlier.json"), folder.path().join("later.json"));
    let file = "examples/reduction_broadcast_add.py";
    let mut said = json(&format!("explain {file} --json"));
    said["more"] = serde_json::json!({"than": "now"});
    std::fs::write(&later, said.to_string()).expect("the later explanation");
    for key in ["assumed", "peak_bytes", "peak_formula", "cost_us", "gap", "optimal", "search_steps"] {
        said.as_object_mut().expect("an object").remove(key);
    }
    for segment in said["segments"].as_array_mut().expect("segments") {
        for key in ["operations", "saved", "peak_bytes", "cost_us", "bytes", "bytes_formula"] {
            segment.as_object_mut().expect("an object").remove(key).expect("what is printed now");
        }
    }
    std::fs::write(&earlier, said.to_string()).expect("the earlier explanation");
    let (earlier, later) = (earlier.display(), later.display());
    assert_eq!(fine(&format!("explain {later} --against {file}")), "no difference\n");
    let unsaid = "not compared, as an earlier version does not say it: model's time, moves, peak memory\n";
    for line in
        [format!("explain {earlier} --against {later}"), format!("explain {file} --against {earlier}")]
    {
        assert_eq!(fine(&line), format!("no difference\n{unsaid}"));
    }
    let said = fine(&format!("explain {earlier} --against {file} --size i0=64 --size i1=64"));
    assert!(
        said.contains("compulsory") && !said.contains("peak memory  ") && said.ends_with(unsaid),
        "{said}"
    );
    let ended = super::ferrofuse(["explain", &earlier.to_string()]);
    let error = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let alone = "an earlier version, without model's time, moves, peak memory";
    assert!(ended.code == 2 && error.contains(alone), "{error}");
}

#[test]
fn fuzz_counts_what_it_checked() {
    let folder = tempfile::tempdir().unwrap();
    let object =
        json(&format!("fuzz --cases 6 --seed 40 --jobs 2 --json --output {}", folder.path().display()));
    assert_eq!((&object["cases"], &object["failures"]), (&serde_json::json!(6), &serde_json::json!([])));
    assert!(object["kernels"].as_u64().is_some_and(|kernels| kernels > 0));
    let hits = object["hits"].as_object().unwrap();
    assert!(hits.values().filter_map(Value::as_u64).sum::<u64>() > 6 && hits.contains_key("softmax"));
    assert_eq!(files(folder.path()), [] as [&str; 0]);
}

/// The deterministic part of the fuzzing on the stand-in.
#[test]
fn random_programs_are_right_on_a_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().display();
    let object =
        json(&format!("fuzz --device cuda --cases 10 --seed 29000 --jobs 2 --json --output {output}"));
    assert_eq!((&object["cases"], &object["failures"]), (&serde_json::json!(10), &serde_json::json!([])));
    assert!(object["kernels"].as_u64().is_some_and(|kernels| kernels > 10), "{object}");
}

#[test]
fn kernels_have_names_in_perf() {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_ferrofuse"))
        .args(["run", "examples/silu_mul.py", "--size", "i0=4", "--size", "i1=40"])
        .current_dir(root())
        .env("FERROFUSE_PERF", "1")
        .env("FERROFUSE_CACHE", "none")
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the binary was built");
    let path = format!("/tmp/perf-{}.map", run.id());
    assert!(run.wait_with_output().expect("ends").status.success());
    let map = fs::read_to_string(&path).expect("the list of kernels");
    fs::remove_file(&path).expect("it can be removed");
    let words: Vec<&str> = map.lines().next().expect("a kernel").split(' ').collect();
    assert!(words.len() == 3 && words[..2].iter().all(|word| u64::from_str_radix(word, 16).is_ok()), "{map}");
    assert_eq!(words[2], "ferrofuse::seg0");
}

/// Short names read back to the same definition, and only definitions have them.
#[test]
fn definitions_are_printed_with_short_names() {
    let long = fine("emit examples/softmax.py --stage definition");
    let short = fine("emit examples/softmax.py --stage definition --names short");
    assert!(short.contains("T1 = fd.ops.cast(T0") && !short.contains("tv0"), "{short}");
    let (_folder, path) = definition(&short);
    assert_eq!(fine(&format!("emit {path} --stage definition --names long")), long);
    assert!(fine("emit examples/softmax.py --stage optimized --names short").contains("T0 = fd."));
    let ended = ferrofuse("emit examples/softmax.py --stage kernel --names short".split(' '));
    assert!(ended.code == 2 && ended.stderr.contains("--names: stage kernel"), "{}", ended.stderr);
}

#[test]
fn an_input_that_is_returned_is_said_to_be_one() {
    let (_folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    fd.add_output(x)
    fd.add_output(fd.ops.exp(x))
",
    );
    let text = fine(&format!("explain {path} --size i0=4"));
    assert!(text.contains("x is the input itself: no bytes moved for it"), "{text}");
}

/// A sum of complex numbers rounds in each part, as one of floats does.
#[test]
fn sums_of_complex_numbers_are_not_exact() {
    let ops: Vec<serde_json::Value> = serde_json::from_str(&fine("ops --json")).unwrap();
    for (name, c64) in
        [("add", "within 0.5 ulp in each part"), ("sub", "within 0.5 ulp in each part"), ("neg", "exact")]
    {
        let op = ops.iter().find(|op| op["name"] == name).unwrap();
        assert_eq!((&op["error"]["c64"], &op["error"]["i64"]), (&c64.into(), &"exact".into()), "{name}");
    }
}
