//! `ferrofuse cache`: the cache of compiled kernels, and how to clear it.

use std::io::Write;

use clap::{Args, Subcommand};
use ferrofuse::table::bytes;
use ferrofuse::{CacheOptions, ObjectCache};

use crate::failure::{Failure, Outcome};

/// Look at the machine code that is kept between processes, or clear it.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// The folder, and how much lies in it
    Info,
    /// Remove all entries
    Clear,
}

/// Prints the contents, or what was removed.
pub fn run(options: &Options, cache: Option<CacheOptions>, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let Some(cache) = cache else {
        writeln!(out, "none: FERROFUSE_CACHE says so, or there is no home folder")?;
        return Ok(Outcome::Fine);
    };
    let folder = cache.folder.clone();
    let told = |error: std::io::Error| Failure::machine(format!("{}: {error}", folder.display()));
    let cache = ObjectCache::open(cache).map_err(told)?;
    match options.action {
        Action::Info => writeln!(out, "{}", summary(&cache))?,
        Action::Clear => {
            let gone = cache.clear().map_err(told)?;
            writeln!(out, "removed {} kernels, {}", gone.entries, bytes(gone.bytes))?;
        }
    }
    Ok(Outcome::Fine)
}

/// The place of a cache and its contents, in a line.
pub fn summary(cache: &ObjectCache) -> String {
    let contents = cache.contents();
    let (held, limit) = (bytes(contents.bytes), bytes(cache.limit()));
    format!("{}, {} kernels, {held} of {limit}", cache.path().display(), contents.entries)
}
