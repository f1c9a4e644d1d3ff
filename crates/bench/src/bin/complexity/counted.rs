//! Asks valgrind, if it runs us, to count the instructions of one piece of work.
//!
//! A request to valgrind is a sequence of instructions that does nothing anywhere else. So the binary needs neither
//! symbols nor a library, and one start of valgrind is enough for all cases.

use crate::Work;
use std::hint::black_box;

/// Callgrind's own requests, as in its `callgrind.h`.
const TOGGLE_COLLECT: usize = 0x4354_0002;
const ZERO_STATS: usize = 0x4354_0001;
const DUMP_STATS_AT: usize = 0x4354_0003;

/// Runs the work and answers what it did; callgrind dumps what was counted under this name.
pub fn count(name: &str, work: Work) -> bool {
    let mut text = name.as_bytes().to_vec();
    text.push(0);
    request(ZERO_STATS, 0);
    request(TOGGLE_COLLECT, 0);
    let answer = black_box(work());
    request(TOGGLE_COLLECT, 0);
    request(DUMP_STATS_AT, text.as_ptr().addr());
    black_box(text);
    answer
}

/// Sends a request with one argument.
#[allow(unsafe_code, reason = "there is no other way to talk to valgrind than its instructions")]
fn request(kind: usize, argument: usize) {
    let arguments = [kind, argument, 0, 0, 0, 0];
    // SAFETY: the rotations add up to whole turns and the exchange is with itself, so that no register changes where no
    // valgrind runs; valgrind reads the six words behind the pointer, and writes the default's register only.
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
