//! Entries come back as they were written or not at all, whatever happens to the files.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

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
    let refused = ObjectCache::open(CacheOptions::new(cache.path().to_owned())).unwrap_err();
    assert!(refused.to_string().contains("chmod 700"), "{refused}");
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
    assert_eq!(cache.statistics().refused, 1);
    assert_eq!(cache.get(&key(0)), None);
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1, "nothing half-written");
}

/// In a process of its own whose files may not grow, which is what a full disk looks like: the first bytes are written, the
/// others not.
#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let (_home, cache) = cache(1 << 20);
    in_a_child(|| {
        let least = libc::rlimit { rlim_cur: 100, rlim_max: 100 };
        // SAFETY: a limit and a signal of this process; both calls take what lives here.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &least), 0);
        }
        cache.put(&key(0), &[7; 1000]);
        assert_eq!(cache.statistics().refused, 1, "it is told");
        assert_eq!(cache.get(&key(0)), None);
    });
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0, "nothing half-written");
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
fn what_a_killed_writer_left_is_swept_in_time() {
    let (_home, cache) = cache(1 << 20);
    let [old, new] = [".writing-1-1", ".writing-2-2"].map(|name| cache.path().join(name));
    let aside = [&old, &new].map(|path| File::create(path).unwrap());
    aside[0].set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    cache.trim();
    assert!(!old.exists() && new.exists(), "another process may still be writing");
    cache.put(&key(0), b"machine code");
    let foreign = cache.path().join("notes.txt");
    fs::write(&foreign, "the user's").unwrap();
    assert_eq!(cache.clear().unwrap().entries, 1);
    assert!(!new.exists() && foreign.exists(), "only what the cache wrote");
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
    assert_eq!((statistics.rejected, statistics.refused), (0, 0), "{statistics:?}");
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
