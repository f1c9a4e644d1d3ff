//! Secondary indexes in CreateTable, UpdateTable and the restores: their members, and the rules of projections.

use super::invalid;
use super::key_schema::{KeySchemaElementMembers, key_elements, key_length};
use super::throughput::*;
use crate::members::{Choice, Path, chosen, enum_names, required, structure};
use crate::table::table_name::resource_name;
use crate::validation::Validation;
use partita_api::Exception;
use partita_api::key_schema::KeySchemaElement;
use partita_api::table::new_index::NewIndex;
use partita_api::table::{IndexProjection, OnDemandThroughput, Throughput};
use partita_value::limits;
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of attributes that one index projects by name.
const PROJECTED_BY_ONE_INDEX: usize = 20;
/// The number of attributes of the key of a local index.
pub(crate) const LOCAL_KEY: usize = 2;
/// The service model does not limit the key of a global index; a rule between members does.
pub(crate) const GLOBAL_KEY: usize = usize::MAX;

#[derive(Clone, Copy)]
pub(crate) enum ProjectionType {
    All,
    KeysOnly,
    Include,
}

enum_names!(ProjectionType: "ALL" = All, "INCLUDE" = Include, "KEYS_ONLY" = KeysOnly);

structure! {
    pub(crate) struct LocalIndexMembers<'a> as "LocalSecondaryIndex" {
        name: Cow<'a, str> = "IndexName", required, resource_name;
        key_schema: Vec<KeySchemaElementMembers<'a>> = "KeySchema", required, key_length(LOCAL_KEY);
        projection: ProjectionMembers<'a> = "Projection", required;
    }

    pub(crate) struct GlobalIndexMembers<'a> as "GlobalSecondaryIndex" {
        name: Cow<'a, str> = "IndexName", required, resource_name;
        key_schema: Vec<KeySchemaElementMembers<'a>> = "KeySchema", required, key_length(GLOBAL_KEY);
        projection: ProjectionMembers<'a> = "Projection", required;
        provisioned: ProvisionedThroughputMembers = "ProvisionedThroughput";
        on_demand: OnDemandThroughputMembers = "OnDemandThroughput";
        warm: WarmThroughputMembers = "WarmThroughput";
    }

    pub(crate) struct ProjectionMembers<'a> as "Projection" {
        projection_type: Choice<'a, ProjectionType> = "ProjectionType";
        non_key_attributes: Vec<Cow<'a, str>> = "NonKeyAttributes", projected_names;
    }
}

/// Checks the number of projected names and their lengths.
fn projected_names(path: &Path<'_>, value: &Option<Vec<Cow<'_, str>>>, validation: &mut Validation) {
    let Some(names) = value else { return };
    validation.length(path, format_args!("[{}]", names.join(", ")), names.len(), 1, PROJECTED_BY_ONE_INDEX);
    for (index, name) in names.iter().enumerate() {
        let length = name.chars().count();
        validation.length(Path::Element(path, index + 1), name, length, 1, limits::KEY_NAME_BYTES);
    }
}

/// An index whose members are valid individually.
pub(crate) struct ValidIndex {
    pub(crate) name: String,
    pub(crate) key: Vec<KeySchemaElement>,
    projection_type: Option<ProjectionType>,
    non_key_attributes: Option<Vec<String>>,
    pub(crate) provisioned: Option<Throughput>,
    pub(crate) on_demand: Option<OnDemandThroughput>,
    pub(crate) warm: Option<WarmThroughputMembers>,
}

impl LocalIndexMembers<'_> {
    pub(crate) fn valid(&self) -> Option<ValidIndex> {
        ValidIndex::new(&self.name, &self.key_schema, &self.projection)
    }
}

impl GlobalIndexMembers<'_> {
    pub(crate) fn valid(&self) -> Option<ValidIndex> {
        let index = ValidIndex::new(&self.name, &self.key_schema, &self.projection)?;
        let (provisioned, on_demand) = (provisioned(self.provisioned), on_demand(self.on_demand));
        Some(ValidIndex { provisioned, on_demand, warm: self.warm, ..index })
    }
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

impl ValidIndex {
    fn new(
        name: &Option<Cow<'_, str>>,
        key: &Option<Vec<KeySchemaElementMembers<'_>>>,
        projection: &Option<ProjectionMembers<'_>>,
    ) -> Option<ValidIndex> {
        let projection = projection.as_ref()?;
        let owned = |names: &Vec<Cow<'_, str>>| names.iter().map(|name| name.clone().into_owned()).collect();
        Some(ValidIndex {
            name: name.as_deref()?.to_owned(),
            key: key_elements(key),
            projection_type: chosen(&projection.projection_type),
            non_key_attributes: projection.non_key_attributes.as_ref().map(owned),
            provisioned: None,
            on_demand: None,
            warm: None,
        })
    }

    /// Converts an index to add or to restore. The engine checks whether it suits its table.
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

    /// Checks the rules between the members of the projection, and returns it.
    pub(crate) fn projection(&self) -> Result<IndexProjection, Exception> {
        let projection_type = self.projection_type.ok_or_else(|| invalid("Unknown ProjectionType: null"))?;
        let specified =
            |name: &str| invalid(format_args!("ProjectionType is {name}, but NonKeyAttributes is specified"));
        match (projection_type, &self.non_key_attributes) {
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
