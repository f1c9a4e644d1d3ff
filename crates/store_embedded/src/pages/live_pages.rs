//! Which pages are in use, and which ones a transaction added and gave up.
//!
//! LMDB writes a transaction's changes to pages that are free and puts the numbers of those it no longer needs into
//! its database of free pages, under the number of the transaction. So a page of the new trees that was not in use
//! before is new, and everything above it is, too.

use partita_store::StoreError;

use crate::pages::checksums::PageSum;
use crate::pages::page::{Database, Kind, Meta, Page, Value, overflow_pages, u64_at};
use crate::pages::page_set::PageBits;
use crate::pages::page_view::{LostPage, View};
use crate::pages::tree_walk::{Bounds, Tree};
use crate::tree::root::{Named, damaged};

/// So many pages a small file may be short of.
const UNWRITTEN_PAGES: u64 = 1 << 20;

/// The pages in use by the last transaction whose sums are written.
pub(crate) struct PageAccounts {
    live: PageBits,
    transaction: u64,
}

/// What one or several transactions did.
pub(crate) struct Changes {
    /// The new pages and their sums, in order.
    pub sums: Vec<(u64, PageSum)>,
    live: PageBits,
    transaction: u64,
}

impl PageAccounts {
    /// As the database of free pages has it. All of its pages are checked, and those of the database of names.
    pub fn read(view: &View, meta: &Meta) -> Result<PageAccounts, StoreError> {
        // A transaction may give up its last pages before they are written.
        let most = view.pages_in_file().saturating_mul(4).saturating_add(UNWRITTEN_PAGES);
        if meta.last_page > most {
            let said = meta.last_page;
            return Err(StoreError::damaged(format!(
                "data.mdb is said to have {said} pages, and is too short"
            )));
        }
        let mut live = PageBits::default();
        for page in 2..=meta.last_page {
            live.insert(page);
        }
        let mut twice = None;
        each_free(view, meta.free, 0, &mut |page| {
            if !live.remove(page) {
                twice = Some(page);
            }
        })
        .map_err(damaged)?;
        if let Some(page) = twice {
            return Err(StoreError::damaged(format!("page {page} of data.mdb is free twice")));
        }
        Tree { view, database: meta.main }.all_pages(&mut |_, _, _| {}).map_err(damaged)?;
        let accounts = PageAccounts { live, transaction: meta.transaction };
        balance(&accounts.live, view, meta)?;
        Ok(accounts)
    }

    /// Nothing is in use yet.
    pub fn empty() -> PageAccounts {
        PageAccounts { live: PageBits::default(), transaction: 0 }
    }

    /// What happened since. The new pages count as checked from here on: this program has just written them.
    pub fn changes(&self, view: &View, meta: &Meta) -> Result<Changes, StoreError> {
        let mut new = New { view, before: &self.live, live: self.live.clone(), sums: Vec::new() };
        new.database(meta.free, Keys::Numbers).map_err(damaged)?;
        new.database(meta.main, Keys::Bytes).map_err(damaged)?;
        let New { mut live, mut sums, .. } = new;
        sums.sort_unstable_by_key(|(page, _)| *page);
        for (page, _) in &sums {
            view.pages.set_checked(*page, true);
        }
        each_free(view, meta.free, self.transaction + 1, &mut |page| {
            live.remove(page);
        })
        .map_err(damaged)?;
        balance(&live, view, meta)?;
        Ok(Changes { sums, live, transaction: meta.transaction })
    }

    /// The changes' sums are written.
    pub fn take(&mut self, changes: Changes) {
        self.live = changes.live;
        self.transaction = changes.transaction;
    }

    pub fn transaction(&self) -> u64 {
        self.transaction
    }

    pub fn live(&self) -> &PageBits {
        &self.live
    }
}

/// Every page in use belongs to a database, and the databases say how many they have.
fn balance(live: &PageBits, view: &View, meta: &Meta) -> Result<(), StoreError> {
    let used = meta.free.pages + meta.main.pages + Named::read(view, meta.main)?.pages();
    if live.count() == used {
        return Ok(());
    }
    Err(StoreError::damaged(format!(
        "data.mdb has {} pages in use and {used} in its databases",
        live.count()
    )))
}

