//! Rows on pages that are no longer reachable, because a page above them is lost.

use std::borrow::Cow;

use partita_store::StoreError;

use crate::damage::branch_repair::remove_reached;
use crate::damage::damaged_leaf::LeafCopy;
use crate::pages::page::{Node, NodeValue, Page, PageKind};
use crate::pages::page_set::PageSet;
use crate::pages::page_view::PageView;
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;
use crate::tree::root::Root;

/// Visits the rows of all live leaves that are unreachable, and of damaged leaves, as far as their own checksums match.
/// If it is unknown which pages are live, all pages are visited.
pub(crate) fn visit_rows(
    view: &PageView,
    root: Option<&Root>,
    live: Option<&PageSet>,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut pages = live.cloned().unwrap_or_else(|| {
        let mut all = PageSet::default();
        (2..view.pages_in_file()).for_each(|page| {
            all.insert(page);
        });
        all
    });
    root.iter().flat_map(|root| root.trees()).for_each(|tree| remove_reached(tree, &mut pages));
    for number in pages.iter() {
        let is_intact = view.page(number).is_ok();
        let Some(LeafCopy { bytes, confirmed }) = view.damaged_leaf(number) else { continue };
        let page = Page(&bytes);
        if page.kind() != Some(PageKind::Leaf) {
            continue;
        }
        // Of a damaged page only rows that its checksum confirms: others may be older versions.
        for (index, _) in confirmed.iter().enumerate().filter(|(_, confirmed)| is_intact || **confirmed) {
            if let Some(node) = page.leaf_node(index)
                && let Some(value) = value_of(view, root, node)
            {
                visit(node.key, &value)?;
            }
        }
    }
    Ok(())
}

/// The row's value, if the node is a row and its checksum matches.
fn value_of<'v>(view: &'v PageView, root: Option<&Root>, node: Node<'v>) -> Option<Cow<'v, [u8]>> {
    let stored = match node.value {
        NodeValue::Inline(stored) => stored,
        NodeValue::Overflow { page, bytes } => view.overflow(page, bytes).ok()?,
        NodeValue::Database(_) => return None,
    };
    match entry::read(node.key, stored).ok()? {
        Entry::Short(value) => Some(Cow::Borrowed(value)),
        Entry::Long(long) => long_values::read(root?, long).ok().map(Cow::Owned),
    }
}
