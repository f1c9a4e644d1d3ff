//! Makes a damaged block of `sums` whole again, of the pages that it is about.
//!
//! While a block is damaged its pages must do with being well formed, so one that was never written would pass. Those
//! that are in use are therefore taken as they are now, as a reader would take them, and from then on they are
//! protected as all others are.

use std::io;

use crate::pages::checksums::PageSum;
use crate::pages::page::{Kind, Page};
use crate::pages::page_set::PageBits;
use crate::pages::page_view::View;

/// Only lists of free pages have more than one page: this many have two million numbers.
const LONGEST_VALUE_PAGES: u64 = 4_096;

/// Mends the blocks that were found to be damaged. Nobody may write pages meanwhile.
pub(crate) fn mend(view: &View, live: &PageBits) -> io::Result<()> {
    let sums = &view.pages.sums;
    for block in sums.take_damaged() {
        let renewed: Option<Vec<_>> = sums.pages_of(block).map(|page| sum_of(view, live, page)).collect();
        match renewed {
            Some(renewed) => {
                sums.renew(block, &renewed)?;
                tracing::info!(block, "a damaged block of the file of checksums was made anew");
            }
            None => tracing::warn!(
                block,
                "a block of the file of checksums stays damaged, as one of its pages is"
            ),
        }
    }
    Ok(())
}

/// The page's sum, or `None` if the page is in use and damaged.
fn sum_of(view: &View, live: &PageBits, number: u64) -> Option<PageSum> {
    let noted = view.pages.sums.known(number).sum.unwrap_or_default();
    let Ok(bytes) = view.copy_of(number) else { return (!live.has(number)).then_some(noted) };
    if noted.fits_nodes(number, &bytes) || noted.fits_bytes(number, &bytes) {
        return Some(noted);
    }
    let page = Page(&bytes);
    match page.kind() {
        Some(Kind::Overflow) if page.is_well_formed(number) => Some(PageSum::of_bytes(number, &bytes)),
        Some(_) if page.is_well_formed(number) => Some(PageSum::of_nodes(number, &bytes)),
        _ if is_rest_of_value(view, number) => Some(PageSum::of_bytes(number, &bytes)),
        // What is free need not be anything.
        _ => (!live.has(number)).then_some(noted),
    }
}

/// Whether a page is a further one of a long value: the next well-formed page before it is that value's first.
fn is_rest_of_value(view: &View, number: u64) -> bool {
    let before = (number.saturating_sub(LONGEST_VALUE_PAGES)..number).rev();
    let mut heads = before.filter_map(|head| {
        let bytes = view.copy_of(head).ok()?;
        let page = Page(&bytes);
        page.is_well_formed(head).then(|| (head, page.kind(), page.overflow_pages().unwrap_or(0)))
    });
    heads.next().is_some_and(|(head, kind, pages)| kind == Some(Kind::Overflow) && head + pages > number)
}
