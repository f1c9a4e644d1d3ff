//! Checks everything in a folder that no process has open, and lists what is damaged. Nothing is changed.

use std::ops::ControlFlow;
use std::path::Path;

use partita_store::Direction;

use crate::offline::read_only_folder::ReadOnlyFolder;
use crate::open_error::OpenError;
use crate::pages::live_pages::LivePages;
use crate::pages::page::{Meta, NodeValue, overflow_pages};
use crate::pages::page_set::PageSet;
use crate::pages::tree_walk::{KeyBounds, TreeItem, TreeView};
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;
use crate::tree::root::{RangeItem, Root};

/// What was checked, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub pages: u64,
    pub rows: u64,
    pub findings: Vec<String>,
}

/// Checks every page against its checksum, that each is either live once or free, every row, and every chunk of a long
/// value. `progress` is called with the number of pages done and the total.
pub fn verify(folder: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Verified, OpenError> {
    let source = ReadOnlyFolder::open(folder, None)?;
    let mut verified = Verified::default();
    verified.findings.extend(source.format_damage.clone());
    let Some(meta) = source.meta.filter(|_| source.has_checksums) else {
        verified.findings.push("the file sums has no readable slot".to_string());
        return Ok(verified);
    };
    let live = match LivePages::read(&source.view, &meta) {
        Ok(live_pages) => live_pages.live().clone(),
        Err(error) => {
            verified.findings.push(error.to_string());
            return Ok(verified);
        }
    };
    let root = match Root::read_only(source.view.clone(), &meta) {
        Ok(root) => root,
        Err(error) => {
            verified.findings.push(error.to_string());
            return Ok(verified);
        }
    };
    let all = live.count();
    let mut walk = PageWalk {
        reached: PageSet::default(),
        findings: Vec::new(),
        progress: &mut |done| progress(done, all),
    };
    for tree in root.trees() {
        if let Some(first) = tree.database.root {
            walk.below(tree, first, tree.database.depth);
        }
    }
    verified.pages = walk.reached.count();
    let has_damage = !walk.findings.is_empty();
    verified.findings.append(&mut walk.findings);
    for page in live.iter().filter(|page| !has_damage && !walk.reached.contains(*page)) {
        verified.findings.push(format!("page {page} of data.mdb is neither in use nor free"));
    }
    for page in walk.reached.iter().filter(|page| !live.contains(*page)) {
        verified.findings.push(format!("page {page} of data.mdb is in use and free"));
    }
    verify_rows(&root, &meta, &mut verified);
    Ok(verified)
}

struct PageWalk<'p> {
    reached: PageSet,
    findings: Vec<String>,
    progress: &'p mut dyn FnMut(u64),
}

impl PageWalk<'_> {
    fn mark_reached(&mut self, number: u64) {
        if !self.reached.insert(number) {
            self.findings.push(format!("page {number} of data.mdb is in use twice"));
        }
        if self.reached.count().is_multiple_of(1_024) {
            (self.progress)(self.reached.count());
        }
    }

    fn below(&mut self, tree: TreeView<'_>, number: u64, level: u16) {
        self.mark_reached(number);
        let page = match tree.page_at(number, level) {
            Ok(page) => page,
            Err(lost) => return self.findings.push(lost.to_string()),
        };
        for index in 0..page.nodes() {
            if level > 1 {
                match page.child(index) {
                    Some(child) => self.below(tree, child, level - 1),
                    None => self.findings.push(tree.unexpected_page(number).to_string()),
                }
                continue;
            }
            match page.leaf_node(index).map(|node| node.value) {
                Some(NodeValue::Overflow { page, bytes }) => {
                    let pages = overflow_pages(bytes, tree.view.page_bytes);
                    (page..page.saturating_add(pages)).for_each(|number| self.mark_reached(number));
                    if let Err(lost) = tree.view.overflow(page, bytes) {
                        self.findings.push(lost.to_string());
                    }
                }
                Some(_) => {}
                None => self.findings.push(tree.unexpected_page(number).to_string()),
            }
        }
    }
}

/// Checks every row with its chunks, and that there are no chunks without a row.
fn verify_rows(root: &Root, meta: &Meta, verified: &mut Verified) {
    let all = KeyBounds::default().to_range();
    let (mut chunks_named, mut has_damage) = (0_u64, false);
    let walked = root.range(&all, Direction::Ascending, |item| {
        match item {
            RangeItem::Row(row) => {
                verified.rows += 1;
                match row.value() {
                    Ok(_) => {}
                    Err(error) => {
                        has_damage = true;
                        verified.findings.push(format!("row {}: {error}", entry::hex_prefix(row.key)));
                    }
                }
                if let Some(Entry::Long(long)) = row.entry() {
                    chunks_named += long_values::keys_of(long).count() as u64;
                }
            }
            RangeItem::Lost(damage) => {
                has_damage = true;
                verified.findings.push(damage.reason);
            }
        }
        Ok(ControlFlow::Continue(()))
    });
    if let Err(error) = walked {
        verified.findings.push(error.to_string());
    }
    let mut chunks_stored = 0_u64;
    let tree = root.tree(root.named.chunks);
    let _ = tree.range(&all, Direction::Ascending, |found| {
        match found {
            TreeItem::Row(_) => chunks_stored += 1,
            TreeItem::Lost(..) => has_damage = true,
        }
        Ok::<_, ()>(ControlFlow::Continue(()))
    });
    if !has_damage && chunks_named != chunks_stored {
        verified.findings.push(format!(
            "long values have {chunks_named} chunks and {chunks_stored} are stored, at transaction {}",
            meta.transaction
        ));
    }
}
