//! Several files written at once, all or none.
//!
//! First each is written under a temporary name and reaches the disk; then streams such as FIFOs are written; then names are
//! exchanged. A failure on the way leaves everything as it was, except what a FIFO or device has taken. A process that is
//! killed leaves each file as it was or whole, and temporary files, which the next writer in that folder removes. An
//! existing file keeps its permissions, and its owner where the user may give files away.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::identity::{Identity, folder_of};
use crate::target::{Destination, Placed};
use crate::temporary::{Temporary, sweep};

/// A file that could not be written, and why.
#[derive(Debug)]
pub struct Failed<E> {
    /// The path, as it was given.
    pub path: PathBuf,
    pub error: E,
}

/// Places that are to be written.
#[derive(Debug)]
pub struct Targets {
    /// A folder to be made if it is not there.
    folder: Option<PathBuf>,
    targets: Vec<(PathBuf, Destination)>,
}

impl Targets {
    /// Places for outputs, none of which is one of the inputs, standard output or another output, by whichever names.
    ///
    /// # Errors
    /// The first output that is, or that cannot be written.
    pub fn new(outputs: &[&Path], inputs: &[&Path]) -> Result<Targets, Failed<io::Error>> {
        for output in outputs {
            if let Err(error) = fs::metadata(folder_of(output)) {
                return Err(Failed { path: output.to_path_buf(), error });
            }
        }
        Targets::look(None, outputs.iter().map(|path| path.to_path_buf()).collect(), inputs)
    }

    /// Places for files in a folder, which is made if need be when they are written.
    ///
    /// # Errors
    /// As for [`Targets::new`].
    pub fn in_folder(
        folder: &Path,
        names: &[String],
        inputs: &[&Path],
    ) -> Result<Targets, Failed<io::Error>> {
        if fs::metadata(folder).is_ok_and(|facts| !facts.is_dir()) {
            return Err(Failed { path: folder.to_owned(), error: ErrorKind::NotADirectory.into() });
        }
        let paths = names.iter().map(|name| folder.join(name)).collect();
        Targets::look(Some(folder.to_owned()), paths, inputs)
    }

    fn look(
        folder: Option<PathBuf>,
        outputs: Vec<PathBuf>,
        inputs: &[&Path],
    ) -> Result<Targets, Failed<io::Error>> {
        let input = |path: &&Path| Some((format!("the input {}", path.display()), Identity::of_path(path)?));
        let mut taken: Vec<(String, Identity)> = inputs.iter().filter_map(input).collect();
        taken.extend(Identity::of_stdout().map(|identity| ("standard output".to_owned(), identity)));
        let mut targets = Vec::new();
        for path in outputs {
            let target = Destination::at(&path).and_then(|target| {
                let Some(identity) = target.identity() else { return Ok(target) };
                if let Some((other, _)) = taken.iter().find(|(_, there)| there.is(&identity)) {
                    let reason = format!("the same file as {other}, which it would replace");
                    return Err(io::Error::new(ErrorKind::InvalidInput, reason));
                }
                taken.push((format!("the output {}", path.display()), identity));
                Ok(target)
            });
            match target {
                Ok(target) => targets.push((path, target)),
                Err(error) => return Err(Failed { path, error }),
            }
        }
        Ok(Targets { folder, targets })
    }

    /// Writes all: `content` gives the content of each, by its number.
    ///
    /// # Errors
    /// The first that cannot be written; then none is written.
    pub fn write<E: From<io::Error>>(
        &self,
        mut content: impl FnMut(usize, &mut dyn Write) -> Result<(), E>,
    ) -> Result<(), Failed<E>> {
        let made = self.make_folder().map_err(Failed::into)?;
        let written = self.write_whole(&mut content).and_then(|whole| {
            self.write_streams(&mut content)?;
            self.place(whole).map_err(Failed::into)
        });
        if written.is_err() {
            unmake(&made);
        }
        written
    }

    /// Makes the folder; returns the folders that were not there.
    fn make_folder(&self) -> Result<Vec<PathBuf>, Failed<io::Error>> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let absent = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let absent: Vec<&Path> = folder.ancestors().take_while(absent).collect();
        let mut made = Vec::new();
        for folder in absent.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => made.push(folder.to_owned()),
                // Another process was faster.
                Err(_) if folder.is_dir() => {}
                Err(error) => {
                    unmake(&made);
                    return Err(Failed { path: folder.to_owned(), error });
                }
            }
        }
        Ok(made)
    }

    /// Each regular file under a temporary name, whole and on the disk.
    fn write_whole<E: From<io::Error>>(
        &self,
        content: &mut dyn FnMut(usize, &mut dyn Write) -> Result<(), E>,
    ) -> Result<Vec<(usize, Temporary)>, Failed<E>> {
        let folders: BTreeSet<&Path> = self.targets.iter().filter_map(|(_, target)| folder(target)).collect();
        folders.into_iter().for_each(sweep);
        let mut whole = Vec::new();
        for (number, (named, target)) in self.targets.iter().enumerate() {
            let Destination::File { path, existing } = target else { continue };
            let mut write = || -> Result<Temporary, E> {
                let temporary = Destination::start(path, existing.as_ref())?;
                buffered(temporary.file(), |out| content(number, out))?;
                if let Some(existing) = existing {
                    existing.lend(temporary.file())?;
                }
                // Some file systems report only now that there is no room.
                temporary.file().sync_all()?;
                Ok(temporary)
            };
            match write() {
                Ok(temporary) => whole.push((number, temporary)),
                Err(error) => return Err(Failed { path: named.clone(), error }),
            }
        }
        Ok(whole)
    }

    fn write_streams<E: From<io::Error>>(
        &self,
        content: &mut dyn FnMut(usize, &mut dyn Write) -> Result<(), E>,
    ) -> Result<(), Failed<E>> {
        for (number, (named, target)) in self.targets.iter().enumerate() {
            let Destination::Stream(path) = target else { continue };
            let stream = OpenOptions::new().write(true).truncate(true).open(path);
            let written =
                stream.map_err(E::from).and_then(|stream| buffered(&stream, |out| content(number, out)));
            written.map_err(|error| Failed { path: named.clone(), error })?;
        }
        Ok(())
    }

    /// Gives whole files their names; if one cannot be renamed, undoes the others.
    fn place(&self, whole: Vec<(usize, Temporary)>) -> Result<(), Failed<io::Error>> {
        let mut placed: Vec<Placed> = Vec::new();
        for (number, temporary) in whole {
            let (named, target) = &self.targets[number];
            let Destination::File { path, existing } = target else { continue };
            existing.iter().for_each(|existing| existing.guard());
            match Destination::place(path.clone(), existing.as_ref(), temporary) {
                Ok(done) => placed.push(done),
                Err(error) => {
                    placed.into_iter().rev().for_each(Placed::undo);
                    return Err(Failed { path: named.clone(), error });
                }
            }
        }
        Ok(())
    }
}

/// Removes folders that were made. One that somebody else uses by now is not empty, and stays.
fn unmake(made: &[PathBuf]) {
    made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
}

fn folder(target: &Destination) -> Option<&Path> {
    match target {
        Destination::File { path, .. } => Some(folder_of(path)),
        Destination::Stream(_) => None,
    }
}

fn buffered<E: From<io::Error>>(
    file: &fs::File,
    content: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    content(&mut out)?;
    Ok(out.flush()?)
}

impl Failed<io::Error> {
    fn into<E: From<io::Error>>(self) -> Failed<E> {
        Failed { path: self.path, error: self.error.into() }
    }
}
