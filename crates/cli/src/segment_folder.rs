//! A folder of segments: `definition.py`, `seg0.py`, … and `index_map.json`, which connects them.
//!
//! Written by `ferrofuse segment`, run by `ferrofuse run`, explained by `ferrofuse explain`. A segment's file may be
//! edited as long as its inputs and outputs are the same; `index_map.json` has schedules too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ferrofuse::{
    Definition, File, Schedule, Segment, Segmentation, count_positions, parse_schedule, read_segmentation,
};
use files::{Targets, is_temporary};
use frontend::text::{NameStyle, print};
use serde::{Deserialize, Serialize};

use crate::definition;
use crate::failure::Failure;

/// The whole definition.
const DEFINITION: &str = "definition.py";
/// The connections between the segments.
const INDEX: &str = "index_map.json";

/// The contents of `index_map.json`.
#[derive(Serialize, Deserialize)]
struct Index {
    segments: Vec<Entry>,
    /// The numbers of the segments in the order they run.
    order: Vec<usize>,
    /// The inputs of the whole definition.
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// The entry of a segment.
#[derive(Serialize, Deserialize)]
struct Entry {
    file: String,
    /// From the numbers of values in the file, as printed with short names, to those in the whole definition.
    index_map: BTreeMap<usize, usize>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    recomputed: Vec<String>,
    bytes: Option<u64>,
    bytes_formula: String,
    /// The device and the stream that the definition's groups request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stream: Option<u32>,
    /// As `emit --stage schedule` prints it; if absent the compiler chooses.
    schedule: Option<String>,
    reason: String,
}

/// Writes the folder atomically: the text of the whole definition, and its segments.
///
/// # Errors
/// When the folder holds other files or files that were edited, or cannot be written to.
pub fn write(
    folder: &Path,
    text: &[u8],
    definition: &Definition,
    segments: &[Segment],
    read: &[&Path],
) -> Result<(), Failure> {
    if let Some(segment) = segments.iter().find(|segment| file_of(segment) == DEFINITION) {
        let message = format!("segment `{}`: {DEFINITION} is the file of the whole definition", segment.name);
        return Err(Failure::user_with_help(message, "give the segment another name in the segmentation"));
    }
    let mut names = vec![DEFINITION.to_owned(), INDEX.to_owned()];
    names.extend(segments.iter().map(file_of));
    require_no_others(folder, &names)?;
    let targets = Targets::in_folder(folder, &names, read)?;
    let index = serde_json::to_string_pretty(&Index::of(definition, segments)).expect("plain data");
    let mut texts = vec![text.to_vec(), format!("{index}\n").into_bytes()];
    texts.extend(segments.iter().map(|segment| text_of(segment).into_bytes()));
    require_unedited(folder, &names, &texts)?;
    targets.write(|place, out| -> std::io::Result<()> { out.write_all(&texts[place]) })?;
    Ok(())
}

/// Rejects a folder in which a file has other contents than it would get.
fn require_unedited(folder: &Path, names: &[String], texts: &[Vec<u8>]) -> Result<(), Failure> {
    let is_edited =
        |(name, text): &(&String, &Vec<u8>)| fs::read(folder.join(name)).is_ok_and(|there| there != **text);
    let Some((name, _)) = names.iter().zip(texts).find(is_edited) else { return Ok(()) };
    let message = format!("{}: `{name}` is there with other contents", folder.display());
    Err(Failure::user_with_help(message, "give a folder that is empty or yet to be made"))
}

/// A folder of segments as read.
pub struct SegmentFolder {
    /// The whole definition.
    pub file: File,
    /// The segmentation that the segments come from.
    pub segmentation: Segmentation,
    index: Index,
    /// The segments as their files define them, in the order they run.
    definitions: Vec<Definition>,
}

impl SegmentFolder {
    /// Reads a folder.
    ///
    /// # Errors
    /// When it is another folder, when a file is missing or has other contents, and for positions that do not exist.
    pub fn read(folder: &Path) -> Result<SegmentFolder, Failure> {
        if !folder.join(INDEX).exists() {
            let reason = format!("is a directory without {INDEX}, which `ferrofuse segment` writes");
            return Err(Failure::user(format!("{}: {reason}", folder.display())));
        }
        let file = definition::read(&folder.join(DEFINITION))?;
        let index = Index::read(&folder.join(INDEX))?;
        let read = |entry: &Entry| Ok(definition::read(&folder.join(&entry.file))?.definition);
        let definitions = index.segments.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let segmentation = read_segmentation(&file.definition, &index.segmentation());
        let segmentation = segmentation.map_err(|error| Failure::user(format!("{INDEX}: {error}")))?;
        Ok(SegmentFolder { file, segmentation, index, definitions })
    }

