//! `ferrofuse bench`: how near the standard workloads come to the bandwidth of the memory.
//!
//! Inputs and outputs rotate among sets that together exceed the last-level cache several times. A copy and a read of
//! the same footprint are timed in between, and each row holds the bandwidths it is compared with. Times are medians.

mod bandwidth;
mod measure;
mod workloads;

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::Args;
use codegen::cpu::llvm::LlvmOptions;
use ferrofuse::{Machine, MachineOptions, table};

use crate::failure::{Failure, Outcome};
use measure::{Row, measure};
use workloads::{WORKLOADS, Workload};

/// Bandwidth of the standard workloads as a fraction of a copy.
#[derive(Args)]
pub struct Options {
    /// Workloads; without any, all of them
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Number of threads; without it, all that the process may use
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// One JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures and prints a row as soon as it is there.
pub fn run(options: &Options, llvm: LlvmOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let chosen = choose(&options.ids)?;
    let machine = Arc::new(Machine::new(MachineOptions {
        threads: options.threads,
        llvm,
        ..MachineOptions::default()
    }));
    let mut rows = Vec::new();
    for workload in chosen {
        eprintln!("{} …", workload.id);
        let row = measure(workload, &machine)?;
        if options.json {
            writeln!(out, "{}", serde_json::to_string(&row).expect("a row is plain data"))?;
            out.flush()?;
        }
        rows.push(row);
    }
    if !options.json {
        write!(out, "{}", table::columns(&lines(&rows)))?;
    }
    Ok(Outcome::Fine)
}

fn choose(ids: &[String]) -> Result<Vec<&'static Workload>, Failure> {
    if ids.is_empty() {
        return Ok(WORKLOADS.iter().collect());
    }
    let find = |id: &String| {
        WORKLOADS.iter().find(|workload| workload.id == id).ok_or_else(|| {
            let known: Vec<&str> = WORKLOADS.iter().map(|workload| workload.id).collect();
            Failure::user_with_help(
                format!("there is no workload `{id}`"),
                format!("there are {}", known.join(", ")),
            )
        })
    };
    ids.iter().map(find).collect()
}

fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let header = [
        "workload",
        "ms",
        "GB/s",
        "fraction",
        "of GB/s",
        "kernels",
        "traffic",
        "compile ms",
        "first ms",
        "call us",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for row in rows {
        let peer = row.copy_gbps.or(row.read_gbps).unwrap_or(0.0);
        lines.push(vec![
            row.workload.clone(),
            format!("{:.3}", row.ms),
            format!("{:.1}", row.gbps),
            format!("{:.2}", row.fraction),
            format!("{peer:.1}"),
            row.kernels.to_string(),
            format!("{:.3}", row.traffic_ratio),
            format!("{:.1}", row.compile_ms),
            format!("{:.1}", row.first_call_ms),
            format!("{:.1}", row.call_us),
        ]);
    }
    lines
}
