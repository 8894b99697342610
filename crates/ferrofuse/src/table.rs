//! Columns of text, bytes and times for readers. Takes values, returns text; writes nothing.

use std::time::Duration;

/// Lines with their cells under each other; trailing blanks are cut.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        // Not by a width of the format, which has 16 bits.
        let padded = |cell: &str, width: usize| format!("{cell}{}", " ".repeat(width - cell.chars().count()));
        let cells = row.iter().zip(&widths).map(|(cell, &width)| padded(cell, width));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Bytes in the largest binary unit that leaves at least one of it.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ => {
            let step = bytes.ilog2() / 10;
            format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * step)) as f64, UNITS[step as usize - 1])
        }
    }
}

/// A time in a suitable unit, with three digits.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(
            [0, 1023, 1024, 3 << 29, u64::MAX].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "1.5 GiB", "16.0 EiB"]
        );
        let times =
            [0, 1_500, 12_340_000, 999_000_000, 3_210_000_000].map(|ns| time(Duration::from_nanos(ns)));
        assert_eq!(times, ["0.00 us", "1.50 us", "12.3 ms", "999 ms", "3.21 s"]);
    }

    #[test]
    fn cells_stand_under_each_other() {
        let rows = [vec!["a".to_owned(), "bc".to_owned()], vec!["def".to_owned(), "g".to_owned()]];
        assert_eq!(columns(&rows), "a    bc\ndef  g\n");
    }
}
