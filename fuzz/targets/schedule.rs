//! Schedules: whatever is read prints, and what is printed reads back as the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(schedule) = compiler::schedule::parse(text) else { return };
    assert_eq!(compiler::schedule::parse(&schedule.to_string()), Ok(schedule));
});
