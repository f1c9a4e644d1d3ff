//! The simulated disk: what the calls of the C library do to it, what it makes of them, and when it fails.
//!
//! A write is pending until its file is flushed; a name that came or went is pending until its folder is. At a crash, names
//! are left as of some moment, and of what is pending each sector is there or not.

use crate::file::SimulatedFile;
use crate::image::Image;
use crate::plant::Plant;
use crate::trace::Trace;
use partita_list_append::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Records of the log are made of these.
const BLOCK_BYTES: usize = 4_096;

/// How often something fails, once in so many calls; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub write: usize,
    pub flush: usize,
    pub read: usize,
    /// Only a part is written.
    pub short: usize,
    /// Nothing that makes a file longer is written.
    pub full: bool,
    /// Nothing at all is written.
    pub read_only: bool,
    /// LMDB's meta pages are not written.
    pub meta: bool,
}

impl Faults {
    /// Often enough for every run to meet some.
    pub const OFTEN: Faults =
        Faults { write: 60, flush: 60, read: 60, short: 60, full: false, read_only: false, meta: false };
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Done,
    /// So many bytes of it only.
    Short(usize),
    /// An error of the operating system.
    Failed(i32),
}

type FileId = usize;

#[derive(Clone)]
enum Entry {
    Folder,
    File(FileId),
}

#[derive(Clone)]
enum Renaming {
    Make(PathBuf, Entry),
    Move(PathBuf, PathBuf),
    Remove(PathBuf),
}

/// Names in a folder and below.
type Names = BTreeMap<PathBuf, Entry>;

pub struct Disk {
    pub root: PathBuf,
    pub random: Random,
    /// What the database takes for random.
    pub secrets: Random,
    pub faults: Faults,
    pub plant: Option<Plant>,
    /// The process is killed, and the power stays.
    pub only_kills: bool,
    /// Threads without this disk write to its files too: what they have written is found when a file is flushed.
    pub has_other_writers: bool,
    pub trace: Trace,
    files: Vec<SimulatedFile>,
    /// Which file an inode of the real folder is.
    inodes: BTreeMap<u64, FileId>,
    names: Names,
    durable_names: Names,
    pending_names: Vec<Renaming>,
    /// How many calls there were.
    pub calls: u64,
    /// The call at which the power goes.
    pub crash_at: Option<u64>,
    /// What is left of the folder: there was a crash.
    pub left: Option<Image>,
}

impl Disk {
    pub fn new(root: PathBuf, mut random: Random, plant: Option<Plant>) -> Disk {
        Disk {
            root,
            secrets: Random::new(random.number()),
            random,
            faults: Faults::default(),
            plant,
            only_kills: false,
            has_other_writers: false,
            trace: Trace::default(),
            files: Vec::new(),
            inodes: BTreeMap::new(),
            names: Names::new(),
            durable_names: Names::new(),
            pending_names: Vec::new(),
            calls: 0,
            crash_at: None,
            left: None,
        }
    }

    /// Goes on in a new folder, with what is left of the old one. `inode` looks up what is there.
    pub fn restart(&mut self, root: PathBuf, image: &Image, inode: impl Fn(&Path) -> u64) {
        self.files.clear();
        self.inodes.clear();
        self.names.clear();
        self.pending_names.clear();
        for (path, bytes) in &image.0 {
            let entry = match bytes {
                None => Entry::Folder,
                Some(bytes) => {
                    self.files.push(SimulatedFile::durably(bytes.clone()));
                    self.inodes.insert(inode(&root.join(path)), self.files.len() - 1);
                    Entry::File(self.files.len() - 1)
                }
            };
            self.names.insert(path.clone(), entry);
        }
        self.durable_names = self.names.clone();
        self.root = root;
        self.left = None;
        self.crash_at = None;
    }

