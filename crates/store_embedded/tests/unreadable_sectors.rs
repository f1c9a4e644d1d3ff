//! Sectors that the disk cannot read: their contents are lost, and nothing else.
//!
//! Reads are intercepted at link time: a bad block returns an error until it is written. Its contents meanwhile are
//! garbage, so that anyone who reads it through a map is caught.
#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use libc::{c_char, c_int, c_uint, c_void, off64_t, size_t, ssize_t};
use partita_store::{Store, StoreError};
use partita_store_embedded::{EmbeddedStore, OpenError, Options, Pace, salvage, verify};
use support::{get, key, put, write};

const BLOCK: u64 = 4_096;
const ROWS: u32 = 2_000;

/// A bad block: its file, its offset, and how many reads of it fail.
struct BadBlock {
    inode: u64,
    at: u64,
    times: u32,
}

static BAD_BLOCKS: Mutex<Vec<BadBlock>> = Mutex::new(Vec::new());

/// A folder on a read-only disk.
static READ_ONLY: Mutex<Option<PathBuf>> = Mutex::new(None);

#[allow(unsafe_code, reason = "these functions are C's")]
mod intercepted {
    use super::*;

    fn inode_of(file: c_int) -> u64 {
        // SAFETY: A stat is plain numbers, which the call fills in.
        unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            libc::fstat(file, &raw mut found);
            found.st_ino
        }
    }

    fn blocks(offset: off64_t, count: size_t) -> std::ops::Range<u64> {
        offset as u64 / BLOCK * BLOCK..offset as u64 + count as u64
    }

    fn fail(error: c_int) {
        // SAFETY: The C library gives every thread its own errno.
        unsafe { *libc::__errno_location() = error };
    }

    /// # Safety
    /// As for C's `open64`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        // SAFETY: The caller passes a NUL-terminated name.
        let name = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
        let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT) != 0;
        if writes && READ_ONLY.lock().unwrap().as_ref().is_some_and(|folder| name.starts_with(folder)) {
            fail(libc::EROFS);
            return -1;
        }
        // SAFETY: The caller's own arguments.
        unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, mode) as c_int }
    }

    /// # Safety
    /// As for C's `pread64`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn pread64(
        file: c_int,
        to: *mut c_void,
        count: size_t,
        offset: off64_t,
    ) -> ssize_t {
        let inode = inode_of(file);
        let mut bad_blocks = BAD_BLOCKS.lock().unwrap();
        let hit =
            bad_blocks.iter_mut().find(|bad| bad.inode == inode && blocks(offset, count).contains(&bad.at));
        if let Some(block) = hit {
            block.times = block.times.saturating_sub(1);
            bad_blocks.retain(|bad| bad.times > 0);
            fail(libc::EIO);
            return -1;
        }
        // SAFETY: The caller's own arguments.
        unsafe { libc::syscall(libc::SYS_pread64, file, to, count, offset) as ssize_t }
    }

    /// # Safety
    /// As for C's `pwrite64`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn pwrite64(
        file: c_int,
        from: *const c_void,
        count: size_t,
        offset: off64_t,
    ) -> ssize_t {
        let inode = inode_of(file);
        BAD_BLOCKS
            .lock()
            .unwrap()
            .retain(|bad| bad.inode != inode || !blocks(offset, count).contains(&bad.at));
        // SAFETY: The caller's own arguments.
        unsafe { libc::syscall(libc::SYS_pwrite64, file, from, count, offset) as ssize_t }
    }
}

/// Makes a block permanently unreadable.
fn make_unreadable(path: &Path, at: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(&[0xAA; BLOCK as usize], at).unwrap();
    make_unreadable_for(path, at, u32::MAX);
}

/// Makes a block unreadable for this many reads, after which it is as before.
fn make_unreadable_for(path: &Path, at: u64, times: u32) {
    BAD_BLOCKS.lock().unwrap().push(BadBlock { inode: fs::metadata(path).unwrap().ino(), at, times });
}

fn open(folder: &Path) -> EmbeddedStore {
    EmbeddedStore::open(folder, Options::default()).unwrap()
}

fn row_key(number: u32) -> Vec<u8> {
    key(1, &number.to_be_bytes())
}

fn value(number: u32) -> Vec<u8> {
    number.to_be_bytes().repeat(if number.is_multiple_of(100) { 3_000 } else { 60 })
}

fn stored() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    write(&store, (0..ROWS).map(|number| put(&row_key(number), &value(number))).collect()).unwrap();
    store.close();
    folder
}

/// The rows that cannot be read. All others are correct.
fn lost(store: &impl Store) -> Vec<u32> {
    let is_lost = |number: &u32| match get(store, &row_key(*number)) {
        Ok(found) => {
            assert!(found.unwrap() == value(*number), "row {number} is wrong");
            false
        }
        Err(StoreError::Damaged(_)) => true,
        Err(other) => panic!("{other}"),
    };
    (0..ROWS).filter(is_lost).collect()
}

