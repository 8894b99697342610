//! Alignment, reuse, bounds, errors, and many threads at once.

use super::*;

fn bounded(cache_limit: usize) -> Allocator {
    Allocator::new(AllocatorOptions { cache_limit, ..AllocatorOptions::default() })
}

#[test]
fn guarded_buffers_touch_the_pages_that_fault() {
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    for (side, bytes) in
        [(Side::After, 6), (Side::Before, 6), (Side::After, page), (Side::Before, 3 * page + 4)]
    {
        let guarded = AllocatorOptions { guard: Some(side), ..AllocatorOptions::default() };
        let mut buffer = Allocator::new(guarded).allocate(bytes).unwrap();
        let start = buffer.as_ptr() as usize;
        let edge = if side == Side::Before { start } else { start + bytes };
        assert!(edge.is_multiple_of(page), "{side:?} {bytes}");
        assert!(buffer.as_slice().iter().all(|&byte| byte != 0));
        buffer.as_mut_slice().fill(1);
    }
}

#[test]
fn buffers_are_aligned_and_writable_to_the_last_byte() {
    let allocator = Allocator::default();
    for bytes in [1, 63, 64, 65, 4096, 100_000, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1, 5 * HUGE_PAGE + 3] {
        let mut buffer = allocator.allocate(bytes).expect("little memory");
        assert_eq!(buffer.len(), bytes);
        let alignment = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        assert_eq!(buffer.as_ptr() as usize % alignment, 0, "{bytes}");
        buffer.as_mut_slice().fill(0xa5);
        assert!(buffer.as_slice().iter().all(|&byte| byte == 0xa5));
    }
}

#[test]
fn an_empty_buffer_costs_nothing_and_has_an_address() {
    let allocator = Allocator::default();
    let mut empty = allocator.allocate(0).expect("nothing");
    assert!(empty.is_empty() && empty.as_slice().is_empty() && empty.as_mut_slice().is_empty());
    assert!(!empty.as_ptr().is_null());
    assert_eq!(empty.as_ptr() as usize % ALIGNMENT, 0);
    assert_eq!(allocator.stats(), Stats::default());
}

#[test]
fn size_classes_waste_at_most_an_eighth_and_do_not_shrink() {
    let mut last = 0;
    for bytes in (1..20_000).chain((1 << 20..64 << 20).step_by(99_991)) {
        let class = size_class(bytes).expect("small");
        assert!(class >= bytes && class >= last && class.is_multiple_of(ALIGNMENT));
        assert!(bytes < HUGE_PAGE || class.is_multiple_of(HUGE_PAGE));
        let min = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        assert!(class - bytes < min.max(bytes / 8 + 1), "{bytes} in {class}");
        assert_eq!(size_class(class), Some(class));
        last = class;
    }
}

#[test]
fn a_returned_block_serves_the_next_of_its_class() {
    for bytes in [1000, 64 << 20] {
        let allocator = Allocator::default();
        let first = allocator.allocate(bytes).expect("little memory");
        let (address, class) = (first.as_ptr(), size_class(bytes).expect("small"));
        drop(first);
        assert_eq!((allocator.stats().cached_bytes, allocator.stats().cached_blocks), (class, 1));
        let second = allocator.clone().allocate(bytes - 1).expect("little memory");
        assert_eq!(second.as_ptr(), address);
        let stats = allocator.stats();
        assert_eq!((stats.hits, stats.misses, stats.cached_blocks), (1, 1, 0));
        assert_eq!((stats.live_bytes, stats.live_blocks, stats.peak_live_bytes), (class, 1, class));
    }
}

#[test]
fn the_cache_keeps_to_its_bound_and_pushes_out_the_oldest() {
    let allocator = bounded(10_000);
    let buffers: Vec<Buffer> =
        [1024, 2048, 4096, 8192].map(|bytes| allocator.allocate(bytes).expect("little memory")).into();
    buffers.into_iter().for_each(drop);
    // 8192 is kept, and of the older ones only what fits beside it would be: the oldest went first.
    assert_eq!((allocator.stats().cached_bytes, allocator.stats().cached_blocks), (8192, 1));
    drop(allocator.allocate(1 << 20).expect("little memory"));
    assert_eq!(allocator.stats().cached_bytes, 8192, "a block beyond the bound is not kept");
    drop(allocator.allocate(1024).expect("little memory"));
    assert_eq!((allocator.stats().cached_bytes, allocator.stats().cached_blocks), (9216, 2));
    allocator.trim();
    assert_eq!((allocator.stats().cached_bytes, allocator.stats().cached_blocks), (0, 0));
    assert_eq!(bounded(0).allocate(64).map(drop), Ok(()));
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let allocator = Allocator::default();
    for bytes in [usize::MAX, isize::MAX as usize, 1 << 60, 1 << 47] {
        let error = allocator.allocate(bytes).expect_err("nobody has so much");
        assert_eq!(error, AllocError::OutOfMemory { bytes });
    }
    let stats = allocator.stats();
    assert_eq!((stats.live_bytes, stats.live_blocks), (0, 0));
    assert!(allocator.allocate(100).is_ok());
}

#[test]
fn the_limit_on_live_bytes_holds_and_frees_again() {
    let allocator =
        Allocator::new(AllocatorOptions { cache_limit: 1 << 20, live_limit: Some(4096), guard: None });
    let first = allocator.allocate(3072).expect("within the limit");
    let error = allocator.allocate(2000).expect_err("beyond the limit");
    assert_eq!(error, AllocError::OverLimit { bytes: 2000, live: 3072, limit: 4096 });
    drop(first);
    assert!(allocator.allocate(4096).is_ok());
}

#[test]
fn a_buffer_may_outlive_its_allocator_and_end_on_another_thread() {
    let mut buffer = Allocator::default().allocate(3 * HUGE_PAGE).expect("little memory");
    buffer.as_mut_slice()[7] = 7;
    let thread = std::thread::spawn(move || buffer.as_slice()[7]);
    assert_eq!(thread.join().expect("no panic"), 7);
}

#[test]
fn threads_share_the_cache_and_no_two_share_a_block() {
    let allocator = bounded(1 << 20);
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            let allocator = &allocator;
            scope.spawn(move || {
                for round in 0..2000usize {
                    let mut buffer = allocator.allocate(64 + round % 5 * 700).expect("little memory");
                    buffer.as_mut_slice().fill(thread);
                    assert!(buffer.as_slice().iter().all(|&byte| byte == thread));
                }
            });
        }
    });
    let stats = allocator.stats();
    assert_eq!((stats.live_bytes, stats.live_blocks), (0, 0));
    assert_eq!(stats.hits + stats.misses, 16_000);
    assert!(stats.cached_bytes <= 1 << 20 && stats.hits > stats.misses);
}
