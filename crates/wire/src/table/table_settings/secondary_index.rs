//! Secondary indexes as CreateTable declares them and UpdateTable adds or changes them: as sent →
//! checked → the rules of projections.

use super::key_schema::{SentElement, check_key_schema, read_key_schema};
use super::throughput::{
    Owner, SentUnits, changed_warm, check_provisioned, read_on_demand, read_provisioned, read_warm,
};
use super::{Text, check_length, invalid, read_structure};
use crate::json::Reader;
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::key_schema::KeySchemaElement;
use partita_api::table::new_index::NewIndex;
use partita_api::table::{IndexProjection, OnDemandThroughput, Throughput};
use partita_value::limits;
use std::borrow::Cow;
use std::collections::HashSet;

/// Attributes that one index may project by name.
const PROJECTED_BY_ONE_INDEX: usize = 20;
/// Attributes of a local index's key.
pub(crate) const LOCAL_KEY: usize = 2;
/// The model does not bound a global index's key; a rule of its own does.
pub(crate) const GLOBAL_KEY: usize = usize::MAX;

/// A local or a global index, or an action on a global one, as sent.
#[derive(Default)]
pub(crate) struct SentIndex<'a> {
    pub(crate) name: Text<'a>,
    key_schema: Option<Vec<SentElement<'a>>>,
    projection: Option<SentProjection<'a>>,
    pub(crate) provisioned: Option<SentUnits>,
    pub(crate) on_demand: Option<OnDemandThroughput>,
    pub(crate) warm: Option<SentUnits>,
}

#[derive(Default)]
struct SentProjection<'a> {
    projection_type: Text<'a>,
    non_key_attributes: Option<Vec<Cow<'a, str>>>,
}

/// An index that satisfies the model.
pub(crate) struct CheckedIndex {
    pub(crate) name: String,
    pub(crate) key: Vec<KeySchemaElement>,
    projection: CheckedProjection,
    pub(crate) provisioned: Option<Throughput>,
    pub(crate) on_demand: Option<OnDemandThroughput>,
    pub(crate) warm: Option<SentUnits>,
}

#[derive(Clone, Copy)]
enum ProjectionType {
    All,
    KeysOnly,
    Include,
}

struct CheckedProjection {
    projection_type: Option<ProjectionType>,
    non_key_attributes: Option<Vec<String>>,
}

/// A member of `LocalSecondaryIndex`.
pub(crate) fn read_local_member<'a>(
    index: &mut SentIndex<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "IndexName" => index.name = reader.text()?,
        "KeySchema" => index.key_schema = read_key_schema(reader)?,
        "Projection" => index.projection = read_projection(reader)?,
        _ => reader.skip()?,
    }
    Ok(())
}

/// A member of `GlobalSecondaryIndex` or of the action that creates one.
pub(crate) fn read_global_member<'a>(
    index: &mut SentIndex<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "ProvisionedThroughput" => index.provisioned = read_provisioned(reader)?,
        "OnDemandThroughput" => index.on_demand = read_on_demand(reader)?,
        "WarmThroughput" => index.warm = read_warm(reader)?,
        _ => read_local_member(index, reader, name)?,
    }
    Ok(())
}

