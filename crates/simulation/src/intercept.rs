//! Intercepts the C library calls that read and change files, at link time: for LMDB's C code and Rust's library alike.
//!
//! On a thread with a simulated disk, calls for files below its root are carried out, so that the process sees their
//! effect, and reported to the disk. All others, and those on threads without one, go straight to the operating system.
//! Nothing is ever really synced.

#![allow(unsafe_code, reason = "these functions are C's")]

use crate::disk::{Disk, WriteOutcome};
use libc::{c_char, c_int, c_long, c_uint, c_void, iovec, mode_t, off_t, size_t, ssize_t};
use std::cell::RefCell;
use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

thread_local! {
    static DISK: RefCell<Option<Disk>> = const { RefCell::new(None) };
}

/// Installs a disk for this thread.
pub fn install(disk: Disk) {
    // Referenced here so that the linker includes them.
    let _: [*const (); 5] = [
        pwrite64 as *const (),
        pread64 as *const (),
        fdatasync as *const (),
        open64 as *const (),
        getrandom as *const (),
    ];
    DISK.with_borrow_mut(|place| *place = Some(disk));
}

pub fn uninstall() -> Option<Disk> {
    DISK.with_borrow_mut(Option::take)
}

/// Runs `work` with the disk, if this thread has one. What it does to files meanwhile is not simulated.
pub fn with<T>(work: impl FnOnce(&mut Disk) -> T) -> Option<T> {
    let mut disk = DISK.try_with(|place| place.try_borrow_mut().ok()?.take()).ok()??;
    let result = work(&mut disk);
    let _ = DISK.try_with(|place| place.replace(Some(disk)));
    Some(result)
}

/// Like [`with`], unless there was a crash, after which nothing counts.
fn with_running<T>(work: impl FnOnce(&mut Disk) -> Option<T>) -> Option<T> {
    with(|disk| if disk.has_crashed() { None } else { work(disk) }).flatten()
}

fn fail(error: c_int) -> ssize_t {
    // SAFETY: The C library gives every thread its own errno.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// The operating system's metadata of a descriptor.
fn stat(fd: c_int) -> Option<libc::stat> {
    // SAFETY: A stat is plain numbers, which the call fills in.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        (libc::syscall(libc::SYS_fstat, fd, &raw mut found) == 0).then_some(found)
    }
}

pub fn inode_of(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&std::fs::symlink_metadata(path).expect("the file was just made"))
}

fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// # Safety
/// As for `CStr::from_ptr`.
unsafe fn path_of(path: *const c_char) -> PathBuf {
    // SAFETY: The caller guarantees a C string.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The path of a name relative to an open folder.
unsafe fn path_at(folder: c_int, path: *const c_char) -> PathBuf {
    // SAFETY: Guaranteed by the caller.
    let path = unsafe { path_of(path) };
    if path.is_absolute() || folder == libc::AT_FDCWD {
        return path;
    }
    std::fs::read_link(format!("/proc/self/fd/{folder}")).unwrap_or_default().join(path)
}

/// Writes, as far as the disk allows.
fn write_at(fd: c_int, bytes: &[u8], offset: Option<off_t>) -> ssize_t {
    let simulated = with_running(|disk| {
        let found = stat(fd).filter(|found| disk.tracks(found.st_ino))?;
        // SAFETY: Neither call touches memory.
        let (at, flags) = unsafe {
            let here = || libc::syscall(libc::SYS_lseek, fd, 0 as off_t, libc::SEEK_CUR);
            (offset.unwrap_or_else(here), libc::syscall(libc::SYS_fcntl, fd, libc::F_GETFL))
        };
        let length = match disk.write_outcome(found.st_ino, at as u64, bytes.len(), found.st_size as u64) {
            WriteOutcome::Done => bytes.len(),
            WriteOutcome::Short(length) => length,
            WriteOutcome::Failed(error) => return Some(Err(error)),
        };
        let written = raw_write(fd, &bytes[..length], offset);
        if written >= 0 {
            let durably = flags & c_long::from(libc::O_DSYNC) != 0;
            disk.wrote(found.st_ino, at as u64, &bytes[..written as usize], durably);
        }
        Some(Ok(written))
    });
    match simulated {
        Some(Ok(written)) => written,
        Some(Err(error)) => fail(error),
        None => raw_write(fd, bytes, offset),
    }
}

fn raw_write(fd: c_int, bytes: &[u8], offset: Option<off_t>) -> ssize_t {
    let (from, length) = (bytes.as_ptr(), bytes.len());
    // SAFETY: The bytes are a valid slice.
    let written = unsafe {
        match offset {
            Some(offset) => libc::syscall(libc::SYS_pwrite64, fd, from, length, offset),
            None => libc::syscall(libc::SYS_write, fd, from, length),
        }
    };
    written as ssize_t
}

/// # Safety
/// As for C's `write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    // SAFETY: The caller guarantees this many bytes.
    write_at(fd, unsafe { slice(bytes, length) }, None)
}