/// The offset of a row's leaf in the data file.
fn leaf_of(folder: &Path, number: u32) -> u64 {
    let bytes = fs::read(folder.join("data.mdb")).unwrap();
    let target = [&row_key(number)[..], &[0]].concat();
    let at = bytes.windows(target.len()).rposition(|window| window == target).unwrap() as u64;
    at / BLOCK * BLOCK
}

#[test]
fn unreadable_checksums_cost_no_row() {
    let folder = stored();
    let sums = folder.path().join("sums");
    let blocks = fs::metadata(&sums).unwrap().len() / BLOCK;
    assert!(blocks > 4);
    (4..blocks).for_each(|block| make_unreadable(&sums, block * BLOCK));
    // One slot as well: it has a second copy.
    make_unreadable(&sums, 0);
    let store = open(folder.path());
    assert_eq!(lost(&store), []);
    write(&store, (0..ROWS).step_by(7).map(|number| put(&row_key(number), &value(number))).collect())
        .unwrap();
    store.close();
    let store = open(folder.path());
    assert_eq!(lost(&store), []);
    assert!(!folder.path().join("DAMAGE").exists());
}

#[test]
fn an_unreadable_page_costs_only_its_own_rows() {
    let folder = stored();
    let (data, at) = (folder.path().join("data.mdb"), leaf_of(folder.path(), 777));
    make_unreadable(&data, at);
    let findings = verify(folder.path(), |_, _| {}).unwrap().findings;
    let expected = format!("(at byte {at}) cannot be read");
    assert!(findings.iter().any(|finding| finding.contains(&expected)), "{findings:?}");
    let salvaged = folder.path().join("salvaged");
    salvage(folder.path(), &salvaged).unwrap();
    let store = open(&salvaged);
    let saved = (0..ROWS).filter(|number| get(&store, &row_key(*number)).unwrap().is_some()).count();
    assert!((ROWS as usize - 40..ROWS as usize).contains(&saved), "{saved}");
    store.close();
    fs::remove_dir_all(&salvaged).unwrap();

    let store = open(folder.path());
    let before = lost(&store);
    assert!(before.contains(&777) && before.len() < 40, "{before:?}");
    // To be written to, the page is rebuilt, which also repairs the sector.
    write(&store, vec![put(&row_key(777), &value(777))]).unwrap();
    store.close();
    let store = open(folder.path());
    let after = lost(&store);
    assert_eq!(after, before.into_iter().filter(|number| *number != 777).collect::<Vec<_>>());
}

#[test]
fn a_disk_with_transient_errors_costs_nothing() {
    let folder = stored();
    make_unreadable_for(&folder.path().join("data.mdb"), leaf_of(folder.path(), 777), 3);
    let store = open(folder.path());
    write(&store, vec![put(&row_key(777), &value(777))]).unwrap();
    store.close();
    let store = open(folder.path());
    assert_eq!(lost(&store), []);
    assert!(!folder.path().join("DAMAGE").exists());
}

/// As a kill leaves it: everything is in the log, and nothing in the data file.
#[test]
fn a_log_with_an_unreadable_part_is_salvaged_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let (live, killed) = (folder.path().join("live"), folder.path().join("killed"));
    let store = EmbeddedStore::open_with_pace(&live, Options::default(), Pace::Lazy).unwrap();
    for number in 0..200 {
        write(&store, vec![put(&row_key(number), &value(number))]).unwrap();
    }
    fs::create_dir_all(killed.join("log")).unwrap();
    for name in ["FORMAT", "data.mdb", "sums", "log/MANIFEST", "log/DURABLE", "log/segment.1"] {
        fs::copy(live.join(name), killed.join(name)).unwrap();
    }
    store.close();
    make_unreadable(&killed.join("log/segment.1"), 100 * BLOCK);
    assert!(EmbeddedStore::open(&killed, Options::default()).is_err());
    let salvaged = salvage(&killed, &folder.path().join("salvaged")).unwrap();
    assert!(!salvaged.lost.is_empty());
    let store = open(&folder.path().join("salvaged"));
    let is_there =
        |number: &u32| get(&store, &row_key(*number)).unwrap().is_some_and(|row| row == value(*number));
    assert!((50..200).contains(&(0..200).filter(is_there).count()));
}

#[test]
fn a_read_only_disk_can_be_verified_and_salvaged() {
    let folder = stored();
    *READ_ONLY.lock().unwrap() = Some(folder.path().to_path_buf());
    assert!(EmbeddedStore::open(folder.path(), Options::default()).is_err());
    assert_eq!(verify(folder.path(), |_, _| {}).unwrap().findings, Vec::<String>::new());
    let salvaged = tempfile::tempdir().unwrap();
    salvage(folder.path(), salvaged.path()).unwrap();
    assert_eq!(lost(&open(salvaged.path())), []);
    // The lock also protects against another process that only reads.
    let file = File::open(folder.path().join("LOCK")).unwrap();
    file.lock().unwrap();
    assert!(matches!(verify(folder.path(), |_, _| {}), Err(OpenError::InUse { .. })));
}
