//! Sheets of access patterns: Markdown tables and CSV, with columns in any order and sentences such as "List orders of a user, newest first".
//!
//! A sheet becomes a schema, of what its sentences name, and reads of it; keys follow from them as they do from queries.

mod object;
mod rate;
pub(super) mod sentence;
pub(super) mod table;
mod words;

use super::draft::{Drafting, Measured};
use super::entities::Entities;
use super::naming;
use super::reads::{self, Read, With};
use super::schema::{Column, ForeignKey, Schema, Table};
use crate::draft::{Confidence, Draft};
use crate::model::value_type::ValueType;
use sentence::{CREATED, Sentence, Verb};
use std::collections::BTreeSet;

/// The most rows of a sheet.
const MAX_ROWS: usize = 1_000;

/// Drafts a model from a sheet of access patterns.
///
/// # Errors
///
/// Returns a message if the text has no table with a column of access patterns.
pub fn draft(text: &str, table: &str) -> Result<Draft, String> {
    let rows = table::rows(text)?;
    if rows.len() > MAX_ROWS {
        return Err(format!("the sheet has more than {MAX_ROWS} rows"));
    }
    let nouns: BTreeSet<String> =
        rows.iter().flat_map(object::nouns).chain(rows.iter().flat_map(|row| row.entities.clone())).collect();
    let mut schema = Schema::default();
    let (mut understood, mut open) = (Vec::new(), Vec::new());
    for row in &rows {
        match Sentence::parse(row, &nouns) {
            Ok(sentence) => understood.push((row, sentence)),
            Err(problem) => open.push((row.line, format!("`{}`: {problem}.", row.pattern))),
        }
    }
    name_ages(&mut understood);
    understood.iter().for_each(|(_, sentence)| declare(&mut schema, sentence, &nouns));
    understood.iter().for_each(|(_, sentence)| tell_moments(&mut schema, sentence, &understood));
    schema.remarks = open;
    if schema.tables.is_empty() {
        return Err(
            "no row of the sheet is understood: write sentences such as `Get user by email`".to_owned()
        );
    }
    let entities = Entities::new(&schema);
    let mut found = Vec::new();
    for (row, sentence) in understood.iter().filter(|(_, sentence)| sentence.verb == Verb::Read) {
        found.push(read(row, sentence, &schema, &entities));
    }
    let measured = Measured { seconds: Some(rate::YEAR), ..Measured::default() };
    let mut drafting = Drafting::new(&entities, reads::merged(found, &entities), measured, table);
    drafting.draft.about =
        "Drafted from a sheet of access patterns: correct it, then run `partita model check`.".to_owned();
    drafting.entities();
    drafting.patterns();
    for (row, sentence) in understood.iter().filter(|(_, sentence)| sentence.verb != Verb::Read) {
        drafting.sheet_write(sentence, row);
    }
    drafting.remarks();
    Ok(drafting.draft)
}

/// Where a sentence does not say by which time it sorts, another one of the same entity may.
fn name_ages(understood: &mut [(&table::Row, Sentence)]) {
    let named: Vec<(String, String)> = understood
        .iter()
        .flat_map(|(_, own)| own.order.iter().map(|(by, _)| by).chain(&own.range).map(|by| (&own.noun, by)))
        .filter(|(noun, by)| *by != CREATED && kind(by).is_time() && !is_equal(noun, by, understood))
        .map(|(noun, by)| (noun.clone(), by.clone()))
        .collect();
    for (_, sentence) in understood {
        let time = named.iter().find(|(noun, _)| *noun == sentence.noun);
        let order = sentence.order.as_mut().filter(|(by, _)| by == CREATED);
        if let (Some((_, time)), Some((by, _))) = (time, order) {
            time.clone_into(by);
        }
    }
}

/// Whether a sentence about an entity finds its items by the value of an attribute.
fn is_equal(noun: &str, attribute: &String, understood: &[(&table::Row, Sentence)]) -> bool {
    understood.iter().any(|(_, own)| own.noun == noun && own.inputs.contains(attribute))
}