    /// A path below the root, as names are kept.
    pub fn relative(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.root).ok().map(Path::to_path_buf)
    }

    pub fn has_crashed(&self) -> bool {
        self.left.is_some()
    }

    /// The file of an inode, and its name for the trace.
    fn file(&self, inode: u64) -> Option<(FileId, PathBuf)> {
        let id = *self.inodes.get(&inode)?;
        let name = self.names.iter().find(|(_, entry)| matches!(entry, Entry::File(other) if *other == id));
        Some((id, name.map(|(path, _)| path.clone()).unwrap_or_else(|| "(removed)".into())))
    }

    pub fn knows(&self, inode: u64) -> bool {
        !self.has_crashed() && self.inodes.contains_key(&inode)
    }

    /// Before a write: what becomes of it.
    pub fn fate(&mut self, inode: u64, offset: u64, length: usize, file_length: u64) -> Fate {
        let Some((_, name)) = self.file(inode) else { return Fate::Done };
        let Faults { write, short, full, read_only, meta, .. } = self.faults;
        let is_meta = name.ends_with("data.mdb") && length < BLOCK_BYTES;
        let fate = if read_only {
            Fate::Failed(libc::EROFS)
        } else if meta && is_meta {
            Fate::Failed(libc::EIO)
        } else if full && offset + length as u64 > file_length {
            Fate::Failed(libc::ENOSPC)
        } else if self.is_due(write) {
            Fate::Failed(libc::EIO)
        } else if length > 1 && self.is_due(short) {
            Fate::Short(1 + self.random.below(length - 1))
        } else {
            Fate::Done
        };
        self.trace.note(format!("write {} {offset}+{length} {fate:?}", name.display()));
        fate
    }

    /// Before a read: whether it fails.
    pub fn read_fails(&mut self, inode: u64) -> bool {
        let failed = self.is_due(self.faults.read);
        if failed && let Some((_, name)) = self.file(inode) {
            self.trace.note(format!("read {} fails", name.display()));
        }
        failed
    }

    fn is_due(&mut self, once_in: usize) -> bool {
        once_in > 0 && self.random.once_in(once_in)
    }

    /// Bytes were written; `durably` if that was asked for with them.
    pub fn wrote(&mut self, inode: u64, offset: u64, bytes: &[u8], durably: bool) {
        let Some((id, name)) = self.file(inode) else { return };
        let cut = match self.plant {
            Some(plant) if plant.cuts(&name, bytes) => bytes.len() - BLOCK_BYTES,
            _ => bytes.len(),
        };
        self.files[id].write(offset as usize, &bytes[..cut]);
        self.count();
        if durably {
            self.files[id].flush_last();
        }
    }

    pub fn set_length(&mut self, inode: u64, length: u64) {
        let Some((id, name)) = self.file(inode) else { return };
        self.trace.note(format!("set length of {} to {length}", name.display()));
        self.files[id].set_length(length as usize);
        self.count();
    }

    /// Whether somebody else may have written to the file: LMDB has a thread of its own to copy a data file.
    pub fn is_copy(&self, inode: u64) -> bool {
        self.file(inode).is_some_and(|(_, name)| name.starts_with("data.new"))
    }

    /// Takes in what the file has now.
    pub fn catch_up(&mut self, inode: u64, bytes: &[u8]) {
        if let Some((id, name)) = self.file(inode)
            && self.files[id].left(|_| true) != bytes
        {
            self.trace.note(format!("copied {}: {} bytes", name.display(), bytes.len()));
            self.files[id].write(0, bytes);
        }
    }

    /// A flush of a file, or of its `data_only`; fails with an error of the operating system.
    pub fn flush(&mut self, inode: u64, data_only: bool) -> Result<(), i32> {
        let Some((id, name)) = self.file(inode) else { return Ok(()) };
        let failed = self.is_due(self.faults.flush);
        if self.has_other_writers
            && let Ok(bytes) = std::fs::read(self.root.join(&name))
        {
            self.files[id].set_length(bytes.len());
            self.files[id].write(0, &bytes);
        }
        let pending = self.files[id].pending();
        self.trace.note(format!("flush {} of {pending} writes, failed: {failed}", name.display()));
        self.count();
        if failed {
            self.files[id].stick();
            return Err(libc::EIO);
        }
        if !(data_only && self.plant.is_some_and(|plant| plant.skips_sync_of(&name))) {
            self.files[id].flush();
        }
        Ok(())
    }

    /// A flush of a folder makes all names durable, as a journal does.
    pub fn flush_names(&mut self) {
        self.trace.note(format!("flush {} names", self.pending_names.len()));
        self.count();
        for renaming in std::mem::take(&mut self.pending_names) {
            rename(&mut self.durable_names, &renaming);
        }
    }

    pub fn made_file(&mut self, path: PathBuf, inode: u64) {
        self.files.push(SimulatedFile::default());
        let id = self.files.len() - 1;
        self.inodes.insert(inode, id);
        self.renamed(Renaming::Make(path, Entry::File(id)));
    }

    pub fn made_folder(&mut self, path: PathBuf) {
        self.renamed(Renaming::Make(path, Entry::Folder));
    }

    pub fn moved(&mut self, from: PathBuf, to: PathBuf) {
        self.renamed(Renaming::Move(from, to));
    }

    pub fn removed(&mut self, path: PathBuf) {
        self.renamed(Renaming::Remove(path));
    }

    fn renamed(&mut self, renaming: Renaming) {
        self.trace.note(match &renaming {
            Renaming::Make(path, _) => format!("make {}", path.display()),
            Renaming::Move(from, to) => format!("move {} to {}", from.display(), to.display()),
            Renaming::Remove(path) => format!("remove {}", path.display()),
        });
        rename(&mut self.names, &renaming);
        self.pending_names.push(renaming);
        self.count();
    }

    /// Another call; at the chosen one the power goes.
    fn count(&mut self) {
        self.calls += 1;
        if self.crash_at == Some(self.calls) {
            self.crash();
        }
    }

    /// The process ends now, and the machine lives.
    pub fn kill(&mut self) {
        self.end(Style::Everything);
    }

    /// The power goes now.
    pub fn crash(&mut self) {
        let style = if self.only_kills { Style::Everything } else { Style::of(&mut self.random) };
        self.end(style);
    }

    fn end(&mut self, style: Style) {
        if self.has_crashed() {
            return;
        }
        self.trace.note(format!("crash: {style:?}"));
        let mut names = self.durable_names.clone();
        let kept = match style {
            Style::Everything => self.pending_names.len(),
            Style::Nothing => 0,
            Style::Sectors | Style::Beginning => self.random.below(self.pending_names.len() + 1),
        };
        self.pending_names[..kept].iter().for_each(|renaming| rename(&mut names, renaming));
        let mut image = Image::default();
        for (path, entry) in names {
            let bytes = match entry {
                Entry::Folder => None,
                Entry::File(id) => Some(left(&self.files[id], style, &mut self.random)),
            };
            image.0.insert(path, bytes);
        }
        self.left = Some(image);
    }
}

