//! Rebuilds a damaged block of `sums` from the pages it covers.
//!
//! While a block is damaged, being well formed has to be enough for its pages, so a lost write would go unnoticed. The
//! live ones are therefore accepted as they are now, as a reader would accept them, and are protected like all others
//! from then on.

use std::io;

use crate::pages::checksums::PageChecksum;
use crate::pages::page::{Page, PageKind};
use crate::pages::page_set::PageSet;
use crate::pages::page_view::PageView;

/// Only lists of free pages have more than one page: this many hold two million numbers.
const MAX_VALUE_PAGES: u64 = 4_096;

/// Repairs the blocks that were found damaged. Nobody may write pages meanwhile.
pub(crate) fn repair(view: &PageView, live: &PageSet) -> io::Result<()> {
    let checksums = &view.pages.checksums;
    for block in checksums.take_damaged() {
        let rebuilt: Option<Vec<_>> =
            checksums.pages_of(block).map(|page| checksum_of(view, live, page)).collect();
        match rebuilt {
            Some(rebuilt) => {
                checksums.rewrite_block(block, &rebuilt)?;
                tracing::info!(block, "a damaged block of the checksum file was rebuilt");
            }
            None => tracing::warn!(
                block,
                "a block of the checksum file stays damaged, because one of its pages is"
            ),
        }
    }
    Ok(())
}

/// The page's checksum, or `None` if the page is live and damaged.
fn checksum_of(view: &PageView, live: &PageSet, number: u64) -> Option<PageChecksum> {
    let stored = view.pages.checksums.read_verified(number).checksum.unwrap_or_default();
    let Ok(bytes) = view.copy_of(number) else { return (!live.contains(number)).then_some(stored) };
    if stored.matches_nodes(number, &bytes) || stored.matches_bytes(number, &bytes) {
        return Some(stored);
    }
    let page = Page(&bytes);
    match page.kind() {
        Some(PageKind::Overflow) if page.is_well_formed(number) => {
            Some(PageChecksum::of_bytes(number, &bytes))
        }
        Some(_) if page.is_well_formed(number) => Some(PageChecksum::of_nodes(number, &bytes)),
        _ if continues_value(view, number) => Some(PageChecksum::of_bytes(number, &bytes)),
        // A free page may contain anything.
        _ => (!live.contains(number)).then_some(stored),
    }
}

/// Whether a page continues a long value: the nearest well-formed page before it is that value's first.
fn continues_value(view: &PageView, number: u64) -> bool {
    let before = (number.saturating_sub(MAX_VALUE_PAGES)..number).rev();
    let mut heads = before.filter_map(|head| {
        let bytes = view.copy_of(head).ok()?;
        let page = Page(&bytes);
        page.is_well_formed(head).then(|| (head, page.kind(), page.overflow_pages().unwrap_or(0)))
    });
    heads.next().is_some_and(|(head, kind, pages)| kind == Some(PageKind::Overflow) && head + pages > number)
}