/// # Safety
/// As for C's `pwrite`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(fd: c_int, bytes: *const c_void, length: size_t, offset: off_t) -> ssize_t {
    // SAFETY: The caller guarantees this many bytes.
    write_at(fd, unsafe { slice(bytes, length) }, Some(offset))
}

/// # Safety
/// As for C's `pwrite64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(fd: c_int, bytes: *const c_void, length: size_t, offset: off_t) -> ssize_t {
    // SAFETY: The caller guarantees this many bytes.
    write_at(fd, unsafe { slice(bytes, length) }, Some(offset))
}

/// # Safety
/// As for C's `writev`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: The caller guarantees valid parts.
    write_at(fd, &unsafe { gather(parts, count) }, None)
}

/// # Safety
/// As for C's `pwritev`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev(fd: c_int, parts: *const iovec, count: c_int, offset: off_t) -> ssize_t {
    // SAFETY: The caller guarantees valid parts.
    write_at(fd, &unsafe { gather(parts, count) }, Some(offset))
}

/// # Safety
/// As for C's `pwritev64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev64(fd: c_int, parts: *const iovec, count: c_int, offset: off_t) -> ssize_t {
    // SAFETY: The caller guarantees valid parts.
    write_at(fd, &unsafe { gather(parts, count) }, Some(offset))
}

/// Reads, unless the disk fails.
///
/// # Safety
/// As for C's `pread`.
unsafe fn read_at(fd: c_int, buffer: *mut c_void, length: size_t, offset: Option<off_t>) -> ssize_t {
    let failed = with_running(|disk| {
        let found = stat(fd).filter(|found| disk.faults.read > 0 && disk.tracks(found.st_ino))?;
        Some(disk.read_fails(found.st_ino))
    });
    if failed == Some(true) {
        return fail(libc::EIO);
    }
    // SAFETY: The caller guarantees a buffer of this length.
    let read = unsafe {
        match offset {
            Some(offset) => libc::syscall(libc::SYS_pread64, fd, buffer, length, offset),
            None => libc::syscall(libc::SYS_read, fd, buffer, length),
        }
    };
    read as ssize_t
}

/// # Safety
/// As for C's `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t {
    // SAFETY: Guaranteed by the caller.
    unsafe { read_at(fd, buffer, length, None) }
}

/// # Safety
/// As for C's `pread`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread(fd: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    // SAFETY: Guaranteed by the caller.
    unsafe { read_at(fd, buffer, length, Some(offset)) }
}

/// # Safety
/// As for C's `pread64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(fd: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    // SAFETY: Guaranteed by the caller.
    unsafe { read_at(fd, buffer, length, Some(offset)) }
}

unsafe fn slice<'a>(bytes: *const c_void, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: The caller guarantees this many bytes.
    unsafe { std::slice::from_raw_parts(bytes.cast(), length) }
}

unsafe fn gather(parts: *const iovec, count: c_int) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..usize::try_from(count).unwrap_or_default() {
        // SAFETY: The caller guarantees this many parts, each with its bytes.
        unsafe {
            let part = &*parts.add(number);
            bytes.extend_from_slice(slice(part.iov_base, part.iov_len));
        }
    }
    bytes
}

fn sync(fd: c_int, call: c_long) -> c_int {
    let simulated = with_running(|disk| {
        let found = stat(fd)?;
        if found.st_mode & libc::S_IFMT == libc::S_IFDIR {
            let path = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
            disk.relative(&path)?;
            disk.sync_names();
            return Some(Ok(()));
        }
        if disk.is_copy(found.st_ino) {
            disk.catch_up(found.st_ino, &std::fs::read(format!("/proc/self/fd/{fd}")).ok()?);
        }
        disk.tracks(found.st_ino).then(|| disk.sync(found.st_ino, call == libc::SYS_fdatasync))
    });
    match simulated {
        Some(Ok(())) => 0,
        Some(Err(error)) => fail(error) as c_int,
        // SAFETY: The call touches no memory.
        None => unsafe { libc::syscall(call, fd) as c_int },
    }
}

