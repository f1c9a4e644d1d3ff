//! The memory and file descriptors that this machine allows the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::{Path, PathBuf};

const MEGABYTE: u64 = 1 << 20;
/// Used if the amount of memory cannot be determined.
const ASSUMED_MEMORY: u64 = 1 << 30;
/// The default budget of requests is half of the memory, but not less than this unless that is nearly all of it.
const MIN_BUDGET: u64 = 256 * MEGABYTE;
/// A generous estimate of the memory of an idle connection.
const CONNECTION_BYTES: u64 = 64 * 1_024;
/// Descriptors reserved for the store and for files of exports and imports: an eighth, within these bounds.
const RESERVED_DESCRIPTORS: (u64, u64) = (12, 256);
/// More connections than this are a mistake.
const MAX_CONNECTIONS: u64 = 100_000;
/// How many descriptors a thread with a runtime of its own opens.
const DESCRIPTORS_PER_THREAD: u64 = 4;
/// Runtimes besides those of worker threads: one accepts, one does TLS handshakes, background tasks share one.
const OTHER_RUNTIMES: u64 = 3;

/// The default memory budget of requests.
pub fn default_budget() -> u64 {
    budget_for(memory())
}

fn budget_for(memory: u64) -> u64 {
    (memory / 2).max(MIN_BUDGET.min(memory / 4 * 3))
}

/// The memory that this process may use: what the machine has, or what its control groups allow.
fn memory() -> u64 {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = cgroup_files(&groups).into_iter().filter_map(|file| read_number(&file));
    limits.chain(physical_memory()).filter(|limit| *limit > 0).min().unwrap_or(ASSUMED_MEMORY)
}

fn physical_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}

/// Reads a number from a file; `None` for `max`.
fn read_number(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The files with the memory limits of the groups in `/proc/self/cgroup` and their ancestors, of both cgroup versions.
fn cgroup_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|it| it == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let below = Path::new(path.trim_start_matches('/'));
        files.extend(below.ancestors().map(|group| Path::new(root).join(group).join(name)));
    }
    files
}

/// Raises the limit of open files as far as the process may, and returns how many connections that allows besides what is
/// open and what is still to be opened.
pub fn default_max_connections(budget: u64, threads: usize) -> usize {
    let limit = raise_descriptor_limit();
    let open = std::fs::read_dir("/dev/fd").map_or(0, |entries| entries.count() as u64);
    max_connections(limit, open + DESCRIPTORS_PER_THREAD * (threads as u64 + OTHER_RUNTIMES), budget)
}

fn max_connections(descriptors: u64, taken: u64, budget: u64) -> usize {
    let reserved = (descriptors / 8).clamp(RESERVED_DESCRIPTORS.0, RESERVED_DESCRIPTORS.1);
    let left = descriptors.saturating_sub(taken + reserved);
    left.min(budget / 4 / CONNECTION_BYTES).clamp(4, MAX_CONNECTIONS) as usize
}

fn raise_descriptor_limit() -> u64 {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { raised } else { before };
    now.current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_versions_are_found_with_their_ancestors() {
        let files = cgroup_files("0::/a/b\n");
        let shown: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
        assert_eq!(
            shown,
            ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"]
        );
        let files = cgroup_files("3:cpu,memory:/x\n2:cpuset:/y\n1:name=systemd:/z\n");
        assert_eq!(files.len(), 2);
        assert!(files[0].ends_with("memory/x/memory.limit_in_bytes"));
        assert!(cgroup_files("").is_empty() && cgroup_files("nonsense").is_empty());
    }

    #[test]
    fn default_limits_leave_memory_and_descriptors() {
        assert_eq!(budget_for(16 << 30), 8 << 30);
        assert_eq!(budget_for(400 * MEGABYTE), 256 * MEGABYTE);
        assert_eq!(budget_for(200 * MEGABYTE), 150 * MEGABYTE);
        assert_eq!(max_connections(64, 30, 8 << 30), 22);
        assert_eq!(max_connections(20, 30, 8 << 30), 4);
        assert_eq!(max_connections(1 << 20, 30, 256 * MEGABYTE), 1_024);
        assert!(memory() > 0 && default_budget() > 0);
    }
}
