//! Reports faults in mapped files: a message that names the file and the offset, then exit.
//!
//! A sector that the disk cannot read, or a truncated file, is hit in the middle of some instruction. The system then
//! sends a signal, and there is no way to continue. The handler looks up the address among this program's maps, writes a
//! prepared message, and ends the process with a dedicated exit code. Any other fault is passed to the previous handler.

use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The exit code of the process: an I/O error, as in sysexits.h.
pub const EXIT_CODE: i32 = 74;

const MAPS: usize = 16;

/// A mapped file. The handler may read it at any time, so it is never freed.
struct Entry {
    start: AtomicUsize,
    bytes: AtomicUsize,
    /// The beginning of the message, and its length.
    message: AtomicPtr<u8>,
    message_bytes: AtomicUsize,
}

static ENTRIES: [Entry; MAPS] = [const {
    Entry {
        start: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        message: AtomicPtr::new(std::ptr::null_mut()),
        message_bytes: AtomicUsize::new(0),
    }
}; MAPS];

/// Reports faults within a map while it lives.
pub(crate) struct MappedRange {
    entry: Option<&'static Entry>,
}

impl MappedRange {
    /// Every range in which this process has the file mapped, as listed by the system; none if it does not list them.
    pub fn all_of(file: &Path) -> Vec<MappedRange> {
        let Ok(file) = file.canonicalize() else { return Vec::new() };
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines().filter_map(|line| MappedRange::of_line(line, &file)).collect()
    }

    /// `7f00-7f80 r--s 00000000 fd:01 12345    /folder/data.mdb`
    fn of_line(line: &str, file: &Path) -> Option<MappedRange> {
        let (_, name) = line.split_once('/')?;
        if Path::new("/").join(name) != file {
            return None;
        }
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let read = |address: &str| usize::from_str_radix(address, 16).ok();
        Some(MappedRange::new(read(start)?, read(end)?, file))
    }

    /// If there are more maps than entries, faults in the remaining ones are not reported.
    fn new(start: usize, end: usize, file: &Path) -> MappedRange {
        install();
        let is_free = |entry: &&Entry| {
            entry.start.compare_exchange(0, start, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let entry = ENTRIES.iter().find(is_free);
        if let Some(entry) = entry {
            let message = format!("partita: {} cannot be read at byte ", file.display());
            let message: &'static mut [u8] = Box::leak(message.into_bytes().into_boxed_slice());
            entry.message_bytes.store(message.len(), Ordering::SeqCst);
            entry.message.store(message.as_mut_ptr(), Ordering::SeqCst);
            entry.bytes.store(end.saturating_sub(start), Ordering::SeqCst);
        }
        MappedRange { entry }
    }
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        if let Some(entry) = self.entry {
            entry.bytes.store(0, Ordering::SeqCst);
            entry.start.store(0, Ordering::SeqCst);
        }
    }
}

static mut PREVIOUS_ACTIONS: [std::mem::MaybeUninit<libc::sigaction>; 2] =
    [std::mem::MaybeUninit::uninit(); 2];
const SIGNALS: [libc::c_int; 2] = [libc::SIGBUS, libc::SIGSEGV];

#[allow(unsafe_code)]
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            // SAFETY: The struct is plain data for which zeros are valid; the handler has the signature that SA_SIGINFO
            // requires and does only what a handler may do. PREVIOUS_ACTIONS is written only here, once, before the handler that
            // reads it is installed for this signal.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handle as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                let previous = &raw mut PREVIOUS_ACTIONS[index];
                libc::sigaction(signal, std::ptr::null(), (*previous).as_mut_ptr());
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    });
}

/// Runs in a signal handler: no allocation, no locks, only atomics, write and _exit.
#[allow(unsafe_code)]
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: With SA_SIGINFO the system passes a valid siginfo_t, which holds the address of a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    for entry in &ENTRIES {
        let (start, bytes) = (entry.start.load(Ordering::SeqCst), entry.bytes.load(Ordering::SeqCst));
        if start != 0 && (start..start.saturating_add(bytes)).contains(&address) {
            report_and_exit(entry, address - start);
        }
    }
    let index = usize::from(signal == libc::SIGSEGV);
    // SAFETY: `install` has filled PREVIOUS_ACTIONS for this signal. Back in the faulting instruction, the fault happens again
    // and is handled by the previous handler.
    unsafe {
        let previous = &raw const PREVIOUS_ACTIONS[index];
        libc::sigaction(signal, (*previous).as_ptr(), std::ptr::null_mut());
    }
}

#[allow(unsafe_code)]
fn report_and_exit(entry: &Entry, offset: usize) -> ! {
    let mut digits = [0; 20];
    let digits = decimal(offset, &mut digits);
    let end = b": the disk cannot read it, or the file was truncated. See docs/damage.md\n";
    let (message, bytes) = (entry.message.load(Ordering::SeqCst), entry.message_bytes.load(Ordering::SeqCst));
    // SAFETY: The message was leaked with this length and is never freed; write and _exit are async-signal-safe.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.cast(), bytes);
        libc::write(libc::STDERR_FILENO, digits.as_ptr().cast(), digits.len());
        libc::write(libc::STDERR_FILENO, end.as_ptr().cast(), end.len());
        libc::_exit(EXIT_CODE)
    }
}

fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_in_decimal() {
        for number in [0, 7, 10, 4_096, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
