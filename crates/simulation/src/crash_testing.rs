//! Work on a data folder with a failing disk: crashes at every call, and disks that reject writes.

use crate::disk::{Disk, Faults};
use crate::image::Image;
use crate::intercept;
use partita_list_append::random::Random;
use std::path::{Path, PathBuf};

/// Runs `work` on the folder repeatedly, with a power loss, or a kill, at every call in turn. Each time `check` inspects
/// what is left, and finally the result of an undisturbed run. Returns the number of calls.
pub fn crash_at_each_call(
    image: &Image,
    only_kills: bool,
    work: impl Fn(&Path) + Sync,
    check: impl Fn(&Path, &str),
) -> u64 {
    for call in 1.. {
        let folders = tempfile::Builder::new().prefix("folder").tempdir().expect("a temporary folder");
        let root = folders.path().canonicalize().expect("it is there");
        let disk = with_disk(&root.join("before"), image, call, |disk| disk.only_kills = only_kills, &work);
        let Some(left) = disk.left else {
            check(&root.join("before"), "no crash");
            return call - 1;
        };
        left.write(&root.join("left")).expect("what is left can be written");
        check(&root.join("left"), &format!("crash at call {call}, seed {call}\n{}", disk.trace.last()));
    }
    unreachable!("some call is the last one")
}

/// Runs `work` in a folder of its own whose disk does not fail until `set_faults` is called.
pub fn on_a_failing_disk(image: &Image, work: impl Fn(&Path) + Sync) {
    let folders = tempfile::Builder::new().prefix("folder").tempdir().expect("a temporary folder");
    let root = folders.path().canonicalize().expect("it is there");
    with_disk(&root.join("failing"), image, u64::MAX, |_| {}, &work);
}

/// Sets how the disk of this thread fails from now on.
pub fn set_faults(faults: Faults) {
    intercept::with(|disk| disk.faults = faults);
}

fn with_disk(
    folder: &Path,
    image: &Image,
    crash_at: u64,
    set_up: impl Fn(&mut Disk) + Sync,
    work: &(impl Fn(&Path) + Sync),
) -> Disk {
    image.write(folder).expect("the folder can be made");
    let run = || {
        let mut disk = Disk::new(PathBuf::from("/nowhere"), Random::new(crash_at), None);
        disk.restart(folder.to_path_buf(), image, intercept::inode_of);
        disk.has_other_writers = true;
        disk.crash_at = Some(crash_at);
        set_up(&mut disk);
        intercept::install(disk);
        work(folder);
        intercept::uninstall().expect("it was installed")
    };
    // On a thread of its own, which has no other disk.
    std::thread::scope(|scope| scope.spawn(run).join()).expect("the work does not panic")
}
