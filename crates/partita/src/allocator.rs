//! The program's allocator.

/// Requests allocate and free small pieces on several threads, for which mimalloc measured fastest.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Returns memory that this thread has freed to the operating system.
#[allow(unsafe_code, reason = "the allocator is C")]
pub fn release_memory() {
    // SAFETY: may be called at any time from any thread, and touches nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
