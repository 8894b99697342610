//! Entries come back as they were written or not at all, whatever happens to the files.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use llvm::LlvmOptions;
use tempfile::TempDir;

use super::*;
use crate::tests::in_a_child;

fn cache(limit: u64) -> (TempDir, ObjectCache) {
    let home = tempfile::tempdir().expect("a folder for the test");
    let folder = home.path().join("caches/ferrofuse");
    let cache = ObjectCache::open(CacheOptions { folder, limit }).expect("a cache in it");
    (home, cache)
}

fn key(number: usize) -> Key {
    Key::new(&["a test", &number.to_string()])
}

fn file(cache: &ObjectCache, key: &Key) -> PathBuf {
    cache.path().join(key.file_name())
}

#[test]
fn what_was_put_comes_back_in_a_private_folder() {
    let (_home, cache) = cache(1 << 20);
    assert_eq!(cache.get(&key(0)), None);
    cache.put(&key(0), b"machine code");
    assert_eq!(cache.get(&key(0)).as_deref(), Some(b"machine code".as_slice()));
    assert_eq!(cache.get(&key(1)), None, "another key");
    let mode = fs::metadata(cache.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let expected = CacheStatistics { hits: 1, misses: 2, written: 1, ..CacheStatistics::default() };
    assert_eq!(cache.statistics(), expected);
}

#[test]
fn keys_tell_texts_apart_that_read_the_same_joined() {
    assert_ne!(Key::new(&["ab", "c"]), Key::new(&["a", "bc"]));
}

#[test]
fn any_flipped_bit_and_any_cut_is_found_and_written_anew() {
    let (_home, cache) = cache(1 << 20);
    let object: Vec<u8> = (0..64).collect();
    cache.put(&key(0), &object);
    let path = file(&cache, &key(0));
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 1 << (place % 8);
        fs::write(&path, &damaged).unwrap();
        assert_eq!(cache.get(&key(0)), None, "byte {place}");
        assert!(!path.exists(), "a damaged entry is taken away");
        fs::write(&path, &whole[..place]).unwrap();
        assert_eq!(cache.get(&key(0)), None, "cut to {place} bytes");
    }
    cache.put(&key(0), &object);
    assert_eq!(cache.get(&key(0)), Some(object));
    assert_eq!(cache.statistics().rejected, 2 * whole.len() as u64);
}

#[test]
fn an_entry_under_another_name_is_not_taken() {
    let (_home, cache) = cache(1 << 20);
    cache.put(&key(0), b"of key 0");
    fs::copy(file(&cache, &key(0)), file(&cache, &key(1))).unwrap();
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    let (_home, cache) = cache(1 << 20);
    fs::set_permissions(cache.path(), Permissions::from_mode(0o777)).unwrap();
    let rejected = ObjectCache::open(CacheOptions::new(cache.path().to_owned())).unwrap_err();
    assert!(rejected.to_string().contains("chmod 700"), "{rejected}");
    let file = cache.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(ObjectCache::open(CacheOptions::new(file)).is_err(), "a file is no folder");
}

#[test]
fn what_cannot_be_written_is_told_and_leaves_nothing() {
    let (_home, cache) = cache(1 << 20);
    // A folder where the entry's file should be: renaming fails for any user.
    fs::create_dir(file(&cache, &key(0))).unwrap();
    cache.put(&key(0), b"machine code");
    assert_eq!(cache.statistics().unwritten, 1);
    assert_eq!(cache.get(&key(0)), None);
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 2, "nothing half-written");
}

/// In a process of its own whose files may not grow, which is what a full disk looks like: the first bytes are written, the
/// others not.
#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let (_home, cache) = cache(1 << 20);
    in_a_child(|| {
        let min = libc::rlimit { rlim_cur: 100, rlim_max: 100 };
        // SAFETY: a limit and a signal of this process; both calls take what lives here.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &min), 0);
        }
        cache.put(&key(0), &[7; 1000]);
        assert_eq!(cache.statistics().unwritten, 1, "it is told");
        assert_eq!(cache.get(&key(0)), None);
    });
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1, "nothing half-written");
    cache.put(&key(0), &[7; 1000]);
    assert!(cache.get(&key(0)).is_some(), "there is room again");
}

#[test]
fn the_longest_unused_go_first() {
    let (_home, cache) = cache(8 << 10);
    let object = vec![7; 1 << 10];
    let then = SystemTime::now() - Duration::from_secs(1000);
    for number in 0..16 {
        cache.put(&key(number), &object);
        if let Ok(file) = File::open(file(&cache, &key(number))) {
            file.set_modified(then + Duration::from_secs(number as u64)).unwrap();
        }
    }
    assert!(cache.get(&key(0)).is_some() || cache.contents().entries < 16, "unless a put trimmed");
    cache.put(&key(0), &object);
    cache.trim();
    let contents = cache.contents();
    assert!(contents.bytes <= 6 << 10, "{contents:?}");
    assert!(cache.get(&key(0)).is_some(), "just used");
    assert!(cache.get(&key(15)).is_some(), "the newest of the others");
    assert!(cache.get(&key(1)).is_none(), "the oldest");
}

#[test]
fn what_a_killed_writer_left_is_swept() {
    let (_home, cache) = cache(1 << 20);
    in_a_child(|| {
        let temporary = files::Temporary::create(cache.path(), 0o600).unwrap();
        // Killed: nothing is dropped, and the system lets go of the lock.
        std::mem::forget(temporary);
    });
    let live = files::Temporary::create(cache.path(), 0o600).unwrap();
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 3);
    cache.trim();
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 2);
    assert!(live.path().exists(), "another process may still be writing");
}

