//! The values computed by an update: arithmetic, list and set operations.

use crate::error::Problem;
use partita_value::limits::ITEM_BYTES;
use partita_value::{AttributeValue, Encoder, ListRef, Number, Value, ValueRef};

/// A value borrowed from the item or the request, or a computed one.
pub(crate) enum Evaluated<'a> {
    View(ValueRef<'a>),
    Owned(Value),
}

impl Evaluated<'_> {
    pub(crate) fn view(&self) -> ValueRef<'_> {
        match self {
            Evaluated::View(value) => *value,
            Evaluated::Owned(value) => value.view(),
        }
    }
}

impl<'a> Evaluated<'a> {
    /// Copies a borrowed value.
    pub(crate) fn into_owned<'b>(self) -> Evaluated<'b> {
        match self {
            Evaluated::View(value) => Evaluated::Owned(value.into()),
            Evaluated::Owned(value) => Evaluated::Owned(value),
        }
    }
}

/// The source of an update. The two differ in the types that ADD accepts and in the error for a wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateStyle {
    Expression,
    Legacy,
}

impl UpdateStyle {
    fn mismatch(self) -> Problem {
        match self {
            UpdateStyle::Expression => Problem::UpdateOperandType,
            UpdateStyle::Legacy => Problem::LegacyTypeMismatch,
        }
    }
}

fn number(value: &Evaluated<'_>) -> Result<Number, Problem> {
    value.view().as_number().ok_or(Problem::UpdateOperandType)
}

fn owned_number<'a>(number: Number) -> Evaluated<'a> {
    Evaluated::Owned(Value::from(&AttributeValue::N(number)))
}

pub(crate) fn plus<'a>(left: &Evaluated<'_>, right: &Evaluated<'_>) -> Result<Evaluated<'a>, Problem> {
    number(left)?.add(&number(right)?).map(owned_number).map_err(Problem::Number)
}

pub(crate) fn minus<'a>(left: &Evaluated<'_>, right: &Evaluated<'_>) -> Result<Evaluated<'a>, Problem> {
    number(left)?.subtract(&number(right)?).map(owned_number).map_err(Problem::Number)
}

/// Concatenates lists, copying each once. A list that exceeds the item size is rejected before it is built.
pub(crate) fn list_append<'a>(lists: &[Evaluated<'_>]) -> Result<Evaluated<'a>, Problem> {
    let lists: Vec<ListRef<'_>> = lists.iter().map(list).collect::<Result<_, _>>()?;
    let bytes = lists.iter().try_fold(0, |bytes, list| {
        let bytes = bytes + list.elements_size();
        (bytes <= ITEM_BYTES).then_some(bytes)
    });
    let list = bytes.map(|_| append(lists)).filter(|list| list.view().size() <= ITEM_BYTES);
    list.ok_or(Problem::ItemSize)
}

fn list<'a>(value: &'a Evaluated<'_>) -> Result<ListRef<'a>, Problem> {
    match value.view() {
        ValueRef::L(list) => Ok(list),
        _ => Err(Problem::UpdateOperandType),
    }
}

fn append<'a, 'b>(lists: impl IntoIterator<Item = ListRef<'b>>) -> Evaluated<'a> {
    let mut encoder = Encoder::new();
    let mark = encoder.begin_list();
    lists.into_iter().flatten().for_each(|element| encoder.value(element));
    encoder.end_list(mark);
    Evaluated::Owned(Value::from_encoder(encoder))
}

/// ADD: the sum of numbers, the union of sets or, in legacy parameters, the concatenation of lists.
pub(crate) fn add<'a>(
    old: Option<ValueRef<'a>>,
    operand: &'a Value,
    style: UpdateStyle,
) -> Result<Evaluated<'a>, Problem> {
    let operand = operand.view();
    let Some(old) = old else { return Ok(Evaluated::View(operand)) };
    match (old, operand) {
        (ValueRef::N(_), ValueRef::N(_)) => plus(&Evaluated::View(old), &Evaluated::View(operand)),
        (ValueRef::L(old), ValueRef::L(operand)) if style == UpdateStyle::Legacy => {
            Ok(append([old, operand]))
        }
        _ => {
            let mut set = AttributeValue::from(old);
            match (&mut set, AttributeValue::from(operand)) {
                (AttributeValue::Ss(set), AttributeValue::Ss(more)) => set.extend(more),
                (AttributeValue::Ns(set), AttributeValue::Ns(more)) => set.extend(more),
                (AttributeValue::Bs(set), AttributeValue::Bs(more)) => set.extend(more),
                _ => return Err(style.mismatch()),
            }
            Ok(Evaluated::Owned(Value::from(&set)))
        }
    }
}

/// DELETE: the set without these elements; `None` if no element is left or there was no set.
pub(crate) fn delete<'a>(
    old: Option<ValueRef<'_>>,
    operand: &Value,
    style: UpdateStyle,
) -> Result<Option<Evaluated<'a>>, Problem> {
    let Some(old) = old else { return Ok(None) };
    let mut set = AttributeValue::from(old);
    let remaining = match (&mut set, AttributeValue::from(operand.view())) {
        (AttributeValue::Ss(set), AttributeValue::Ss(removed)) => {
            set.retain(|element| !removed.contains(element));
            set.len()
        }
        (AttributeValue::Ns(set), AttributeValue::Ns(removed)) => {
            set.retain(|element| !removed.contains(element));
            set.len()
        }
        (AttributeValue::Bs(set), AttributeValue::Bs(removed)) => {
            set.retain(|element| !removed.contains(element));
            set.len()
        }
        _ => return Err(style.mismatch()),
    };
    Ok((remaining > 0).then(|| Evaluated::Owned(Value::from(&set))))
}
