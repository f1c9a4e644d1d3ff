//! The live pages, and those that a transaction allocated and freed.
//!
//! LMDB writes a transaction's changes to free pages and adds the numbers of those it no longer needs to its free list,
//! under the transaction's number. So a page of the new trees that was not live before is new, and so is every page
//! above it.

use partita_store::StoreError;

use crate::pages::checksums::PageChecksum;
use crate::pages::page::{Database, Meta, NodeValue, Page, PageKind, overflow_pages, u64_at};
use crate::pages::page_set::PageSet;
use crate::pages::page_view::{LostPage, PageView};
use crate::pages::tree_walk::{KeyBounds, TreeView};
use crate::tree::root::{NamedDatabases, damaged};

/// How many pages a small file may be short of.
const UNWRITTEN_PAGES: u64 = 1 << 20;

/// The live pages of the last transaction whose checksums are written.
pub(crate) struct LivePages {
    live: PageSet,
    transaction: u64,
}

/// The effect of one or several transactions.
pub(crate) struct PageChanges {
    /// The new pages and their checksums, in page order.
    pub checksums: Vec<(u64, PageChecksum)>,
    live: PageSet,
    transaction: u64,
}

impl LivePages {
    /// Reads the live pages from the free list. All of its pages are checked, and those of the main database.
    pub fn read(view: &PageView, meta: &Meta) -> Result<LivePages, StoreError> {
        // A transaction may free its last pages before they are written.
        let most = view.pages_in_file().saturating_mul(4).saturating_add(UNWRITTEN_PAGES);
        if meta.last_page > most {
            let claimed = meta.last_page;
            return Err(StoreError::damaged(format!("data.mdb claims {claimed} pages, and is too short")));
        }
        let mut live = PageSet::default();
        for page in 2..=meta.last_page {
            live.insert(page);
        }
        let mut freed_twice = None;
        visit_freed(view, meta.free, 0, &mut |page| {
            if !live.remove(page) {
                freed_twice = Some(page);
            }
        })
        .map_err(damaged)?;
        if let Some(page) = freed_twice {
            return Err(StoreError::damaged(format!("page {page} of data.mdb is free twice")));
        }
        TreeView { view, database: meta.main }.all_pages(&mut |_, _, _| {}).map_err(damaged)?;
        let live_pages = LivePages { live, transaction: meta.transaction };
        check_page_count(&live_pages.live, view, meta)?;
        Ok(live_pages)
    }

    /// No page is live yet.
    pub fn empty() -> LivePages {
        LivePages { live: PageSet::default(), transaction: 0 }
    }

    /// What happened since. The new pages count as checked from here on: this process has just written them.
    pub fn changes(&self, view: &PageView, meta: &Meta) -> Result<PageChanges, StoreError> {
        let mut new =
            NewPageScan { view, before: &self.live, live: self.live.clone(), checksums: Vec::new() };
        new.database(meta.free, Keys::Numbers).map_err(damaged)?;
        new.database(meta.main, Keys::Bytes).map_err(damaged)?;
        let NewPageScan { mut live, mut checksums, .. } = new;
        checksums.sort_unstable_by_key(|(page, _)| *page);
        for (page, _) in &checksums {
            view.pages.set_checked(*page, true);
        }
        visit_freed(view, meta.free, self.transaction + 1, &mut |page| {
            live.remove(page);
        })
        .map_err(damaged)?;
        check_page_count(&live, view, meta)?;
        Ok(PageChanges { checksums, live, transaction: meta.transaction })
    }

    /// Takes over the changes, whose checksums are written.
    pub fn apply(&mut self, changes: PageChanges) {
        self.live = changes.live;
        self.transaction = changes.transaction;
    }

    pub fn transaction(&self) -> u64 {
        self.transaction
    }

    pub fn live(&self) -> &PageSet {
        &self.live
    }
}

/// Every live page belongs to a database, and the databases record how many they have.
fn check_page_count(live: &PageSet, view: &PageView, meta: &Meta) -> Result<(), StoreError> {
    let used = meta.free.pages + meta.main.pages + NamedDatabases::read(view, meta.main)?.pages();
    if live.count() == used {
        return Ok(());
    }
    Err(StoreError::damaged(format!(
        "data.mdb has {} pages in use and {used} in its databases",
        live.count()
    )))
}