/// Shows the pages that were given up by transactions from this one on.
fn each_free(view: &View, free: Database, from: u64, visit: &mut impl FnMut(u64)) -> Result<(), LostPage> {
    let tree = Tree { view, database: free };
    match free.root {
        Some(root) => each_free_below(tree, root, free.depth, from, visit),
        None => Ok(()),
    }
}

fn each_free_below(
    tree: Tree<'_>,
    number: u64,
    level: u16,
    from: u64,
    visit: &mut impl FnMut(u64),
) -> Result<(), LostPage> {
    let page = tree.page_at(number, level)?;
    let broken = || tree.broken(number);
    let first = if level > 1 { page.child_with_number(from).ok_or_else(broken)? } else { 0 };
    for index in first..page.nodes() {
        if level > 1 {
            let child = page.child(index).ok_or_else(broken)?;
            each_free_below(tree, child, level - 1, from, visit)?;
            continue;
        }
        let node = page.leaf_node(index).ok_or_else(broken)?;
        if u64_at(node.key, 0).ok_or_else(broken)? < from {
            continue;
        }
        let (numbers, _) = tree.bytes(node.value)?.as_chunks::<8>();
        let (count, numbers) = numbers.split_first().ok_or_else(broken)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| broken())?;
        for page in numbers.get(..count).ok_or_else(broken)? {
            visit(u64::from_le_bytes(*page));
        }
    }
    Ok(())
}

/// What a database's keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Bytes,
    Numbers,
}

/// Looks for pages that were not in use before.
struct New<'v> {
    view: &'v View,
    before: &'v PageBits,
    live: PageBits,
    sums: Vec<(u64, PageSum)>,
}

impl<'v> New<'v> {
    fn database(&mut self, database: Database, keys: Keys) -> Result<(), LostPage> {
        match database.root {
            Some(root) => self.below(root, database.depth, keys, Bounds::default()),
            None => Ok(()),
        }
    }

    fn below(&mut self, number: u64, level: u16, keys: Keys, bounds: Bounds<'v>) -> Result<(), LostPage> {
        if self.before.has(number) {
            return Ok(());
        }
        let page = Page(self.add(number, PageSum::of_nodes)?);
        let kind = if level > 1 { Kind::Branch } else { Kind::Leaf };
        let view = self.view;
        let broken = || view.lost(number, "is not what LMDB should have written");
        let is_sound = page.kind() == Some(kind)
            && page.is_well_formed(number)
            && (keys == Keys::Numbers || bounds.hold(page, kind));
        if !is_sound {
            return Err(broken());
        }
        for index in 0..page.nodes() {
            if level > 1 {
                let child = page.child(index).ok_or_else(broken)?;
                self.below(child, level - 1, keys, bounds.of_child(page, index))?;
                continue;
            }
            match page.leaf_node(index).ok_or_else(broken)?.value {
                Value::Here(_) => {}
                Value::Database(record) => {
                    self.database(Database::read(record).ok_or_else(broken)?, Keys::Bytes)?;
                }
                Value::Elsewhere { page, bytes } => self.overflow(page, bytes)?,
            }
        }
        Ok(())
    }

    fn overflow(&mut self, first: u64, bytes: usize) -> Result<(), LostPage> {
        if self.before.has(first) {
            return Ok(());
        }
        for number in first..first.saturating_add(overflow_pages(bytes, self.view.page_bytes)) {
            self.add(number, PageSum::of_bytes)?;
        }
        Ok(())
    }

    fn add(&mut self, number: u64, sum_of: fn(u64, &[u8]) -> PageSum) -> Result<&'v [u8], LostPage> {
        let view = self.view;
        let bytes =
            view.run(number, 1).ok_or_else(|| view.lost(number, "lies beyond the end of the file"))?;
        if !self.live.insert(number) {
            return Err(view.lost(number, "is in use for two purposes"));
        }
        self.sums.push((number, sum_of(number, bytes)));
        Ok(bytes)
    }
}