/// The items of one day are told apart by the moment, unless they are found by the day.
fn tell_moments(schema: &mut Schema, sentence: &Sentence, understood: &[(&table::Row, Sentence)]) {
    let by = sentence.order.as_ref().filter(|_| sentence.is_by_age).map(|(by, _)| by);
    let by = by.filter(|by| !is_equal(&sentence.noun, by, understood));
    let table = schema.tables.iter_mut().find(|table| table.name == sentence.noun);
    let columns = table.into_iter().flat_map(|table| &mut table.columns);
    let days = columns.filter(|column| Some(&column.name) == by && column.kind == ValueType::Date);
    days.for_each(|column| column.kind = ValueType::Timestamp);
}

/// Adds what a sentence names to the schema.
fn declare(schema: &mut Schema, sentence: &Sentence, nouns: &BTreeSet<String>) {
    let number = table_of(schema, &sentence.noun);
    let attributes = sentence
        .inputs
        .iter()
        .chain(&sentence.set)
        .chain(&sentence.range)
        .chain(sentence.order.iter().map(|(by, _)| by));
    for attribute in attributes {
        let owner = attribute
            .strip_suffix("Id")
            .map(naming::entity)
            .filter(|owner| nouns.contains(owner) && *owner != sentence.noun);
        add_column(&mut schema.tables[number], attribute);
        if let Some(owner) = owner {
            let parent = table_of(schema, &owner);
            refer(schema, number, attribute, parent);
        }
    }
    let table = &mut schema.tables[number];
    if let [one] = sentence.inputs.as_slice()
        && sentence.verb == Verb::Read
        && sentence.single
        && table.primary_key != [one.clone()]
        && table.reference(one).is_none()
    {
        // "Get user by email" finds one user.
        table.unique.push(vec![one.clone()]);
    }
    if let Some(child) = &sentence.with {
        let child = table_of(schema, child);
        let attribute = schema.tables[number].primary_key[0].clone();
        add_column(&mut schema.tables[child], &attribute);
        refer(schema, child, &attribute, number);
    }
}

/// The number of an entity's table, which is created with its identifier.
fn table_of(schema: &mut Schema, entity: &str) -> usize {
    if let Some(number) = schema.tables.iter().position(|table| table.name == entity) {
        return number;
    }
    let id = format!("{}Id", crate::formatting::lower_first(entity));
    let mut table = Table { name: entity.to_owned(), primary_key: vec![id.clone()], ..Table::default() };
    add_column(&mut table, &id);
    schema.tables.push(table);
    schema.tables.len() - 1
}

fn add_column(table: &mut Table, name: &str) {
    if table.column(name).is_none() {
        table.columns.push(Column { name: name.to_owned(), kind: kind(name), nullable: false });
    }
}

fn refer(schema: &mut Schema, child: usize, attribute: &str, parent: usize) {
    let to = schema.tables[parent].name.clone();
    if child != parent && schema.tables[child].reference(attribute).is_none() {
        schema.tables[child].foreign_keys.push(ForeignKey {
            columns: vec![attribute.to_owned()],
            table: to,
            to: Vec::new(),
        });
    }
}

/// The type that an attribute's name suggests.
fn kind(name: &str) -> ValueType {
    let lower = name.to_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    if ends(&["id"]) {
        ValueType::Id
    } else if ends(&["date", "day"]) {
        ValueType::Date
    } else if ends(&["time", "timestamp"]) || name.ends_with("At") {
        ValueType::Timestamp
    } else if ends(&["price", "amount", "total", "score", "rating", "count", "quantity"]) {
        ValueType::Decimal
    } else {
        ValueType::String
    }
}

