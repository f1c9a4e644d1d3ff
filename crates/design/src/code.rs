//! The codes of findings: title, usual severity, the design rules they belong to, and a page of explanation.
//!
//! Codes are stable and never reused. `docs/codes.md` is generated from this list.

use crate::finding::Severity;

/// A code.
pub struct Code {
    /// The code: `P101`.
    pub code: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The usual severity of its findings.
    pub severity: Severity,
    /// The numbers of the design rules that it belongs to.
    pub rules: &'static [u16],
    /// What it means and what to do.
    pub page: &'static str,
}

/// Returns the code with this name, ignoring case.
pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|known| known.code.eq_ignore_ascii_case(code))
}

/// Returns the list of codes as a Markdown document.
pub fn document() -> String {
    let mut text = String::from(
        "# Codes of `partita model check`\n\n\
         Every finding has a code. An error makes the check fail, a warning only with `--deny-warnings`, a note\n\
         never. A model can allow a finding, and must say why:\n\n\
         ```toml\n[[allow]]\ncode = \"P115\"\non = \"pattern.userWithOrders\"\nreason = \"the client pages\"\n```\n\n\
         This page is generated from `crates/design/src/code.rs`.\n",
    );
    for code in CODES {
        let (name, title, severity) = (code.code, code.title, code.severity.name());
        let article = if code.severity == Severity::Error { "an" } else { "a" };
        text.push_str(&format!("\n## {name}: {title}\n\nUsually {article} {severity}.\n\n{}\n", code.page));
    }
    text
}

