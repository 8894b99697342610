//! Destinations of outputs: over no input and no other output, through symlinks, into devices and FIFOs, modes kept.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;

use super::{definition, ferrofuse, files};

const NEG: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(y)
inputs = [torch.randn(30)]
";

/// Runs words that must be rejected as the user's mistake; returns the error.
fn rejected(words: &[&str]) -> String {
    let ended = ferrofuse(words);
    assert_eq!(ended.code, 2, "{words:?}: {}", ended.stderr);
    ended.stderr
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn no_output_replaces_an_input_by_whichever_name() {
    let (folder, path) = definition(NEG);
    let at = |name: &str| folder.path().join(name).display().to_string();
    symlink("definition.py", at("soft.svg")).unwrap();
    fs::hard_link(&path, at("hard.svg")).unwrap();
    fs::create_dir(at("sub")).unwrap();
    for name in ["definition.py", "soft.svg", "hard.svg", "sub/../definition.py"] {
        for option in ["--svg", "--html"] {
            let error = rejected(&["explain", &path, option, &at(name)]);
            assert!(error.contains("the same file as the input"), "{error}");
        }
    }
    let choice = at("segmentation");
    fs::write(&choice, super::fine(&format!("emit {path} --stage segments"))).unwrap();
    rejected(&["explain", &path, "--segmentation", &choice, "--svg", &choice]);
    super::fine(&format!("run {path} --output {}", at("out")));
    let before = fs::read(at("out/y.npy")).unwrap();
    let input = format!("x={}", at("out/y.npy"));
    let error = rejected(&["run", &path, "--input", &input, "--output", &at("out")]);
    assert!(error.contains("y.npy"), "{error}");
    assert_eq!(fs::read(at("out/y.npy")).unwrap(), before);
    assert_eq!(fs::read_to_string(&path).unwrap(), NEG);
}

#[test]
fn no_output_replaces_another_or_standard_output() {
    let (folder, path) = definition(NEG);
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("sub")).unwrap();
    symlink("new", at("dangling")).unwrap();
    for (svg, html) in [("new", "new"), ("new", "sub/../new"), ("dangling", "new"), ("sub/x", "sub/../sub/x")]
    {
        let error = rejected(&["explain", &path, "--svg", &at(svg), "--html", &at(html)]);
        assert!(error.contains("the same file as the output"), "{error}");
        assert!(!Path::new(&at("new")).exists() && files(Path::new(&at("sub"))).is_empty());
    }
    let results = fs::File::create(at("results")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrofuse"));
    command.args(["explain", &path, "--svg", &at("results")]).stdout(results);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    // A device accepts both.
    super::fine(&format!("explain {path} --svg /dev/null --html /dev/null"));
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn outputs_go_through_symlinks_and_keep_modes() {
    let (folder, path) = definition(NEG);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("private.svg"), "old").unwrap();
    fs::set_permissions(at("private.svg"), Permissions::from_mode(0o600)).unwrap();
    symlink("private.svg", at("soft.svg")).unwrap();
    symlink("made.html", at("dangling.html")).unwrap();
    let (svg, html) = (at("soft.svg"), at("dangling.html"));
    super::fine(&format!("explain {path} --svg {} --html {}", svg.display(), html.display()));
    assert!(
        fs::symlink_metadata(&svg).unwrap().is_symlink() && fs::symlink_metadata(&html).unwrap().is_symlink()
    );
    assert!(fs::read_to_string(at("private.svg")).unwrap().starts_with("<svg"));
    assert!(fs::read_to_string(at("made.html")).unwrap().starts_with("<!doctype"));
    assert_eq!(mode(&at("private.svg")), 0o600);
    let umask = Command::new("sh").args(["-c", "umask"]).output().unwrap().stdout;
    let umask = u32::from_str_radix(String::from_utf8(umask).unwrap().trim(), 8).unwrap();
    assert_eq!(mode(&at("made.html")), 0o666 & !umask, "a new file is an ordinary one");
    // In a folder too.
    super::fine(&format!("run {path} --output {}", at("out").display()));
    fs::set_permissions(at("out/y.npy"), Permissions::from_mode(0o640)).unwrap();
    super::fine(&format!("run {path} --output {}", at("out").display()));
    assert_eq!(mode(&at("out/y.npy")), 0o640);
}

#[test]
fn fifos_and_pipes_are_written_into() {
    let (folder, path) = definition(NEG);
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = thread::spawn({
        let fifo = fifo.clone();
        move || fs::read_to_string(fifo).unwrap()
    });
    super::fine(&format!("explain {path} --svg {}", fifo.display()));
    assert!(reader.join().unwrap().starts_with("<svg"));
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    assert!(super::fine(&format!("explain {path} --svg /dev/stdout")).contains("<svg"));
    // Two outputs would be mixed in one FIFO.
    let fifo = fifo.to_str().unwrap();
    assert!(rejected(&["explain", &path, "--svg", fifo, "--html", fifo]).contains("the same file"));
}

#[test]
fn a_folder_in_the_way_of_one_output_stops_all() {
    let (folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[3])
    y = fd.ops.neg(x)
    z = fd.ops.exp(x)
    fd.add_output(y)
    fd.add_output(z)
",
    );
    let out = folder.path().join("out");
    fs::create_dir_all(out.join("z.npy")).unwrap();
    let error = rejected(&["run", &path, "--output", out.to_str().unwrap()]);
    assert!(error.contains("z.npy") && error.contains("directory"), "{error}");
    assert_eq!(files(&out), ["z.npy"]);
    let svg = folder.path().join("out/");
    assert!(rejected(&["explain", &path, "--svg", svg.to_str().unwrap()]).contains("directory"));
}