fn read(row: &table::Row, sentence: &Sentence, schema: &Schema, entities: &Entities<'_>) -> Read {
    let position = |name: &str| schema.tables.iter().position(|table| table.name == name).unwrap_or_default();
    let own = position(&sentence.noun);
    let identity = entities.identity(own);
    let (table, equals, with) = match &sentence.with {
        Some(child) => (position(child), identity, With::Parent(own)),
        None => (own, sentence.inputs.clone(), With::Nothing),
    };
    // Sheets do not keep to one spelling of a name.
    let column = |name: &String| {
        let own = schema.tables.get(table).and_then(|table| table.column(name));
        own.map_or_else(|| name.clone(), |own| own.name.clone())
    };
    Read {
        table,
        equals: equals.iter().map(column).collect(),
        also: Vec::new(),
        range: sentence.range.as_ref().map(column),
        order: sentence.order.as_ref().map(|(by, descending)| (column(by), *descending)),
        limit: sentence.limit,
        limited: false,
        with,
        count: row.rate.map_or(0, |rate| (rate * rate::YEAR).round() as u64),
        confidence: Confidence::Likely,
        origin: row.origin(),
        remarks: row.rate_remark().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "# Patterns

| # | Access Pattern | Frequency | Notes |
|---|---|---|---|
| 1 | Get user by ID | 500/s | |
| 2 | Get user by email | 36,000 per hour | login |
| 3 | List orders of a user by date, newest first | High | |
| 4 | Get order by ID | 100 rps | |
| 5 | Get user with their orders | 2/s | |
| 6 | List items of an order | 100/s | |
| 7 | Get the latest 10 orders for a user | 50/s | |
| 8 | Find orders by user and status | 1/s | |
| 9 | Orders in a date range for a user | 1/s | |
| 10 | Create order | 20/s | |
| 11 | Frobnicate the widgets | 1/s | |
";

    /// A title above, both ends of a range in one parameter, directions, no parameters, and a part of an entity.
    #[test]
    fn sheets_are_read_as_teams_write_them() {
        let sheet = "Access Pattern Analysis:\n──────────\nPattern | Input | Frequency\n──────────
            Get orders by date range | userId+dates | 1/s
            List products by category, sorted by price (descending) | category, price | 1/s
            Create Customer | N/A | 1/s
            Get user profile | userId | 1/s
            List employees in a department, ordered by hire date | departmentId | 1/s";
        let text = draft(sheet, "Shop").unwrap().text();
        for part in [
            "ordersByUserId = { in = [\"userId\"], out = \"Order*\", range = \"date\"",
            "in = [\"category\"], out = \"Product*\", order = \"price desc\"",
            "attributes = { customerId = \"id\" }",
            "userByUserId = { in = [\"userId\"], out = \"User\"",
            "order = \"hireDate asc\"",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    /// A name of a function is a sentence too, and the header of a column may name the unit.
    #[test]
    fn names_of_functions_are_sentences() {
        let sheet = "| Access pattern | HEADER |\n|---|---|\n| getProductsByCategory sorted by price asc | 60 |\n\
                     | listOrdersOfUser newest first | 120 |\n| fetchInvoice by number | 6k |\n| getOrdersByCustomerId | 60/s |\n";
        for (header, unit) in [
            ("Freq.", 1.0),
            ("Freq", 1.0),
            ("req/s", 1.0),
            ("Calls per minute", 60.0),
            ("Calls per day", 86_400.0),
        ] {
            let drafted = draft(&sheet.replace("HEADER", header), "Shop").unwrap();
            let text = drafted.text();
            for part in [
                "in = [\"category\"], out = \"Product*\", order = \"price asc\"",
                "in = [\"user\"], out = \"Order*\", order = \"createdAt desc\"",
                "in = [\"number\"], out = \"Invoice\"",
                "in = [\"customerId\"], out = \"Order*\"",
            ] {
                assert!(text.contains(part), "{part}\n{text}");
            }
            let mut rates: Vec<f64> =
                drafted.model.patterns.iter().filter_map(|pattern| pattern.rps).collect();
            let mut expected = [60.0 / unit, 120.0 / unit, 6_000.0 / unit, 60.0];
            rates.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            let is_near = |(own, other): (&f64, &f64)| (own - other).abs() < other / 100.0;
            assert!(rates.len() == 4 && rates.iter().zip(&expected).all(is_near), "{header} {rates:?}");
        }
    }

    /// Several items may have one day: what is sorted by age has a moment, unless it is found by the day.
    #[test]
    fn what_is_sorted_by_age_has_a_moment() {
        for (rows, parts) in [
            (
                "Get last 20 messages in a conversation",
                ["createdAt = \"timestamp\"", "order = \"createdAt desc\", limit = 20"],
            ),
            (
                "List messages of a conversation by date, newest first",
                ["date = \"timestamp\"", "order = \"date desc\""],
            ),
            (
                "Get messages of a chat by date\nGet the latest message of a chat",
                ["date = \"timestamp\"", "order = \"date desc\", limit = 1"],
            ),
            (
                "Get messages by chat and date\nGet the latest message of a chat",
                ["date = \"date\", createdAt = \"timestamp\"", "order = \"createdAt desc\", limit = 1"],
            ),
            ("Get messages of a chat by date", ["date = \"date\"", "order = \"date asc\""]),
        ] {
            let rows: String = rows.lines().map(|row| format!("| {row} |\n")).collect();
            let text = draft(&format!("| Access pattern |\n|---|\n{rows}"), "Chat").unwrap().text();
            for part in parts {
                assert!(text.contains(part), "{part}\n{text}");
            }
        }
    }

    #[test]
    fn the_outer_marks_of_a_table_may_be_left_out() {
        let sheet = "Pattern | Input | Frequency\n────────┼───────┼──────\nGet user by ID | userId | 500/s\nGet orders of a user | userId | 20/s\n";
        for sheet in [sheet.to_owned(), sheet.replace("────────┼───────┼──────", "---|---|---")]
        {
            let draft = draft(&sheet, "Table").unwrap();
            let rates: Vec<Option<f64>> = draft.model.patterns.iter().map(|pattern| pattern.rps).collect();
            assert_eq!(rates, [Some(500.0), Some(20.0)], "{}", draft.text());
        }
    }

    #[test]
    fn a_sheet_in_markdown_becomes_patterns_and_keys() {
        let draft = draft(SHEET, "Shop").unwrap();
        let text = draft.text();
        for expected in [
            "userByUserId = { in = [\"userId\"], out = \"User\", rps = 500 }",
            "userByEmail = { in = [\"email\"], out = \"User\", rps = 10 }",
            "unique = [\"email\"]",
            "ordersByUserId = { in = [\"userId\"], out = \"Order*\", order = \"date desc\"",
            "userWithOrders = { in = [\"userId\"], out = [\"User\", \"Order*\"]",
            "itemsByOrderId = { in = [\"orderId\"], out = \"Item*\", rps = 100 }",
            "range = \"date\"",
            "createOrder = { create = \"Order\", rps = 20 }",
            "key = [\"USER#{userId}\", \"ORDER#{date}#{orderId}\"]",
            "! Line 15: `Frobnicate the widgets`",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let model = crate::read(&crate::Source::new("s.toml", text.as_str())).unwrap();
        let report = crate::check(&model);
        let errors: Vec<_> =
            report.findings.iter().filter(|finding| finding.severity == crate::Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }

    #[test]
    fn what_is_not_understood_is_left_out_and_named() {
        let sheet = "Access pattern;Entity;Parameters;Frequency
Show a session with its bookings;Session, Booking;;hourly
Get user with their orders;;;5/s
Payments of a member by date, newest first, 10 at most;;;
Count bookings per session;;;
Update member's phone;;;1/s
Book a session;Session;;
Sessions of an instructor between two dates;Session;instructorId, startsAt;
Instructors working at a gym;Instructor;;
List no-show bookings;Booking;;
Get member by ID;;;twice a day
Get gym by ID;;;
Get the newest message of a conversation;;;
Show the top 10 instructors of a gym by rating;;;
Show a gym with its instructors and sessions;;;
Search members by name;;;
Create payment;;;";
        let text = draft(sheet, "Gym").unwrap().text();
        for expected in [
            "sessionWithBookings = { in = [\"sessionId\"], out = [\"Session\", \"Booking*\"], rps = 0.000278 }",
            "userWithOrders = { in = [\"userId\"], out = [\"User\", \"Order*\"], rps = 5 }",
            "paymentsByMemberId = { in = [\"memberId\"], out = \"Payment*\", order = \"date desc\", limit = 10 }",
            "! Line 5: `Count bookings per session`: counts and sums",
            "updateMemberPhone = { update = \"Member\", set = [\"phone\"], rps = 1 }",
            "! Line 7: `Book a session`",
            "sessionsByInstructorId = { in = [\"instructorId\"], out = \"Session*\", range = \"startsAt\" }",
            "instructorsByGymId = { in = [\"gymId\"], out = \"Instructor*\" }",
            "! Line 10: `List no-show bookings`: `no-show` is not understood",
            "createPayment",
            "memberByMemberId = { in = [\"memberId\"], out = \"Member\", rps = 0.0000231 }",
            "messagesByConversation = { in = [\"conversation\"], out = \"Message*\", order = \"createdAt desc\", limit = 1 }",
            "order = \"rating desc\", limit = 10",
            "! Line 15: `Show a gym with its instructors and sessions`: it reads sessions along too",
            "! Line 16: `Search members by name`: text is not searched by keys",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let model = crate::read(&crate::Source::new("s.toml", text.as_str())).unwrap();
        let errors =
            crate::check(&model).findings.into_iter().filter(|own| own.severity == crate::Severity::Error);
        assert_eq!(errors.map(|own| own.message).collect::<Vec<_>>(), [""; 0], "{text}");
        for invented in ["SessionBooking", "date10", "CountBooking", "MemberPhone]", "bookingsBy"] {
            assert!(!text.contains(invented), "{invented}\n{text}");
        }
        assert_eq!(draft(&sheet.replace(';', "\t"), "Gym").unwrap().text(), text);
    }

    #[test]
    fn what_belongs_to_an_item_is_read_along_with_it() {
        let sheet =
            "| Use case |\n|---|\n| Get user by ID and their orders |\n| getInvoiceById and its lines |\n";
        let text = draft(sheet, "Shop").unwrap().text();
        for expected in [
            "in = [\"userId\"], out = [\"User\", \"Order*\"]",
            "in = [\"invoiceId\"], out = [\"Invoice\", \"Line*\"]",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn sentences_are_not_misread() {
        let sheet = "| Access pattern | Parameters | Rate |
|---|---|---|
| Get order by id | | 1/s |
| Get team by id | | 1/s |
| Get user by id | | 1/s |
| Update order status | | 2/s |
| Mark order as paid | | 3/s |
| Change user password | | 1/s |
| Change invoice state | | 1/s |
| Get last 10 messages of a channel | | 1/s |
| List teams a user belongs to | | 1/s |
| List orders of a customer between two dates | customerId, from, to | 1/s |
| Get order \\| invoice by id | | 7/s |
";
        let text = draft(sheet, "Shop").unwrap().text();
        for expected in [
            "updateOrderStatus = { update = \"Order\", set = [\"status\"], rps = 2 }",
            "# ! The sentence does not say what changes: add `set`, or write `Update the order's …`.",
            "updateOrder = { update = \"Order\", rps = 3 }",
            "updateUserPassword = { update = \"User\", set = [\"password\"], rps = 1 }",
            "! Line 9: `Change invoice state`: which entity is it",
            "order = \"createdAt desc\", limit = 10",
            "! Line 11: `List teams a user belongs to`: this is not understood",
            "in = [\"customerId\"], out = \"Order*\", range = \"date\"",
            "! Line 13: `Get order | invoice by id`: alternatives are several patterns",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn nothing_is_made_up_for_words_that_may_mean_several_things() {
        let sheet = "| Access pattern | Parameters | Rate |
|---|---|---|
| Get warehouse by id | | 1/s |
| Get customer by customerId | PK=customerId | <1/s |
| Get invoice by id | PK = INVOICE#<invoiceId> | 1-2/s |
| List tasks of a project | projectId and status | |
| Update status of a task | taskId, status | 1/s |
| Find rooms by hotel & date | | 1/s |
| Create task | | rarely |
| List active users of a tenant | | 1/s |
| Get cheapest products in a category | | 1/s |
| List cancelled trips of a driver | | 1/s |
| Cancel booking | | 1/s |
| Archive files of a folder | | 1/s |
| Get all products ordered by a given customerId for a given date range | | 1/s |
| Get product inventory for all articles by articleId | | 1/s |
| Get stock for warehouses by articleId | | 1/s |
| List waiting list of an event in order of arrival | | 1/s |
";
        let text = draft(sheet, "Shop").unwrap().text();
        for expected in [
            "customerByCustomerId = { in = [\"customerId\"], out = \"Customer\", rps = 1 }",
            "invoiceByInvoiceId = { in = [\"invoiceId\"], out = \"Invoice\", rps = 2 }",
            "in = [\"projectId\", \"status\"], out = \"Task*\"",
            "updateTaskStatus = { update = \"Task\", set = [\"status\"], rps = 1 }",
            "in = [\"date\", \"hotel\"], out = \"Room*\"",
            "# ! `rarely` is not a rate.\ncreateTask",
            "! Line 10: `List active users of a tenant`: `active` is not understood",
            "! Line 11: `Get cheapest products in a category`: `cheapest` is not understood",
            "! Line 12: `List cancelled trips of a driver`: `cancelled` is not understood",
            "! Line 13: `Cancel booking`: what is cancelled may stay or go",
            "! Line 14: `Archive files of a folder`: this is not understood",
            "customerId may say who ordered, or how they are sorted",
            "! Line 16: `Get product inventory for all articles by articleId`: a key finds the items of one thing",
            "! Line 17: `Get stock for warehouses by articleId`: a key finds the items of one thing",
            "in = [\"event\"], out = \"WaitingList*\", order = \"arrival asc\"",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        for invented in
            ["PK", "StatusId", "entity.ActiveUser", "entity.Booking", "hotelDate", "ArchiveFile", "Stock]"]
        {
            assert!(
                !text.contains(&format!("{invented} ")) && !text.contains(&format!("[{invented}]")),
                "{invented}\n{text}"
            );
        }
    }

    #[test]
    fn possessives_name_the_owner() {
        let sheet = "| Access pattern | Input |
|---|---|
| Get user's recent 10 orders | userId |
| List a customer's invoices, newest first | |
| Show the driver’s cars | |
| Get member's profile | |
| List teams' matches by date | |
| Get account by ID | |
| Get a user's account | |
| List a user's open tickets | |
";
        let text = draft(sheet, "Shop").unwrap().text();
        for expected in [
            "in = [\"userId\"], out = \"Order*\", order = \"createdAt desc\", limit = 10",
            "in = [\"customerId\"], out = \"Invoice*\", order = \"createdAt desc\"",
            "in = [\"driverId\"], out = \"Car*\"",
            "in = [\"memberId\"], out = \"Member\"",
            "in = [\"teamId\"], out = \"Match*\", order = \"date asc\"",
            "in = [\"userId\"], out = \"Account*\"",
            "! Line 10: `List a user's open tickets`: `open` is not understood",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn a_sheet_in_csv_may_name_parameters_and_entities() {
        let sheet = "Entity,Query,Parameters,RPS\nProduct,all products of a category,categoryId,5\n,get product,productId,100\n";
        let text = draft(sheet, "Shop").unwrap().text();
        assert!(
            text.contains("productsByCategoryId = { in = [\"categoryId\"], out = \"Product*\", rps = 5 }"),
            "{text}"
        );
        assert!(text.contains("productByProductId"), "{text}");
        assert!(draft("just, words\n1,2", "T").is_err());
    }
}
