//! All file tests pass (or are blessed, if the environment says so); one that should fail does.

use std::fs;

use super::{ferrofuse, root};

#[test]
fn all_pass() {
    let ended = ferrofuse(["test"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stdout.contains(" 0 skipped,"), "{}", ended.stdout);
    let stages = fs::read_dir(root().join("tests")).unwrap().filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.is_dir()
            && path
                .read_dir()
                .unwrap()
                .any(|file| file.unwrap().path().extension().is_some_and(|e| e == "py"))
    });
    assert!(stages.count() >= 10, "every stage has tests");
}

#[test]
fn a_wrong_expectation_is_shown_and_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("parse")).unwrap();
    let text = "def f(fd):\n    x = fd.define_tensor(shape=[3])\n    fd.add_output(x)\n\n# ---- expect\n# nonsense\n";
    let path = folder.path().join("parse/wrong.py");
    fs::write(&path, text).unwrap();
    let folder_option = folder.path().to_str().unwrap();
    let ended = ferrofuse(["test", "wrong", "--folder", folder_option]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stdout.contains("FAILED parse/wrong.py\n    - nonsense\n    + def nvfuser_fusion"),
        "{}",
        ended.stdout
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(ferrofuse(["test", "no such test"]).code, 2);
    assert_eq!(ferrofuse(["test", "--folder", "no/such/folder"]).code, 2);
}