    /// The segments of the definition with the files in their place.
    ///
    /// # Errors
    /// For positions that do not exist, a segment with other inputs or outputs, and a text that is no schedule.
    pub fn edited(self, mut segments: Vec<Segment>) -> Result<Vec<Segment>, Failure> {
        let crossing = segments.iter().flat_map(|segment| segment.index_map.values());
        let there = crossing.map(|last| last + 1).chain([count_positions(&self.file.definition)]).max();
        for (entry, definition) in self.index.segments.iter().zip(&self.definitions) {
            entry.require_positions(definition, there.unwrap_or(0))?;
        }
        self.index.require_boundary_of(&self.file.definition)?;
        for (entry, definition) in self.index.segments.iter().zip(self.definitions) {
            let makes = |segment: &&mut Segment| segment.outputs == entry.outputs;
            let Some(segment) = segments.iter_mut().find(makes) else {
                let made = entry.outputs.join(", ");
                return Err(Failure::user(format!(
                    "{INDEX}: {} gives {made}, which no segment makes",
                    entry.file
                )));
            };
            segment.replace(definition).map_err(Failure::user)?;
            entry.require_as_cut(segment)?;
            segment.schedule = entry.schedule()?;
        }
        Ok(segments)
    }
}

impl Index {
    fn of(definition: &Definition, segments: &[Segment]) -> Index {
        let input = |&val| definition.name_of(val);
        Index {
            segments: segments.iter().map(Entry::of).collect(),
            order: (0..segments.len()).collect(),
            inputs: definition.fusion.inputs().iter().map(input).collect(),
            outputs: ferrofuse::output_names(definition),
        }
    }

    fn read(path: &Path) -> Result<Index, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::of_file(path, &error);
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let index: Index = serde_json::from_str(&text).map_err(|error| failed(&error))?;
        let mut numbers = index.order.clone();
        numbers.sort_unstable();
        if !numbers.into_iter().eq(0..index.segments.len()) {
            let count = index.segments.len();
            return Err(Failure::user(format!("{INDEX}: the order must name each of {count} segments once")));
        }
        Ok(index)
    }

    /// Rejects other inputs and outputs than those of the whole definition.
    fn require_boundary_of(&self, whole: &Definition) -> Result<(), Failure> {
        let own = Index::of(whole, &[]);
        let boundary = [("inputs", &self.inputs, &own.inputs), ("outputs", &self.outputs, &own.outputs)];
        for (what, given, own) in boundary {
            if given != own {
                let (given, own) = (list(given), list(own));
                return Err(Failure::user(format!(
                    "{INDEX}: the {what} are {given}; {DEFINITION} has {own}"
                )));
            }
        }
        Ok(())
    }

    /// The segments in the text of a segmentation.
    fn segmentation(&self) -> String {
        let line = |&number: &usize| {
            let entry = &self.segments[number];
            format!("segment {} -> {}\n", entry.name(), entry.outputs.join(", "))
        };
        self.order.iter().map(line).collect()
    }
}

