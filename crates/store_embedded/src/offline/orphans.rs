//! Rows on pages that nothing leads to any more, because a page above them is lost.

use std::borrow::Cow;

use partita_store::StoreError;

use crate::damage::branch_repair::remove_reached;
use crate::damage::damaged_leaf::LeafCopy;
use crate::pages::page::{Kind, Node, Page, Value};
use crate::pages::page_set::PageBits;
use crate::pages::page_view::View;
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;
use crate::tree::root::Root;

/// Shows the rows of all leaves in use that cannot be reached, and of leaves that are damaged, as far as their own
/// checksums fit. Where it is not known which pages are in use, all are looked at.
pub(crate) fn each_row(
    view: &View,
    root: Option<&Root>,
    live: Option<&PageBits>,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut pages = live.cloned().unwrap_or_else(|| {
        let mut all = PageBits::default();
        (2..view.pages_in_file()).for_each(|page| {
            all.insert(page);
        });
        all
    });
    root.iter().flat_map(|root| root.trees()).for_each(|tree| remove_reached(tree, &mut pages));
    for number in pages.iter() {
        let is_fit = view.page(number).is_ok();
        let Some(LeafCopy { bytes, known }) = view.damaged_leaf(number) else { continue };
        let page = Page(&bytes);
        if page.kind() != Some(Kind::Leaf) {
            continue;
        }
        // Of a damaged page those rows that its sums know: others may be of an earlier time.
        for (index, _) in known.iter().enumerate().filter(|(_, known)| is_fit || **known) {
            if let Some(node) = page.leaf_node(index)
                && let Some(value) = value_of(view, root, node)
            {
                visit(node.key, &value)?;
            }
        }
    }
    Ok(())
}

/// The row's value, if the node is a row and its checksum fits.
fn value_of<'v>(view: &'v View, root: Option<&Root>, node: Node<'v>) -> Option<Cow<'v, [u8]>> {
    let stored = match node.value {
        Value::Here(stored) => stored,
        Value::Elsewhere { page, bytes } => view.overflow(page, bytes).ok()?,
        Value::Database(_) => return None,
    };
    match entry::read(node.key, stored).ok()? {
        Entry::Short(value) => Some(Cow::Borrowed(value)),
        Entry::Long(long) => long_values::read(root?, long).ok().map(Cow::Owned),
    }
}