/// Files of every kind that are not the cache's, some of which look nearly so.
fn foreign(folder: &Path) -> Vec<PathBuf> {
    let digest = "ab".repeat(32);
    let names = ["main.o", "notes.txt", "libllvm.json", ".writing-1-1", "0.o", ".ferrofuse-x"];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    paths.push(folder.join(format!("{digest}.o")));
    paths.push(folder.join(format!("{}.o", digest.to_uppercase())));
    paths.iter().for_each(|path| fs::write(path, "the user's").unwrap());
    // Our first bytes under another name.
    let copied = folder.join("copied.o");
    fs::write(&copied, entry::seal(&key(7), b"machine code")).unwrap();
    paths.push(copied);
    paths
}

#[test]
fn nothing_is_removed_that_the_cache_did_not_write() {
    let (_home, cache) = cache(1 << 10);
    let mut foreign = foreign(cache.path());
    let link = file(&cache, &key(1));
    std::os::unix::fs::symlink("notes.txt", &link).unwrap();
    foreign.push(link);
    let before: Vec<Vec<u8>> = foreign.iter().map(|path| fs::read(path).unwrap()).collect();
    (2..40).for_each(|number| cache.put(&key(number), &[7; 200]));
    cache.put(&key(1), b"machine code");
    assert_eq!(cache.get(&key(1)), None, "a link is not followed");
    cache.trim();
    assert!(cache.contents().bytes <= 1 << 10);
    assert!(cache.clear().unwrap().entries > 0);
    assert_eq!(cache.contents().entries, 0);
    let after: Vec<Vec<u8>> = foreign.iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_folder_of_other_files_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("main.o"), "the user's").unwrap();
    let rejected = ObjectCache::open(CacheOptions::new(home.path().to_owned())).unwrap_err();
    assert!(rejected.to_string().contains("main.o"), "{rejected}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn the_cache_of_an_earlier_version_is_used() {
    let (_home, cache) = cache(1 << 20);
    cache.put(&key(0), b"machine code");
    fs::remove_file(cache.path().join("CACHEDIR.TAG")).unwrap();
    fs::write(cache.path().join("libllvm.json"), "{}").unwrap();
    fs::write(cache.path().join(".writing-12-0"), "half").unwrap();
    let again = ObjectCache::open(CacheOptions::new(cache.path().to_owned())).unwrap();
    assert_eq!(again.get(&key(0)).as_deref(), Some(b"machine code".as_slice()));
    assert!(cache.path().join("CACHEDIR.TAG").exists());
}

#[test]
fn what_is_no_regular_file_is_passed_by() {
    let (_home, cache) = cache(1 << 20);
    let fifo = file(&cache, &key(0));
    for path in [&fifo, &cache.path().join("libllvm.json")] {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    assert_eq!(cache.get(&key(0)), None, "nobody waits for a writer");
    cache.put(&key(0), b"machine code");
    cache.trim();
    assert_eq!((cache.contents().entries, cache.clear().unwrap().entries), (0, 0));
    assert!(fifo.exists());
    assert!(cache.remembered(&LlvmOptions::default()).is_none());
}

/// As another user where the tests run as root, whom permissions do not stop.
#[test]
fn a_folder_that_is_only_read_serves_what_it_has() {
    let (home, cache) = cache(1 << 20);
    cache.put(&key(0), b"machine code");
    let folder = cache.path().to_owned();
    // SAFETY: asks for a number.
    let root = unsafe { libc::geteuid() } == 0;
    if root {
        for path in [home.path(), &home.path().join("caches"), &folder, &file(&cache, &key(0))] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
        let rejected = ObjectCache::open(CacheOptions::new(folder.clone())).unwrap_err();
        assert!(rejected.to_string().contains("another user's"), "{rejected}");
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
    in_a_child(|| {
        // SAFETY: changes who this process is, which has one thread.
        assert!(!root || unsafe { libc::setgid(65534) == 0 && libc::setuid(65534) == 0 });
        let cache = ObjectCache::open(CacheOptions::new(folder.clone())).unwrap();
        assert_eq!(cache.get(&key(0)).as_deref(), Some(b"machine code".as_slice()));
        cache.put(&key(1), b"machine code");
        assert_eq!(cache.statistics().unwritten, 1);
        assert!(cache.clear().is_err(), "it is told that entries stay");
    });
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn many_writers_and_readers_of_one_entry_see_it_whole() {
    let (_home, cache) = cache(1 << 20);
    let cache = &cache;
    let object = vec![42; 100_000];
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| cache.put(&key(0), &object)));
            scope.spawn(|| {
                (0..50).filter_map(|_| cache.get(&key(0))).for_each(|found| assert_eq!(found, object))
            });
        }
    });
    let statistics = cache.statistics();
    assert_eq!((statistics.rejected, statistics.unwritten), (0, 0), "{statistics:?}");
}

#[test]
fn the_environment_says_where() {
    let folder_of = |variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| std::ffi::OsString::from(value))
        };
        CacheOptions::of_environment(variable).map(|options| options.folder)
    };
    let home = ("HOME", "/home/ada");
    assert_eq!(folder_of(&[home]), Some("/home/ada/.cache/ferrofuse".into()));
    assert_eq!(folder_of(&[home, ("XDG_CACHE_HOME", "/caches")]), Some("/caches/ferrofuse".into()));
    assert_eq!(folder_of(&[home, ("FERROFUSE_CACHE", "/here")]), Some("/here".into()));
    assert_eq!(folder_of(&[home, ("FERROFUSE_CACHE", "none")]), None);
    assert_eq!(folder_of(&[]), None);
}
