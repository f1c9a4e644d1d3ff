//! The program's allocator.

/// Requests allocate and free small pieces on several threads, which this allocator does best.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Hands what this thread has freed back to the system.
#[allow(unsafe_code, reason = "the allocator is C")]
pub fn give_back() {
    // SAFETY: it may be called at any time from any thread, and touches nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
