//! Something done in a forked process.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does something in a forked process, and panics unless it ends well within a minute.
pub(crate) fn in_a_child(work: impl FnOnce()) {
    // SAFETY: the child has this thread alone; it leaves by `_exit`, and the alarm ends it should it hang.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: the default action of the signal is to end the process.
        unsafe { libc::alarm(60) };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: ends the child at once, without running the parent's exit handlers.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    let mut status = -1;
    // SAFETY: waits for the child made above; `status` is a live integer.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child hung or failed");
}