fn read_projection<'a>(reader: &mut Reader<'a>) -> Result<Option<SentProjection<'a>>, Exception> {
    read_structure(reader, "Projection", |projection: &mut SentProjection<'a>, reader, name| {
        match name {
            "ProjectionType" => projection.projection_type = reader.text()?,
            "NonKeyAttributes" => projection.non_key_attributes = reader.text_list()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

/// The indexes of a list; its path is, for example, `localSecondaryIndexes`.
pub(crate) fn check_indexes(
    validation: &mut Validation,
    list: &str,
    sent: &Option<Vec<SentIndex<'_>>>,
    most_key_attributes: usize,
) -> Option<Vec<CheckedIndex>> {
    let sent = sent.as_ref()?.iter().enumerate();
    let checked = sent.filter_map(|(index, sent)| {
        check_index(validation, &format!("{list}.{}.member", index + 1), sent, most_key_attributes)
    });
    Some(checked.collect())
}

/// An index whose path is, for example, `localSecondaryIndexes.1.member`.
pub(crate) fn check_index(
    validation: &mut Validation,
    path: &str,
    sent: &SentIndex<'_>,
    most_key_attributes: usize,
) -> Option<CheckedIndex> {
    let name = check_index_name(validation, path, &sent.name);
    let key =
        check_key_schema(validation, &format!("{path}.keySchema"), &sent.key_schema, most_key_attributes);
    let projection = check_projection(validation, &format!("{path}.projection"), &sent.projection);
    let provisioned =
        check_provisioned(validation, &format!("{path}.provisionedThroughput"), sent.provisioned);
    let (on_demand, warm) = (sent.on_demand, sent.warm);
    Some(CheckedIndex { name: name?, key, projection: projection?, provisioned, on_demand, warm })
}

pub(crate) fn check_index_name(validation: &mut Validation, path: &str, name: &Text<'_>) -> Option<String> {
    let path = format!("{path}.indexName");
    let name = validation.required(&path, name)?;
    validation.resource_name(&path, name, 3);
    Some(name.clone().into_owned())
}

fn check_projection(
    validation: &mut Validation,
    path: &str,
    sent: &Option<SentProjection<'_>>,
) -> Option<CheckedProjection> {
    let sent = validation.required(path, sent)?;
    let types = [
        ("ALL", ProjectionType::All),
        ("INCLUDE", ProjectionType::Include),
        ("KEYS_ONLY", ProjectionType::KeysOnly),
    ];
    let type_path = format!("{path}.projectionType");
    let projection_type = validation.one_of(type_path, sent.projection_type.as_deref(), &types);
    let list_path = format!("{path}.nonKeyAttributes");
    if let Some(names) = &sent.non_key_attributes {
        let shown = format!("[{}]", names.join(", "));
        validation.length(&list_path, shown, names.len(), 1, PROJECTED_BY_ONE_INDEX);
        for (index, name) in names.iter().enumerate() {
            let path = format!("{list_path}.{}.member", index + 1);
            check_length(validation, path, &Some(Cow::Borrowed(name)), 1, limits::KEY_NAME_BYTES);
        }
    }
    let owned = |names: &Vec<Cow<'_, str>>| names.iter().map(|name| name.clone().into_owned()).collect();
    Some(CheckedProjection {
        projection_type,
        non_key_attributes: sent.non_key_attributes.as_ref().map(owned),
    })
}

pub(crate) fn refuse_duplicate_name<'n>(
    names: &mut HashSet<&'n str>,
    name: &'n str,
) -> Result<(), Exception> {
    if !names.insert(name) {
        return Err(invalid(format_args!("Duplicate index name: {name}")));
    }
    Ok(())
}

impl CheckedIndex {
    /// The index as one to add or to restore: whether it suits its table, the engine knows.
    pub(crate) fn into_new(self) -> Result<NewIndex, Exception> {
        Ok(NewIndex {
            projection: self.projection()?,
            throughput: self.provisioned,
            on_demand: self.on_demand,
            warm: changed_warm(self.warm, Owner::Index(&self.name))?,
            key_schema: self.key,
            name: self.name,
        })
    }

    /// What the index projects, or the rule between its projection's members that is broken.
    pub(crate) fn projection(&self) -> Result<IndexProjection, Exception> {
        let CheckedProjection { projection_type, non_key_attributes } = &self.projection;
        let projection_type = projection_type.ok_or_else(|| invalid("Unknown ProjectionType: null"))?;
        let specified =
            |name: &str| invalid(format_args!("ProjectionType is {name}, but NonKeyAttributes is specified"));
        match (projection_type, non_key_attributes) {
            (ProjectionType::All, None) => Ok(IndexProjection::All),
            (ProjectionType::All, Some(_)) => Err(specified("ALL")),
            (ProjectionType::KeysOnly, None) => Ok(IndexProjection::KeysOnly),
            (ProjectionType::KeysOnly, Some(_)) => Err(specified("KEYS_ONLY")),
            (ProjectionType::Include, None) => {
                Err(invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"))
            }
            (ProjectionType::Include, Some(names)) => {
                let duplicate = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
                match duplicate {
                    Some((_, name)) => {
                        Err(invalid(format_args!("Duplicate element in NonKeyAttributes: {name}")))
                    }
                    None => Ok(IndexProjection::Include(names.clone())),
                }
            }
        }
    }
}
