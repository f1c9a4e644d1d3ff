//! PartiQL statements, with as many parameters as question marks, up to the ranges they read or the items they write.

use crate::inputs::{assert_canonical, item, key, values};
use partita_partiql::{Statement, named_item, read_access, read_order};
use partita_value::Value;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let parameters = text.matches('?').count().min(20);
    let parameters: Vec<Value> = values().iter().cycle().take(parameters).map(Value::from).collect();
    let Ok(statement) = Statement::parse(text, &parameters) else { return };
    let (key, item) = (key(), item());
    match &statement {
        Statement::Select(select) | Statement::Exists(select) => {
            if let Ok(access) = read_access(select.condition.as_ref(), &key) {
                let _ = read_order(&select.order, &access, &key);
            }
            if let Some(projection) = &select.projection {
                assert_canonical(&projection.apply(item.view()));
            }
        }
        Statement::Insert(insert) => assert_canonical(&insert.item),
        Statement::Update(update) => {
            let named = named_item(update.condition.as_ref(), &key);
            assert_canonical(&named.key);
            for old in [Some(item.view()), None] {
                if let Ok(updated) = update.update.apply(old, named.key.view()) {
                    assert_canonical(&updated);
                }
            }
        }
        Statement::Delete(delete) => {
            let named = named_item(delete.condition.as_ref(), &key);
            assert_canonical(&named.key);
            let _ = named.check();
            let _ = named.is_absent_or_matches().map(|condition| condition.matches(Some(item.view())));
        }
    }
}
