//! What this machine gives the process: memory and file descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::{Path, PathBuf};

const MEGABYTE: u64 = 1 << 20;
/// Taken where nothing says how much memory there is.
const ASSUMED_MEMORY: u64 = 1 << 30;
/// The usual budget of requests is half of the memory, and not less than this unless that is nearly all.
const LEAST_BUDGET: u64 = 256 * MEGABYTE;
/// What a connection takes while it does nothing, generously.
const CONNECTION_BYTES: u64 = 64 * 1_024;
/// Descriptors kept for the store and for files of exports and imports: an eighth, within these.
const KEPT_DESCRIPTORS: (u64, u64) = (12, 256);
/// More connections than this are a mistake.
const MOST_CONNECTIONS: u64 = 100_000;
/// What a thread with a runtime of its own opens.
const DESCRIPTORS_A_THREAD: u64 = 4;
/// Threads with a runtime beside those that serve requests: one accepts, one agrees on keys, those of the background share one.
const OTHER_THREADS: u64 = 3;

/// How much requests may take, unless the user says it.
pub fn usual_budget() -> u64 {
    budget_of(memory())
}

fn budget_of(memory: u64) -> u64 {
    (memory / 2).max(LEAST_BUDGET.min(memory / 4 * 3))
}

/// The memory that this process may have: what the machine has, or what its control groups allow.
fn memory() -> u64 {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = group_files(&groups).into_iter().filter_map(|file| number(&file));
    limits.chain(physical()).filter(|limit| *limit > 0).min().unwrap_or(ASSUMED_MEMORY)
}

fn physical() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}

/// A file that holds a number; `max` is none.
fn number(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The files that say how much memory the groups in `/proc/self/cgroup` and those above them may have, of both versions.
fn group_files(groups: &str) -> Vec<PathBuf> {
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

/// Raises the limit of open files as far as the process may, and says how many connections there can then be beside what
/// is open and what is still to be opened.
pub fn usual_connections(budget: u64, threads: usize) -> usize {
    let limit = raised_descriptors();
    let open = std::fs::read_dir("/dev/fd").map_or(0, |entries| entries.count() as u64);
    connections_of(limit, open + DESCRIPTORS_A_THREAD * (threads as u64 + OTHER_THREADS), budget)
}

fn connections_of(descriptors: u64, taken: u64, budget: u64) -> usize {
    let kept = (descriptors / 8).clamp(KEPT_DESCRIPTORS.0, KEPT_DESCRIPTORS.1);
    let left = descriptors.saturating_sub(taken + kept);
    left.min(budget / 4 / CONNECTION_BYTES).clamp(4, MOST_CONNECTIONS) as usize
}

fn raised_descriptors() -> u64 {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { raised } else { before };
    now.current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_versions_are_found_with_those_above_them() {
        let files = group_files("0::/a/b\n");
        let shown: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
        assert_eq!(
            shown,
            ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"]
        );
        let files = group_files("3:cpu,memory:/x\n2:cpuset:/y\n1:name=systemd:/z\n");
        assert_eq!(files.len(), 2);
        assert!(files[0].ends_with("memory/x/memory.limit_in_bytes"));
        assert!(group_files("").is_empty() && group_files("nonsense").is_empty());
    }

    #[test]
    fn the_usual_limits_leave_room() {
        assert_eq!(budget_of(16 << 30), 8 << 30);
        assert_eq!(budget_of(400 * MEGABYTE), 256 * MEGABYTE);
        assert_eq!(budget_of(200 * MEGABYTE), 150 * MEGABYTE);
        assert_eq!(connections_of(64, 30, 8 << 30), 22);
        assert_eq!(connections_of(20, 30, 8 << 30), 4);
        assert_eq!(connections_of(1 << 20, 30, 256 * MEGABYTE), 1_024);
        assert!(memory() > 0 && usual_budget() > 0);
    }
}
