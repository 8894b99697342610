//! What the system says of memory and caches.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the largest cache, as Linux reports them; 32 MiB if it does not.
pub fn last_level_cache() -> usize {
    let size = |index: u32| {
        let text =
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<usize>().ok().map(|kib| kib << 10)
    };
    (0..5).filter_map(size).max().unwrap_or(32 << 20)
}

/// The memory that the process may use: the machine's, or the control group's limit if that is less.
pub fn memory_of_process() -> usize {
    // SAFETY: asks for two numbers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let of_machine = match (usize::try_from(pages), usize::try_from(page)) {
        (Ok(pages), Ok(page)) => pages.saturating_mul(page),
        _ => isize::MAX as usize,
    };
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_group = limit_files(&groups).filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    of_group.fold(of_machine, usize::min)
}

/// The files with the memory limits of control groups and of all that contain them, given what `/proc/self/cgroup` says. In
/// a container the path of the group may be that outside of it: then the file at the root has the limit.
fn limit_files(groups: &str) -> impl Iterator<Item = PathBuf> {
    let of_group = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = PathBuf::from(path.trim_start_matches('/'));
        let files: Vec<PathBuf> =
            group.ancestors().map(|group| Path::new(root).join(group).join(file)).collect();
        Some(files)
    };
    let files: Vec<PathBuf> = groups.lines().filter_map(of_group).flatten().collect();
    files.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_all_groups_around_a_process_count() {
        let files: Vec<String> = limit_files("4:cpu,memory:/a/b\n3:cpuset:/c\n0::/user.slice/job\n")
            .map(|file| file.display().to_string())
            .collect();
        assert_eq!(
            files,
            [
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/user.slice/job/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(limit_files("no group").count(), 0);
    }
}