/// Visits the pages that were freed by transactions from `from` on.
fn visit_freed(
    view: &PageView,
    free: Database,
    from: u64,
    visit: &mut impl FnMut(u64),
) -> Result<(), LostPage> {
    let tree = TreeView { view, database: free };
    match free.root {
        Some(root) => visit_freed_below(tree, root, free.depth, from, visit),
        None => Ok(()),
    }
}

fn visit_freed_below(
    tree: TreeView<'_>,
    number: u64,
    level: u16,
    from: u64,
    visit: &mut impl FnMut(u64),
) -> Result<(), LostPage> {
    let page = tree.page_at(number, level)?;
    let malformed = || tree.unexpected_page(number);
    let first = if level > 1 { page.child_with_number(from).ok_or_else(malformed)? } else { 0 };
    for index in first..page.nodes() {
        if level > 1 {
            let child = page.child(index).ok_or_else(malformed)?;
            visit_freed_below(tree, child, level - 1, from, visit)?;
            continue;
        }
        let node = page.leaf_node(index).ok_or_else(malformed)?;
        if u64_at(node.key, 0).ok_or_else(malformed)? < from {
            continue;
        }
        let (numbers, _) = tree.bytes(node.value)?.as_chunks::<8>();
        let (count, numbers) = numbers.split_first().ok_or_else(malformed)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| malformed())?;
        for page in numbers.get(..count).ok_or_else(malformed)? {
            visit(u64::from_le_bytes(*page));
        }
    }
    Ok(())
}

/// The type of a database's keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Bytes,
    Numbers,
}

/// Finds pages that were not live before.
struct NewPageScan<'v> {
    view: &'v PageView,
    before: &'v PageSet,
    live: PageSet,
    checksums: Vec<(u64, PageChecksum)>,
}

impl<'v> NewPageScan<'v> {
    fn database(&mut self, database: Database, keys: Keys) -> Result<(), LostPage> {
        match database.root {
            Some(root) => self.below(root, database.depth, keys, KeyBounds::default()),
            None => Ok(()),
        }
    }

    fn below(&mut self, number: u64, level: u16, keys: Keys, bounds: KeyBounds<'v>) -> Result<(), LostPage> {
        if self.before.contains(number) {
            return Ok(());
        }
        let page = Page(self.add(number, PageChecksum::of_nodes)?);
        let kind = if level > 1 { PageKind::Branch } else { PageKind::Leaf };
        let view = self.view;
        let malformed = || view.lost_page(number, "is not what LMDB should have written");
        let is_sound = page.kind() == Some(kind)
            && page.is_well_formed(number)
            && (keys == Keys::Numbers || bounds.contain_page(page, kind));
        if !is_sound {
            return Err(malformed());
        }
        for index in 0..page.nodes() {
            if level > 1 {
                let child = page.child(index).ok_or_else(malformed)?;
                self.below(child, level - 1, keys, bounds.of_child(page, index))?;
                continue;
            }
            match page.leaf_node(index).ok_or_else(malformed)?.value {
                NodeValue::Inline(_) => {}
                NodeValue::Database(record) => {
                    self.database(Database::read(record).ok_or_else(malformed)?, Keys::Bytes)?;
                }
                NodeValue::Overflow { page, bytes } => self.overflow(page, bytes)?,
            }
        }
        Ok(())
    }

    fn overflow(&mut self, first: u64, bytes: usize) -> Result<(), LostPage> {
        if self.before.contains(first) {
            return Ok(());
        }
        for number in first..first.saturating_add(overflow_pages(bytes, self.view.page_bytes)) {
            self.add(number, PageChecksum::of_bytes)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        number: u64,
        checksum_of: fn(u64, &[u8]) -> PageChecksum,
    ) -> Result<&'v [u8], LostPage> {
        let view = self.view;
        let bytes = view
            .raw_pages(number, 1)
            .ok_or_else(|| view.lost_page(number, "is beyond the end of the file"))?;
        if !self.live.insert(number) {
            return Err(view.lost_page(number, "is in use for two purposes"));
        }
        self.checksums.push((number, checksum_of(number, bytes)));
        Ok(bytes)
    }
}
