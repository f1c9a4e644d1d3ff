//! The simulated disk: the effect of C library calls on it, and when it fails.
//!
//! A write is pending until its file is synced; a created or removed name is pending until its folder is. After a crash,
//! the names are those of some moment, and each sector of the pending writes is there or not.

use crate::file::SimulatedFile;
use crate::image::Image;
use crate::planted_bug::PlantedBug;
use crate::trace::Trace;
use partita_list_append::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The block size of the log's records.
const BLOCK_BYTES: usize = 4_096;

/// How the disk fails. A number means once in that many calls; 0 means never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub write: usize,
    pub sync: usize,
    pub read: usize,
    /// Only a part is written.
    pub short: usize,
    /// Writes that would extend a file fail.
    pub full: bool,
    /// All writes fail.
    pub read_only: bool,
    /// Writes of LMDB's meta pages fail.
    pub meta: bool,
}

impl Faults {
    /// Often enough for every run to hit some.
    pub const FREQUENT: Faults =
        Faults { write: 60, sync: 60, read: 60, short: 60, full: false, read_only: false, meta: false };
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Done,
    /// Only this many bytes are written.
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
enum NameChange {
    Make(PathBuf, Entry),
    Move(PathBuf, PathBuf),
    Remove(PathBuf),
}

/// Names in a folder and below.
type Names = BTreeMap<PathBuf, Entry>;

pub struct Disk {
    pub root: PathBuf,
    pub random: Random,
    /// What the database gets as random bytes.
    pub entropy: Random,
    pub faults: Faults,
    pub planted_bug: Option<PlantedBug>,
    /// Crashes kill the process, and the power stays on.
    pub only_kills: bool,
    /// Threads without this disk write to its files too: what they have written is noticed when a file is synced.
    pub has_other_writers: bool,
    pub trace: Trace,
    files: Vec<SimulatedFile>,
    /// The file of each inode in the real folder.
    inodes: BTreeMap<u64, FileId>,
    names: Names,
    durable_names: Names,
    pending_names: Vec<NameChange>,
    /// The number of calls so far.
    pub calls: u64,
    /// The call at which the crash happens.
    pub crash_at: Option<u64>,
    /// What is left of the folder, if there was a crash.
    pub left: Option<Image>,
}

impl Disk {
    pub fn new(root: PathBuf, mut random: Random, planted_bug: Option<PlantedBug>) -> Disk {
        Disk {
            root,
            entropy: Random::new(random.number()),
            random,
            faults: Faults::default(),
            planted_bug,
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

    /// Continues in a new folder with what is left of the old one. `inode` looks up the inode of a file there.
    pub fn restart(&mut self, root: PathBuf, image: &Image, inode: impl Fn(&Path) -> u64) {
        self.files.clear();
        self.inodes.clear();
        self.names.clear();
        self.pending_names.clear();
        for (path, bytes) in &image.0 {
            let entry = match bytes {
                None => Entry::Folder,
                Some(bytes) => {
                    self.files.push(SimulatedFile::with_durable(bytes.clone()));
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

    /// A path relative to the root, as names are stored.
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

    pub fn tracks(&self, inode: u64) -> bool {
        !self.has_crashed() && self.inodes.contains_key(&inode)
    }

    /// Called before a write: decides its outcome.
    pub fn write_outcome(
        &mut self,
        inode: u64,
        offset: u64,
        length: usize,
        file_length: u64,
    ) -> WriteOutcome {
        let Some((_, name)) = self.file(inode) else { return WriteOutcome::Done };
        let Faults { write, short, full, read_only, meta, .. } = self.faults;
        let is_meta = name.ends_with("data.mdb") && length < BLOCK_BYTES;
        let outcome = if read_only {
            WriteOutcome::Failed(libc::EROFS)
        } else if meta && is_meta {
            WriteOutcome::Failed(libc::EIO)
        } else if full && offset + length as u64 > file_length {
            WriteOutcome::Failed(libc::ENOSPC)
        } else if self.should_fail(write) {
            WriteOutcome::Failed(libc::EIO)
        } else if length > 1 && self.should_fail(short) {
            WriteOutcome::Short(1 + self.random.below(length - 1))
        } else {
            WriteOutcome::Done
        };
        self.trace.record(format!("write {} {offset}+{length} {outcome:?}", name.display()));
        outcome
    }

    /// Called before a read: whether it fails.
    pub fn read_fails(&mut self, inode: u64) -> bool {
        let failed = self.should_fail(self.faults.read);
        if failed && let Some((_, name)) = self.file(inode) {
            self.trace.record(format!("read {} fails", name.display()));
        }
        failed
    }

    fn should_fail(&mut self, once_in: usize) -> bool {
        once_in > 0 && self.random.once_in(once_in)
    }

    /// Records that bytes were written; `durably` if that was part of the call.
    pub fn wrote(&mut self, inode: u64, offset: u64, bytes: &[u8], durably: bool) {
        let Some((id, name)) = self.file(inode) else { return };
        let cut = match self.planted_bug {
            Some(planted_bug) if planted_bug.cuts(&name, bytes) => bytes.len() - BLOCK_BYTES,
            _ => bytes.len(),
        };
        self.files[id].write(offset as usize, &bytes[..cut]);
        self.count_call();
        if durably {
            self.files[id].sync_last();
        }
    }

    pub fn set_length(&mut self, inode: u64, length: u64) {
        let Some((id, name)) = self.file(inode) else { return };
        self.trace.record(format!("set length of {} to {length}", name.display()));
        self.files[id].set_length(length as usize);
        self.count_call();
    }

    /// Whether another thread may have written to the file: LMDB uses one to copy a data file.
    pub fn is_copy(&self, inode: u64) -> bool {
        self.file(inode).is_some_and(|(_, name)| name.starts_with("data.new"))
    }

    /// Takes over the current contents of the file.
    pub fn catch_up(&mut self, inode: u64, bytes: &[u8]) {
        if let Some((id, name)) = self.file(inode)
            && self.files[id].left(|_| true) != bytes
        {
            self.trace.record(format!("copied {}: {} bytes", name.display(), bytes.len()));
            self.files[id].write(0, bytes);
        }
    }

    /// Syncs a file, or only its data; fails with an error of the operating system.
    pub fn sync(&mut self, inode: u64, data_only: bool) -> Result<(), i32> {
        let Some((id, name)) = self.file(inode) else { return Ok(()) };
        let failed = self.should_fail(self.faults.sync);
        if self.has_other_writers
            && let Ok(bytes) = std::fs::read(self.root.join(&name))
        {
            self.files[id].set_length(bytes.len());
            self.files[id].write(0, &bytes);
        }
        let pending = self.files[id].pending();
        self.trace.record(format!("sync {} with {pending} writes, failed: {failed}", name.display()));
        self.count_call();
        if failed {
            self.files[id].mark_stuck();
            return Err(libc::EIO);
        }
        if !(data_only && self.planted_bug.is_some_and(|planted_bug| planted_bug.skips_sync_of(&name))) {
            self.files[id].sync();
        }
        Ok(())
    }

    /// A sync of a folder makes all names durable, as a journal does.
    pub fn sync_names(&mut self) {
        self.trace.record(format!("sync {} names", self.pending_names.len()));
        self.count_call();
        for change in std::mem::take(&mut self.pending_names) {
            apply_name_change(&mut self.durable_names, &change);
        }
    }

    pub fn made_file(&mut self, path: PathBuf, inode: u64) {
        self.files.push(SimulatedFile::default());
        let id = self.files.len() - 1;
        self.inodes.insert(inode, id);
        self.change_name(NameChange::Make(path, Entry::File(id)));
    }

    pub fn made_folder(&mut self, path: PathBuf) {
        self.change_name(NameChange::Make(path, Entry::Folder));
    }

    pub fn moved(&mut self, from: PathBuf, to: PathBuf) {
        self.change_name(NameChange::Move(from, to));
    }

    pub fn removed(&mut self, path: PathBuf) {
        self.change_name(NameChange::Remove(path));
    }

    fn change_name(&mut self, change: NameChange) {
        self.trace.record(match &change {
            NameChange::Make(path, _) => format!("make {}", path.display()),
            NameChange::Move(from, to) => format!("move {} to {}", from.display(), to.display()),
            NameChange::Remove(path) => format!("remove {}", path.display()),
        });
        apply_name_change(&mut self.names, &change);
        self.pending_names.push(change);
        self.count_call();
    }

    /// Counts a call; at the chosen one the power fails.
    fn count_call(&mut self) {
        self.calls += 1;
        if self.crash_at == Some(self.calls) {
            self.crash();
        }
    }

    /// The process is killed now, and the machine stays on.
    pub fn kill(&mut self) {
        self.crash_with(CrashStyle::Everything);
    }

    /// The power fails now; with `only_kills` the process is killed instead.
    pub fn crash(&mut self) {
        let style = if self.only_kills { CrashStyle::Everything } else { CrashStyle::of(&mut self.random) };
        self.crash_with(style);
    }

    fn crash_with(&mut self, style: CrashStyle) {
        if self.has_crashed() {
            return;
        }
        self.trace.record(format!("crash: {style:?}"));
        let mut names = self.durable_names.clone();
        let kept = match style {
            CrashStyle::Everything => self.pending_names.len(),
            CrashStyle::Nothing => 0,
            CrashStyle::Sectors | CrashStyle::Beginning => self.random.below(self.pending_names.len() + 1),
        };
        self.pending_names[..kept].iter().for_each(|change| apply_name_change(&mut names, change));
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

/// Which pending writes survive a crash.
#[derive(Clone, Copy, Debug)]
enum CrashStyle {
    /// Nothing is lost: the process was killed and the machine stays on.
    Everything,
    Nothing,
    /// Each sector survives or not.
    Sectors,
    /// In each file the first writes survive, the last of them perhaps in part.
    Beginning,
}

impl CrashStyle {
    fn of(random: &mut Random) -> CrashStyle {
        [CrashStyle::Everything, CrashStyle::Nothing, CrashStyle::Sectors, CrashStyle::Beginning]
            [random.below(4)]
    }
}

fn left(file: &SimulatedFile, style: CrashStyle, random: &mut Random) -> Vec<u8> {
    match style {
        CrashStyle::Everything => file.left(|_| true),
        CrashStyle::Nothing => file.left(|_| false),
        CrashStyle::Sectors => file.left(|_| random.once_in(2)),
        CrashStyle::Beginning => {
            let torn = random.below(file.pending() + 1);
            let mut alive = true;
            file.left(|number| {
                alive = alive && (number < torn || (number == torn && !random.once_in(4)));
                alive
            })
        }
    }
}

fn apply_name_change(names: &mut Names, change: &NameChange) {
    match change {
        NameChange::Make(path, entry) => {
            names.insert(path.clone(), entry.clone());
        }
        NameChange::Move(from, to) => {
            if let Some(entry) = names.remove(from) {
                names.insert(to.clone(), entry);
            }
        }
        NameChange::Remove(path) => {
            names.remove(path);
        }
    }
}