/// # Safety
/// As for C's `fsync`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd, libc::SYS_fsync)
}

/// # Safety
/// As for C's `fdatasync`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd, libc::SYS_fdatasync)
}

/// A store that wrote through a map would bypass the simulation.
///
/// # Safety
/// As for C's `msync`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn msync(start: *mut c_void, length: size_t, flags: c_int) -> c_int {
    if with_running(|_| Some(())).is_some() {
        eprintln!("msync: writes through a map are not simulated");
        std::process::abort();
    }
    // SAFETY: Guaranteed by the caller.
    unsafe { libc::syscall(libc::SYS_msync, start, length, flags) as c_int }
}

/// # Safety
/// As for C's `ftruncate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate(fd: c_int, length: off_t) -> c_int {
    // SAFETY: The call touches no memory.
    let done = unsafe { libc::syscall(libc::SYS_ftruncate, fd, length) as c_int };
    if done == 0 {
        with_running(|disk| {
            let found = stat(fd).filter(|found| disk.tracks(found.st_ino))?;
            disk.set_length(found.st_ino, length as u64);
            Some(())
        });
    }
    done
}

/// # Safety
/// As for C's `ftruncate64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(fd: c_int, length: off_t) -> c_int {
    // SAFETY: Guaranteed by the caller.
    unsafe { ftruncate(fd, length) }
}

unsafe fn open_at(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: Guaranteed by the caller.
    let open = || unsafe { libc::syscall(libc::SYS_openat, folder, path, flags, mode) as c_int };
    // SAFETY: Guaranteed by the caller.
    let full = unsafe { path_at(folder, path) };
    let simulated = with_running(|disk| {
        let name = disk.relative(&full)?;
        let is_new = !exists(&full);
        let fd = open();
        // After a failure errno holds the reason, which nothing here may change.
        if fd >= 0
            && let Some(found) = stat(fd)
        {
            if is_new {
                disk.made_file(name, found.st_ino);
            } else if flags & libc::O_TRUNC != 0 {
                disk.set_length(found.st_ino, 0);
            }
        }
        Some(fd)
    });
    simulated.unwrap_or_else(open)
}

/// # Safety
/// As for C's `open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: Guaranteed by the caller.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

/// # Safety
/// As for C's `open64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: Guaranteed by the caller.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

/// # Safety
/// As for C's `openat64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: Guaranteed by the caller.
    unsafe { open_at(folder, path, flags, mode) }
}

/// Randomness also follows from the seed.
///
/// # Safety
/// As for C's `getrandom`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    let filled = with(|disk| {
        for at in 0..length {
            // SAFETY: The caller guarantees a buffer of this length.
            unsafe { buffer.cast::<u8>().add(at).write(disk.entropy.number() as u8) };
        }
        length as ssize_t
    });
    // SAFETY: Guaranteed by the caller.
    filled.unwrap_or_else(|| unsafe { libc::syscall(libc::SYS_getrandom, buffer, length, flags) as ssize_t })
}

/// # Safety
/// As for C's `rename`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: Guaranteed by the caller.
    let done = unsafe { libc::syscall(libc::SYS_rename, from, to) as c_int };
    if done == 0 {
        // SAFETY: Guaranteed by the caller.
        let (from, to) = unsafe { (path_of(from), path_of(to)) };
        with_running(|disk| {
            let (from, to) = (disk.relative(&from)?, disk.relative(&to)?);
            disk.moved(from, to);
            Some(())
        });
    }
    done
}

fn removed(path: &Path) {
    with_running(|disk| {
        let name = disk.relative(path)?;
        disk.removed(name);
        Some(())
    });
}

/// # Safety
/// As for C's `unlink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: Guaranteed by the caller.
    unsafe { unlinkat(libc::AT_FDCWD, path, 0) }
}

/// # Safety
/// As for C's `unlinkat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: Guaranteed by the caller.
    let (full, done) =
        unsafe { (path_at(folder, path), libc::syscall(libc::SYS_unlinkat, folder, path, flags) as c_int) };
    if done == 0 {
        removed(&full);
    }
    done
}

/// # Safety
/// As for C's `rmdir`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: Guaranteed by the caller.
    unsafe { unlinkat(libc::AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

/// # Safety
/// As for C's `mkdir`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: Guaranteed by the caller.
    let (full, done) = unsafe { (path_of(path), libc::syscall(libc::SYS_mkdir, path, mode) as c_int) };
    if done == 0 {
        with_running(|disk| {
            let name = disk.relative(&full)?;
            disk.made_folder(name);
            Some(())
        });
    }
    done
}
