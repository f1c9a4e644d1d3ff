//! Sectors that the disk does not give back: what they had is lost, and nothing else is.
//!
//! Reading is taken over at link time: a spoilt block is an error until it is written. What stands in it meanwhile is
//! nonsense, so that whoever looks at it through a map all the same is found out.
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

/// A spoilt block: of which file, where, and how often it stays so when it is read.
struct Spoilt {
    inode: u64,
    at: u64,
    times: u32,
}

static SPOILT: Mutex<Vec<Spoilt>> = Mutex::new(Vec::new());

/// A folder on a disk that cannot be written.
static READ_ONLY: Mutex<Option<PathBuf>> = Mutex::new(None);

#[allow(unsafe_code, reason = "these functions are C's")]
mod taken_over {
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
        // SAFETY: The C library gives every thread a place for its last error.
        unsafe { *libc::__errno_location() = error };
    }

    /// # Safety
    /// As C's.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        // SAFETY: The caller gives a name that ends with a zero.
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
    /// As C's.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn pread64(
        file: c_int,
        to: *mut c_void,
        count: size_t,
        offset: off64_t,
    ) -> ssize_t {
        let inode = inode_of(file);
        let mut spoilt = SPOILT.lock().unwrap();
        let met = spoilt.iter_mut().find(|one| one.inode == inode && blocks(offset, count).contains(&one.at));
        if let Some(block) = met {
            block.times = block.times.saturating_sub(1);
            spoilt.retain(|one| one.times > 0);
            fail(libc::EIO);
            return -1;
        }
        // SAFETY: The caller's own arguments.
        unsafe { libc::syscall(libc::SYS_pread64, file, to, count, offset) as ssize_t }
    }

    /// # Safety
    /// As C's.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn pwrite64(
        file: c_int,
        from: *const c_void,
        count: size_t,
        offset: off64_t,
    ) -> ssize_t {
        let inode = inode_of(file);
        SPOILT.lock().unwrap().retain(|one| one.inode != inode || !blocks(offset, count).contains(&one.at));
        // SAFETY: The caller's own arguments.
        unsafe { libc::syscall(libc::SYS_pwrite64, file, from, count, offset) as ssize_t }
    }
}

/// Spoils the block for good.
fn spoil(path: &Path, at: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(&[0xAA; BLOCK as usize], at).unwrap();
    spoil_for(path, at, u32::MAX);
}

/// The block cannot be read so often, and then is what it was.
fn spoil_for(path: &Path, at: u64, times: u32) {
    SPOILT.lock().unwrap().push(Spoilt { inode: fs::metadata(path).unwrap().ino(), at, times });
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

/// The rows that cannot be read. All others are right.
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

/// Where in the data file a row's leaf is.
fn leaf_of(folder: &Path, number: u32) -> u64 {
    let bytes = fs::read(folder.join("data.mdb")).unwrap();
    let wanted = [&row_key(number)[..], &[0]].concat();
    let at = bytes.windows(wanted.len()).rposition(|window| window == wanted).unwrap() as u64;
    at / BLOCK * BLOCK
}

#[test]
fn checksums_that_cannot_be_read_cost_no_row() {
    let folder = stored();
    let sums = folder.path().join("sums");
    let blocks = fs::metadata(&sums).unwrap().len() / BLOCK;
    assert!(blocks > 4);
    (4..blocks).for_each(|block| spoil(&sums, block * BLOCK));
    // One slot as well: it has a second copy.
    spoil(&sums, 0);
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
fn a_page_that_cannot_be_read_costs_its_own_rows() {
    let folder = stored();
    let (data, at) = (folder.path().join("data.mdb"), leaf_of(folder.path(), 777));
    spoil(&data, at);
    let findings = verify(folder.path(), |_, _| {}).unwrap().findings;
    let told = format!("(at byte {at}) cannot be read");
    assert!(findings.iter().any(|finding| finding.contains(&told)), "{findings:?}");
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
    // To be written to, the page is made anew; with that the sector is whole again.
    write(&store, vec![put(&row_key(777), &value(777))]).unwrap();
    store.close();
    let store = open(folder.path());
    let after = lost(&store);
    assert_eq!(after, before.into_iter().filter(|number| *number != 777).collect::<Vec<_>>());
}

#[test]
fn a_disk_that_hesitates_costs_nothing() {
    let folder = stored();
    spoil_for(&folder.path().join("data.mdb"), leaf_of(folder.path(), 777), 3);
    let store = open(folder.path());
    write(&store, vec![put(&row_key(777), &value(777))]).unwrap();
    store.close();
    let store = open(folder.path());
    assert_eq!(lost(&store), []);
    assert!(!folder.path().join("DAMAGE").exists());
}

/// As a kill leaves it: all is in the log, and nothing in the data file.
#[test]
fn a_log_of_which_a_part_cannot_be_read_is_salvaged_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let (live, killed) = (folder.path().join("live"), folder.path().join("killed"));
    let store = EmbeddedStore::open_at_pace(&live, Options::default(), Pace::Lazy).unwrap();
    for number in 0..200 {
        write(&store, vec![put(&row_key(number), &value(number))]).unwrap();
    }
    fs::create_dir_all(killed.join("log")).unwrap();
    for name in ["FORMAT", "data.mdb", "sums", "log/MANIFEST", "log/DURABLE", "log/segment.1"] {
        fs::copy(live.join(name), killed.join(name)).unwrap();
    }
    store.close();
    spoil(&killed.join("log/segment.1"), 100 * BLOCK);
    assert!(EmbeddedStore::open(&killed, Options::default()).is_err());
    let salvaged = salvage(&killed, &folder.path().join("salvaged")).unwrap();
    assert!(!salvaged.lost.is_empty());
    let store = open(&folder.path().join("salvaged"));
    let is_there =
        |number: &u32| get(&store, &row_key(*number)).unwrap().is_some_and(|row| row == value(*number));
    assert!((50..200).contains(&(0..200).filter(is_there).count()));
}

#[test]
fn a_disk_that_cannot_be_written_can_be_verified_and_salvaged() {
    let folder = stored();
    *READ_ONLY.lock().unwrap() = Some(folder.path().to_path_buf());
    assert!(EmbeddedStore::open(folder.path(), Options::default()).is_err());
    assert_eq!(verify(folder.path(), |_, _| {}).unwrap().findings, Vec::<String>::new());
    let salvaged = tempfile::tempdir().unwrap();
    salvage(folder.path(), salvaged.path()).unwrap();
    assert_eq!(lost(&open(salvaged.path())), []);
    // Somebody else who only reads is told apart from nobody.
    let file = File::open(folder.path().join("LOCK")).unwrap();
    file.lock().unwrap();
    assert!(matches!(verify(folder.path(), |_, _| {}), Err(OpenError::Held { .. })));
}