impl Entry {
    fn of(segment: &Segment) -> Entry {
        Entry {
            file: file_of(segment),
            index_map: segment.index_map.clone(),
            inputs: segment.inputs.clone(),
            outputs: segment.outputs.clone(),
            recomputed: segment.recomputed.clone(),
            bytes: segment.bytes,
            bytes_formula: segment.bytes_formula.clone(),
            device: segment.at.device.as_deref().map(str::to_owned),
            stream: segment.at.stream,
            schedule: segment.schedule.as_ref().map(Schedule::to_string),
            reason: segment.why.clone(),
        }
    }

    /// The name of the segment.
    fn name(&self) -> &str {
        self.file.strip_suffix(".py").unwrap_or(&self.file)
    }

    /// Rejects positions beyond those of the segment's file, and of the whole definition.
    fn require_positions(&self, segment: &Definition, whole: usize) -> Result<(), Failure> {
        let own = count_positions(segment);
        for (&position, &of) in &self.index_map {
            let places = [(position, own, self.file.as_str()), (of, whole, DEFINITION)];
            if let Some((beyond, there, file)) = places.into_iter().find(|(at, there, _)| at >= there) {
                let entry = format!("{INDEX}: the index map of {} has {position}: {of}", self.name());
                return Err(Failure::user(format!(
                    "{entry}, but {file} has no {beyond}: it has {there} values"
                )));
            }
        }
        Ok(())
    }

    /// Rejects inputs that are not those of the segment, and an index map that leads elsewhere. An edited file has values of
    /// its own, so its map may be any.
    fn require_as_cut(&self, segment: &Segment) -> Result<(), Failure> {
        if self.inputs != segment.inputs {
            let (name, given, own) = (self.name(), list(&self.inputs), list(&segment.inputs));
            return Err(Failure::user(format!(
                "{INDEX}: {name} takes {given}, but as it is cut it takes {own}"
            )));
        }
        if segment.is_edited() || self.index_map == segment.index_map {
            return Ok(());
        }
        let (given, own) = (&self.index_map, &segment.index_map);
        let positions: BTreeSet<&usize> = given.keys().chain(own.keys()).collect();
        let differs = |position: &&&usize| given.get(position) != own.get(position);
        let position = positions.iter().find(differs).expect("the maps differ");
        let entry = |map: &BTreeMap<usize, usize>| {
            map.get(position).map_or_else(|| format!("no {position}"), |of| format!("{position}: {of}"))
        };
        let (name, given, own) = (self.name(), entry(given), entry(own));
        Err(Failure::user(format!(
            "{INDEX}: the index map of {name} has {given}, but as it is cut it has {own}"
        )))
    }

    fn schedule(&self) -> Result<Option<Schedule>, Failure> {
        let parsed = self.schedule.as_deref().map(parse_schedule).transpose();
        parsed.map_err(|error| Failure::user(format!("{INDEX}: the schedule of {}: {error}", self.name())))
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn file_of(segment: &Segment) -> String {
    format!("{}.py", segment.name)
}

/// A segment's file: a comment that describes it, then the definition.
fn text_of(segment: &Segment) -> String {
    let (inputs, outputs) = (segment.inputs.join(", "), segment.outputs.join(", "));
    let text = print(segment.definition(), NameStyle::Short);
    format!("# {}: takes {inputs}; gives {outputs}\n{text}", segment.name)
}

/// The file of the whole definition: that of a folder of segments, or the file itself.
pub fn definition_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(DEFINITION) } else { path.to_owned() }
}

/// Rejects a folder with other files than those to be written.
fn require_no_others(folder: &Path, names: &[String]) -> Result<(), Failure> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let found = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut others: Vec<String> = found.filter(|name| !names.contains(name) && !is_temporary(name)).collect();
    others.sort();
    match others.first() {
        None => Ok(()),
        Some(other) => Err(Failure::user_with_help(
            format!("{}: the folder holds `{other}`, which is no file of these segments", folder.display()),
            "give a folder that is empty or yet to be made",
        )),
    }
}