/// All codes, in order.
pub const CODES: &[Code] = &[
    Code {
        code: "P001",
        title: "not TOML",
        severity: Severity::Error,
        rules: &[],
        page: "The file is not valid TOML, so it cannot be checked further. The message names the first syntax error.",
    },
    Code {
        code: "P002",
        title: "unknown or wrong field",
        severity: Severity::Error,
        rules: &[],
        page: "A field is unknown, missing, or has the wrong type. docs/models.md lists every field; an editor that reads the schema (`partita model schema`) completes and checks them while you type.",
    },
    Code {
        code: "P003",
        title: "unknown name",
        severity: Severity::Error,
        rules: &[],
        page: "A template, pattern, write or allowance names an attribute, entity, index or code that the model does not declare. Usually a typing mistake: the message suggests the closest name.",
    },
    Code {
        code: "P004",
        title: "template syntax",
        severity: Severity::Error,
        rules: &[],
        page: "A key template is text with fields in braces: `ORDER#{createdAt}#{orderId}`. A field may have a format: `{version:08}`, `{price:08.2}`, `{time:month}`, `{name:escaped}`. `{{` and `}}` are literal braces.",
    },
    Code {
        code: "P005",
        title: "condition syntax",
        severity: Severity::Error,
        rules: &[],
        page: "`where` and `when` are parts joined by `and`: `status == 'PENDING'`, `status != 'PAID'`, `exists(dueDate)`, `contains(title, 'x')`.",
    },
    Code {
        code: "P006",
        title: "unused allowance",
        severity: Severity::Warning,
        rules: &[],
        page: "An `[[allow]]` names a finding that no longer occurs. Remove it, so that the finding is reported if it reappears.",
    },
    Code {
        code: "P101",
        title: "pattern is not served",
        severity: Severity::Error,
        rules: &[3, 14],
        page: "Neither the table nor an index serves this pattern: the caller knows no partition key. DynamoDB has no joins and no ad-hoc queries; all that remains is a Scan of the whole table. Give the entity a key in an index whose partition key is built from the pattern's inputs, or a copy of the item under such a key.",
    },
    Code {
        code: "P102",
        title: "partition key known only in part",
        severity: Severity::Error,
        rules: &[14, 20],
        page: "A Query needs equality on the whole partition key. `begins_with` and ranges work on the sort key only, so a partition key such as `TENANT#{tenantId}#DOC#{docId}` cannot list a tenant's documents. Move the unknown part into the sort key: `TENANT#{tenantId}` / `DOC#{docId}`.",
    },
    Code {
        code: "P103",
        title: "order is not served",
        severity: Severity::Error,
        rules: &[25],
        page: "Results come in the order of the sort key. Another field precedes the attribute of the order (as in `COMMENT#{commentId}#{createdAt}`), so the items are ordered by that field. Put the attribute of the order first and the identifier after it.",
    },
    Code {
        code: "P104",
        title: "range is not served",
        severity: Severity::Error,
        rules: &[23],
        page: "A range works on the part of the sort key that directly follows known values. Here an unknown field precedes the attribute of the range, or the attribute is not in the sort key.",
    },
    Code {
        code: "P105",
        title: "sort key does not sort as its values do",
        severity: Severity::Error,
        rules: &[28, 93],
        page: "Sort keys compare as text: `V#10` sorts before `V#2`. Pad numbers with zeros (`{version:08}`), or give them a numeric key attribute of their own.",
    },
    Code {
        code: "P106",
        title: "prefix ends inside a value",
        severity: Severity::Error,
        rules: &[39],
        page: "`begins_with 'DEPT#engineering'` also matches `DEPT#engineering-ops`. A prefix must end at a delimiter: end the parent's key with one (`DEPT#{name}#`), or end the prefix with one.",
    },
    Code {
        code: "P107",
        title: "range bound cuts values off",
        severity: Severity::Error,
        rules: &[28],
        page: "A bound that is shorter than the values loses them: `BETWEEN '2024-01' AND '2024-06'` ends before `2024-06-01T…`, so all of June is missing. Write the bound in full, or end it with a character that sorts last: `2024-06~`.",
    },
    Code {
        code: "P108",
        title: "request omits an entity",
        severity: Severity::Error,
        rules: &[43],
        page: "The declared request cannot return an entity of the pattern: its condition excludes the entity's keys, or the entity has other keys in that index.",
    },
    Code {
        code: "P109",
        title: "request returns other entities",
        severity: Severity::Warning,
        rules: &[43],
        page: "The request also returns entities that are not in the pattern. They are read, billed and discarded, and code that does not check the type attribute mistakes them for something else. Give the wanted entities their own partition or prefix.",
    },
    Code {
        code: "P110",
        title: "empty begins_with",
        severity: Severity::Error,
        rules: &[20],
        page: "`begins_with(SK, '')` is rejected: a key value must not be empty. To read the whole collection, leave the sort key out of the condition.",
    },
    Code {
        code: "P111",
        title: "strong consistency from a global index",
        severity: Severity::Error,
        rules: &[58],
        page: "Global indexes are always eventually consistent. Read from the table or a local index, or accept eventual consistency.",
    },
    Code {
        code: "P112",
        title: "projection lacks what the pattern needs",
        severity: Severity::Error,
        rules: &[66],
        page: "The index does not hold every attribute that the pattern returns. Project them, name fewer `fields`, or read the items from the table afterwards with `hydrate = true`.",
    },
    Code {
        code: "P113",
        title: "filter after the read",
        severity: Severity::Warning,
        rules: &[24, 82],
        page: "A filter runs after the read, and what it drops is billed as well; `contains` never saves capacity. Put the attribute into the key if the pattern is frequent or the collection is large.",
    },
    Code {
        code: "P114",
        title: "scan",
        severity: Severity::Error,
        rules: &[83],
        page: "A Scan reads, and bills, every item of the table. Give the pattern a key: an index whose partition key is a constant with shards, if all items are really needed, or an export for analytics.",
    },
    Code {
        code: "P115",
        title: "more than one page",
        severity: Severity::Note,
        rules: &[35, 80],
        page: "A page ends at 1 MB. A caller that does not continue from LastEvaluatedKey silently loses the rest. Page, set a limit, or bound the result with a range. It is an error if the model declares that the caller reads only the first page (`pages`).",
    },
    Code {
        code: "P116",
        title: "several requests",
        severity: Severity::Note,
        rules: &[31, 45],
        page: "The entities are not read by one request. That may be fine; the message names the change that would make it one.",
    },
    Code {
        code: "P117",
        title: "result may not be single",
        severity: Severity::Warning,
        rules: &[19],
        page: "The pattern returns one item, but nothing ensures that only one has these values. Declare `unique`, name the identifying attribute in `identity`, or return a list.",
    },
    Code {
        code: "P118",
        title: "pattern has no rate",
        severity: Severity::Note,
        rules: &[1],
        page: "Each pattern has inputs, an output and a frequency. Without `rps`, heat and cost cannot be computed for it.",
    },
    Code {
        code: "P119",
        title: "no patterns",
        severity: Severity::Warning,
        rules: &[1, 97],
        page: "Patterns come before keys. A model without patterns proves nothing: list every query that the application makes. If they are not known yet, start with a table per entity.",
    },
    Code {
        code: "P121",
        title: "sparse index does not cover the pattern",
        severity: Severity::Error,
        rules: &[63],
        page: "The index holds only items that meet its `when`. A pattern may use it only if its own `where` implies that. Add the condition to the pattern, or widen the index.",
    },
    Code {
        code: "P201",
        title: "template is not injective",
        severity: Severity::Warning,
        rules: &[19],
        page: "Different values can produce the same key: a free string may contain the delimiter, or two fields are adjacent. Declare the attribute as `id` (never contains `#`), `ulid` or `uuid`, write it `:escaped`, or move it to the end.",
    },
    Code {
        code: "P202",
        title: "two entities can have the same key",
        severity: Severity::Error,
        rules: &[19],
        page: "Two entities can produce the same primary key, so one overwrites the other. Give each its own prefix.",
    },
    Code {
        code: "P203",
        title: "key does not identify the item",
        severity: Severity::Error,
        rules: &[19],
        page: "PK and SK together must be unique for each item. Without its identifier in the key (`ORDER#2026-04-05`), two items overwrite each other. Append the identifier: `ORDER#{date}#{orderId}`.",
    },
    Code {
        code: "P204",
        title: "partition key without a prefix",
        severity: Severity::Warning,
        rules: &[17, 39],
        page: "A bare value such as `123` is meaningless and collides with the values of other entities. Write `USER#{userId}`.",
    },
    Code {
        code: "P205",
        title: "prefixes are not consistent",
        severity: Severity::Warning,
        rules: &[39, 40],
        page: "One attribute has different prefixes in partition keys of the same table, so the entities do not share a collection although they appear to. Use one prefix.",
    },
    Code {
        code: "P206",
        title: "key changes",
        severity: Severity::Error,
        rules: &[13],
        page: "An update sets an attribute of the table's own key. Keys cannot be updated: the item would have to be deleted and rewritten, with all references to it. Build the key from attributes that never change.",
    },
    Code {
        code: "P207",
        title: "partition key with few values",
        severity: Severity::Error,
        rules: &[10, 15],
        page: "A partition key with few values puts everything on few partitions: status (3-5 values), booleans, countries. Each sustains 1,000 write and 3,000 read units a second, whatever the capacity of the table. Use an identifier; put the status into a sparse, sharded index.",
    },
    Code {
        code: "P208",
        title: "partition key is skewed",
        severity: Severity::Warning,
        rules: &[11, 15],
        page: "One value has a large share of the traffic (`top`). Its partition is hot while the others idle. Add another attribute or shards to the key.",
    },
    Code {
        code: "P209",
        title: "partition key is the time",
        severity: Severity::Warning,
        rules: &[15, 21, 75],
        page: "All of today's writes go to one partition, while yesterday's is idle: the present is hot. Put an identifier before the time (`DEVICE#{deviceId}#{time:month}`), or add shards.",
    },
    Code {
        code: "P210",
        title: "hot partition",
        severity: Severity::Error,
        rules: &[22, 70, 71],
        page: "The declared rates exceed the limits of one partition: 1,000 write units and 3,000 read units a second. Shard the key, make it finer, or cache the reads.",
    },
    Code {
        code: "P211",
        title: "sequential identifier",
        severity: Severity::Note,
        rules: &[16],
        page: "Sequential numbers distribute well (keys are hashed), but they can be guessed and need a counter. UUIDs and ULIDs avoid both.",
    },
    Code {
        code: "P212",
        title: "single item without a singleton sort key",
        severity: Severity::Warning,
        rules: &[33],
        page: "There is a single such item in the partition, but its sort key contains values that a reader does not know, so GetItem is impossible. Use a constant (`PROFILE`, `METADATA`) or repeat the entity's own key.",
    },
    Code {
        code: "P213",
        title: "sort key without a prefix",
        severity: Severity::Note,
        rules: &[34],
        page: "A sort key without a prefix cannot be extended: other entities in the same collection cannot be distinguished from it, and no level can be added before it.",
    },
    Code {
        code: "P215",
        title: "relationship points the wrong way",
        severity: Severity::Warning,
        rules: &[48],
        page: "The words of the key and the attribute in it disagree about the direction: `FOLLOWED_BY#` must be followed by the follower. Swap the attributes or rename the prefix.",
    },
    Code {
        code: "P216",
        title: "relationship has one direction",
        severity: Severity::Warning,
        rules: &[48, 49],
        page: "A many-to-many relationship is read from both ends. Here only one end can be queried: add an index with the key inverted, or a copy in the other direction.",
    },
    Code {
        code: "P217",
        title: "tenant is not in the partition key",
        severity: Severity::Error,
        rules: &[56, 89],
        page: "The table declares a tenant. Every partition key, in the table and in its indexes, must start with it, or one tenant's request can reach another's items and `dynamodb:LeadingKeys` cannot separate them.",
    },
    Code {
        code: "P218",
        title: "semantic key names for several entities",
        severity: Severity::Warning,
        rules: &[38],
        page: "Names such as userId and createdAt suit one entity and mislead for the second. Use generic names (PK, SK) for several entities; semantic names are fine for one.",
    },
    Code {
        code: "P219",
        title: "no type attribute",
        severity: Severity::Warning,
        rules: &[37, 42],
        page: "Several entities share the table, and nothing in an item names its entity. Declare `type_attribute`; without it, readers must guess from prefixes.",
    },
    Code {
        code: "P220",
        title: "versions in attribute names",
        severity: Severity::Note,
        rules: &[94],
        page: "Several versions of an attribute coexist (`v1_address`, `v2_address`). Readers must handle all of them until the old ones are gone: plan when that will be.",
    },
    Code {
        code: "P221",
        title: "table key serves no pattern",
        severity: Severity::Warning,
        rules: &[12],
        page: "No pattern reads this entity by the table's key. The key is artificial: every read goes through an index, and the table's own key serves no purpose. Use the key of the most frequent pattern.",
    },
    Code {
        code: "P301",
        title: "too many indexes",
        severity: Severity::Error,
        rules: &[59, 60],
        page: "A table has at most 20 global and 5 local indexes. Overload indexes: one can serve several entities under different prefixes.",
    },
    Code {
        code: "P302",
        title: "local index",
        severity: Severity::Note,
        rules: &[60],
        page: "A local index can only be created with the table, and limits every item collection to 10 GB. Prefer a global index unless strong consistency is needed.",
    },
    Code {
        code: "P303",
        title: "index serves no pattern",
        severity: Severity::Warning,
        rules: &[64, 67],
        page: "Every index costs writes and storage. No pattern needs this one.",
    },
    Code {
        code: "P304",
        title: "index could be sparse",
        severity: Severity::Note,
        rules: &[63],
        page: "Every pattern on this index requires the same condition, yet the index holds all items. With `when` it holds only the matching ones, and is smaller and cheaper.",
    },
    Code {
        code: "P305",
        title: "write amplification",
        severity: Severity::Note,
        rules: &[65, 67],
        page: "One write becomes many: each index that holds the item is written as well, twice if its key changes. Plan capacity and cost accordingly.",
    },
    Code {
        code: "P306",
        title: "projection wider than needed",
        severity: Severity::Note,
        rules: &[66, 68],
        page: "The index copies attributes that no pattern reads from it. It grows, and is rewritten when they change.",
    },
    Code {
        code: "P308",
        title: "index partition key with few values",
        severity: Severity::Warning,
        rules: &[10, 71],
        page: "The index spreads over few partition keys. An index that cannot keep up throttles the table's writes. Declare the rates so that the heat can be computed, make it sparse, or shard its key.",
    },
    Code {
        code: "P401",
        title: "item too large",
        severity: Severity::Error,
        rules: &[78, 79],
        page: "An item has at most 400 KB. Split it under one partition key (`PART#{number:04}`), or store the large part elsewhere.",
    },
    Code {
        code: "P402",
        title: "unbounded collection",
        severity: Severity::Warning,
        rules: &[21, 81],
        page: "Items accumulate under one partition key without bound. Reads of the whole become slower and more expensive, and with a local index writes stop at 10 GB. Put the time into the partition key (`DEVICE#{deviceId}#{time:month}`), expire old items (`ttl`), or declare the largest number expected (`expect.max`).",
    },
    Code {
        code: "P403",
        title: "collection above 10 GB with a local index",
        severity: Severity::Error,
        rules: &[60, 81],
        page: "With a local index, an item collection is limited to 10 GB: further writes to it fail. The limit applies only to tables with local indexes. Use a global index, or split the collection by time.",
    },
    Code {
        code: "P404",
        title: "key too long",
        severity: Severity::Error,
        rules: &[78],
        page: "A partition key has at most 2,048 bytes, a sort key 1,024. A declared attribute would exceed that.",
    },
    Code {
        code: "P405",
        title: "transaction too large",
        severity: Severity::Error,
        rules: &[55],
        page: "A transaction has at most 100 actions. Split the write, or keep the parts as one item.",
    },
    Code {
        code: "P501",
        title: "copy without a transaction",
        severity: Severity::Error,
        rules: &[54, 55],
        page: "The model declares a copy. Every write of the original must write the copy in the same transaction, or they drift apart. List both under `transact`.",
    },
    Code {
        code: "P502",
        title: "undeclared copy",
        severity: Severity::Warning,
        rules: &[54, 55],
        page: "Two entities hold the same data about the same thing without declaring it. Declare `copies`, so that writes can be checked, or remove one.",
    },
    Code {
        code: "P503",
        title: "copy is never written",
        severity: Severity::Warning,
        rules: &[55],
        page: "The model declares a copy, and no write creates it. Declare the write as a transaction of both.",
    },
    Code {
        code: "P504",
        title: "version history cannot be read",
        severity: Severity::Error,
        rules: &[93],
        page: "`versions` names the attribute that numbers kept versions. It must be in the sort key, padded, so that the newest sorts last.",
    },
    Code {
        code: "P507",
        title: "entity is never read",
        severity: Severity::Warning,
        rules: &[1, 12],
        page: "No pattern returns this entity. Either a pattern is missing, or the entity need not be in this table.",
    },
    Code {
        code: "P601",
        title: "relational design",
        severity: Severity::Warning,
        rules: &[5],
        page: "The model looks like a relational schema: each entity has partitions of its own, and foreign keys refer to others. There are no joins: a child must be stored under its parent's partition key (`USER#{userId}` / `ORDER#{orderId}`) to be read with it or listed by it.",
    },
    Code {
        code: "P602",
        title: "entities share a table without benefit",
        severity: Severity::Warning,
        rules: &[103],
        page: "No pattern reads several entities together. Sharing one table then costs clarity without benefit: a table per entity would serve as well. It is a note if entities at least share a collection.",
    },
    Code {
        code: "P603",
        title: "very different throughput",
        severity: Severity::Note,
        rules: &[98],
        page: "One entity is written far more often than the others and never read with them. A table of its own can be provisioned, priced and backed up on its own.",
    },
    Code {
        code: "P604",
        title: "single table may be premature",
        severity: Severity::Warning,
        rules: &[96, 97, 102],
        page: "A new team, unknown patterns or a short-lived project speak against a single table: start with a table per entity and consolidate once the patterns are stable.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_explained() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(CODES.iter().all(|code| code.page.len() > 60 && !code.title.is_empty()));
        assert!(find("p101").is_some());
    }
}