/// The binary at this path; run as another user if the tests run as root, whom permissions do not restrict.
fn unprivileged(binary: &Path) -> Command {
    // SAFETY: only returns a number.
    if unsafe { libc::geteuid() } != 0 {
        return Command::new(binary);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary);
    command
}

#[test]
fn what_may_not_be_written_stays() {
    // The other user must have access to the binary and the folder.
    let folder =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir_in("/tmp").unwrap();
    let at = |name: &str| folder.path().join(name);
    let binary = at("ferrofuse");
    fs::copy(env!("CARGO_BIN_EXE_ferrofuse"), &binary).unwrap();
    fs::write(at("definition.py"), NEG).unwrap();
    for name in ["closed", "open"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("picture.svg"), "old").unwrap();
        fs::set_permissions(at(name).join("picture.svg"), Permissions::from_mode(0o444)).unwrap();
    }
    fs::set_permissions(at("closed"), Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(at("open"), Permissions::from_mode(0o777)).unwrap();
    let definition = at("definition.py").display().to_string();
    for target in ["closed/picture.svg", "closed/new.svg", "open/picture.svg"] {
        let target = at(target).display().to_string();
        let mut command = unprivileged(&binary);
        command.args(["explain", &definition, "--svg", &target]).env("FERROFUSE_CACHE", "none");
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{target}: {told}");
        assert!(told.contains("ermission denied") && told.contains(&target), "{told}");
    }
    for name in ["closed", "open"] {
        assert_eq!(files(&at(name)), ["picture.svg"]);
        assert_eq!(fs::read_to_string(at(name).join("picture.svg")).unwrap(), "old");
    }
    fs::set_permissions(at("closed"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_full_disk_is_the_machines_fault_and_changes_nothing() {
    let (_folder, path) = definition(NEG);
    let error = ferrofuse(["explain", &path, "--svg", "/dev/full"]);
    assert!(error.code == 3 && error.stderr.contains("/dev/full"), "{}", error.stderr);
}

#[test]
fn an_output_stays_readable_while_it_is_replaced() {
    let (folder, path) = definition(NEG);
    let svg = folder.path().join("picture.svg");
    fs::write(&svg, "old").unwrap();
    let mut reader = fs::File::open(&svg).unwrap();
    super::fine(&format!("explain {path} --svg {}", svg.display()));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old", "who reads the old one reads it to the end");
}
