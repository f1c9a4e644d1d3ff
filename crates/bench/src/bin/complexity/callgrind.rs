//! Counts the instructions of one piece of work when running under valgrind.
//!
//! A valgrind client request is a sequence of instructions that has no effect elsewhere. So the binary needs neither
//! symbols nor a library, and one valgrind run suffices for all cases.

use crate::Work;
use std::hint::black_box;

/// Client requests of callgrind, from `callgrind.h`.
const TOGGLE_COLLECT: usize = 0x4354_0002;
const ZERO_STATS: usize = 0x4354_0001;
const DUMP_STATS_AT: usize = 0x4354_0003;

/// Runs the work and returns its result; callgrind dumps the instruction count under this name.
pub fn count(name: &str, work: Work) -> bool {
    let mut text = name.as_bytes().to_vec();
    text.push(0);
    request(ZERO_STATS, 0);
    request(TOGGLE_COLLECT, 0);
    let result = black_box(work());
    request(TOGGLE_COLLECT, 0);
    request(DUMP_STATS_AT, text.as_ptr().addr());
    black_box(text);
    result
}

/// Sends a client request with one argument.
#[allow(unsafe_code, reason = "valgrind client requests are instruction sequences")]
fn request(kind: usize, argument: usize) {
    let arguments = [kind, argument, 0, 0, 0, 0];
    // SAFETY: the rotations add up to full rotations and the exchange is of a register with itself, so without valgrind
    // no register changes; valgrind reads the six words behind the pointer and writes only the register of the default.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0usize => _,
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inout("x3") 0usize => _,
        );
    }
    black_box(arguments);
}