/// What a power loss takes of what is pending.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// The process was killed and the machine lives.
    Everything,
    Nothing,
    /// Each sector is there or not.
    Sectors,
    /// Of each file the first writes are there, up to a sector of one.
    Beginning,
}

impl Style {
    fn of(random: &mut Random) -> Style {
        [Style::Everything, Style::Nothing, Style::Sectors, Style::Beginning][random.below(4)]
    }
}

fn left(file: &SimulatedFile, style: Style, random: &mut Random) -> Vec<u8> {
    match style {
        Style::Everything => file.left(|_| true),
        Style::Nothing => file.left(|_| false),
        Style::Sectors => file.left(|_| random.once_in(2)),
        Style::Beginning => {
            let torn = random.below(file.pending() + 1);
            let mut alive = true;
            file.left(|number| {
                alive = alive && (number < torn || (number == torn && !random.once_in(4)));
                alive
            })
        }
    }
}

fn rename(names: &mut Names, renaming: &Renaming) {
    match renaming {
        Renaming::Make(path, entry) => {
            names.insert(path.clone(), entry.clone());
        }
        Renaming::Move(from, to) => {
            if let Some(entry) = names.remove(from) {
                names.insert(to.clone(), entry);
            }
        }
        Renaming::Remove(path) => {
            names.remove(path);
        }
    }
}
