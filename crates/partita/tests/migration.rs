//! Migration against a server: in place, into new tables, several tables into one and back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use support::Server;

const USER: &str = "USER#01K6TH9480QZKHFWEAZCG61FZ7";

/// Writes a model to a file.
fn model_file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A command that carries over what an application changes.
struct Following {
    process: Child,
    output: BufReader<ChildStdout>,
    printed: String,
}

impl Following {
    fn start(server: &Server, arguments: &[&str]) -> Following {
        let mut process = Command::new(env!("CARGO_BIN_EXE_partita"))
            .arg("model")
            .args(arguments)
            .args(["--apply", "--follow", "--endpoint"])
            .arg(format!("http://{}", server.address))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Following { process, output, printed: String::new() }
    }

    fn wait_until_caught_up(&mut self) {
        while !self.printed.contains("caught up") {
            assert!(self.output.read_line(&mut self.printed).unwrap() > 0, "{}", self.printed);
        }
    }

    /// Stops it; returns its exit code and what it has printed.
    fn stop(mut self) -> (Option<i32>, String) {
        Command::new("kill").args(["-INT", &self.process.id().to_string()]).status().unwrap();
        self.output.read_to_string(&mut self.printed).unwrap();
        (self.process.wait().unwrap().code(), self.printed)
    }
}

fn count(server: &Server, table: &str) -> u64 {
    server.call("Scan", &json!({ "TableName": table })).1["Count"].as_u64().unwrap()
}

/// Writes the shop's model with changes to a file.
fn shop_with(folder: &tempfile::TempDir, changes: &[(&str, &str)]) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = std::fs::read_to_string(root.join(SHOP)).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = folder.path().join(format!("{}.toml", changes.len()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const SHOP: &str = "models/shop-orders.toml";
const PROFILE: (&str, &str) =
    ("key = [\"USER#{userId}\", \"USER#{userId}\"]", "key = [\"USER#{userId}\", \"PROFILE\"]");

#[test]
fn rule_04_a_table_moves_to_the_next_version_and_back() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let index = "[index.GSI3]\nkeys = [\"GSI3PK\", \"GSI3SK\"]\n[entity.User]\nindex.GSI3 = { key = [\"EMAIL#{email}\", \"USER\"] }";
    let new = shop_with(&folder, &[PROFILE, ("[entity.User]", index)]);
    let text = server.model(0, &["migrate", SHOP, &new]);
    assert!(text.contains("dry run") && text.contains("index GSI3 is added"), "{text}");
    assert!(text.contains("USD on demand, prices of 20"), "{text}");
    let checkpoint = folder.path().join("checkpoint");
    let text =
        server.model(0, &["migrate", SHOP, &new, "--apply", "--checkpoint", checkpoint.to_str().unwrap()]);
    assert!(text.contains("adding index GSI3") && text.contains("items read, 0 violations"), "{text}");
    let scan = json!({ "TableName": "Shop", "IndexName": "GSI3" });
    let (_, answer) = server.call("Scan", &scan);
    assert!(answer["Count"].as_u64().unwrap() > 0);
    assert_eq!(answer["Items"][0]["SK"]["S"], "PROFILE");
    server.model(0, &["audit", &new]);
    let text = server.model(0, &["migrate", &new, SHOP, "--apply"]);
    assert!(text.contains("index GSI3, which the new model does not have, is left"), "{text}");
    assert_eq!(server.call("Scan", &scan).1["Count"], 0);
    let text = server.model(0, &["migrate", &new, SHOP, "--apply", "--remove-indexes"]);
    assert!(text.contains("removing index GSI3"), "{text}");
    assert_eq!(server.call("Scan", &scan).0, 400);
    server.model(0, &["audit", SHOP]);
}

#[test]
fn items_of_removed_types_are_deleted_if_requested() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let whole =
        std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(SHOP)).unwrap();
    let start = whole.find("[entity.OrderItem]").unwrap();
    let entity = &whole[start..start + whole[start..].find("\n[").unwrap()];
    let new = shop_with(
        &folder,
        &[
            (entity, ""),
            ("transact = [\"create Order\", \"create OrderItem*\"]", "create = \"Order\""),
            (whole.lines().find(|line| line.starts_with("orderItems")).unwrap(), ""),
        ],
    );
    let text = server.model(1, &["migrate", SHOP, &new, "--apply"]);
    assert!(text.contains("items of OrderItem, which the new model does not have, are left alone"), "{text}");
    let text = server.model(0, &["migrate", SHOP, &new, "--apply", "--delete-removed"]);
    assert!(text.contains("are deleted"), "{text}");
    server.model(0, &["audit", &new]);
}

#[test]
fn changes_that_a_table_cannot_take_go_into_a_new_table() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]")]);
    let text = server.model(2, &["migrate", SHOP, &new, "--apply"]);
    assert!(
        text.contains("keys change from PK, SK to pk, sk") && text.contains("--into NEW-TABLE"),
        "{text}"
    );
    let text = server.model(0, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
    assert!(text.contains("table Shop2 has all items"), "{text}");
    let count = |table: &str| server.call("Scan", &json!({ "TableName": table })).1["Count"].clone();
    assert_eq!(count("Shop2"), count("Shop"));
    server.model(0, &["audit", &new, "--table", "Shop2"]);
    let changed = shop_with(
        &folder,
        &[
            PROFILE,
            ("keys = [\"GSI1PK\", \"GSI1SK\"]", "keys = [\"GSI1PK\"]"),
            ("\"ORDER#{orderId}\", \"ORDER#{orderId}\"", "\"ORDER#{orderId}\""),
        ],
    );
    assert!(server.model(2, &["migrate", SHOP, &changed]).contains("call it GSI1v2 in the new model"));
}

#[test]
fn items_that_would_get_the_same_key_are_foreseen_and_nothing_is_written() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("\"ITEM#{itemId}\"", "\"ITEM\"")]);
    let before = server.call("Scan", &json!({ "TableName": "Shop" })).1;
    let dry = server.model(1, &["migrate", SHOP, &new]);
    assert!(
        dry.contains("keys that several items get") && dry.contains("/ ITEM is the new key of ORDER#"),
        "{dry}"
    );
    let applied = server.model(1, &["migrate", SHOP, &new, "--apply"]);
    assert!(applied.contains("nothing is written while there are any"), "{applied}");
    assert_eq!(server.call("Scan", &json!({ "TableName": "Shop" })).1, before);
    let copied = server.model(1, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
    assert!(copied.contains("keys that several items get"), "{copied}");
    assert_eq!(
        server.call("DescribeTable", &json!({ "TableName": "Shop2" })).0,
        400,
        "it is not even created"
    );
}

#[test]
fn items_that_stay_count_for_collisions() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[PROFILE]);
    // No entity of the models has this key; a user will.
    let item = json!({ "PK": { "S": USER }, "SK": { "S": "PROFILE" }, "EntityType": { "S": "Note" } });
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop", "Item": item })).0, 200);
    let key = json!({ "S": USER });
    let user = json!({ "PK": key, "SK": key, "EntityType": { "S": "User" }, "name": { "S": "Ada" } });
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop", "Item": user })).0, 200);
    let text = server.model(1, &["migrate", SHOP, &new, "--apply"]);
    assert!(text.contains(&format!("{USER} / PROFILE, which stays")), "{text}");
    assert!(text.contains(&format!("{USER} / PROFILE is the new key of {USER} / {USER}")), "{text}");
}

#[test]
fn a_table_that_is_verified_is_only_compared() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]")]);
    for _ in 0..2 {
        let text = server.model(0, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
        assert!(text.contains("items compared on both sides, 0 differences"), "{text}");
    }
    // Once it is verified, the application may write to it: it is not overwritten.
    let user = json!({ "pk": { "S": USER }, "sk": { "S": USER }, "EntityType": { "S": "User" } });
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop2", "Item": user })).0, 200);
    let text = server.model(1, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
    assert!(text.contains("is not written again") && text.contains("User: "), "{text}");
    let text = server.model(0, &["migrate", SHOP, &new, "--into", "Shop2", "--apply", "--overwrite"]);
    assert!(text.contains("0 differences"), "{text}");
}

#[test]
fn a_table_of_somebody_else_is_not_touched() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[PROFILE]);
    server.model(0, &["seed", SHOP, "--items", "40", "--table", "Other"]);
    let text = server.model(2, &["migrate", SHOP, &new, "--into", "Other", "--apply"]);
    assert!(text.contains("has items that do not come from this migration"), "{text}");
}

/// Puts more than a megabyte of items, so that a migration reads several pages.
fn fill_pages(server: &Server) {
    for number in 0..8 {
        let key = json!({ "S": format!("USER#01K6TH9480QZKHFWEAZCG61FZ{number}") });
        let item = json!({
            "PK": key, "SK": key, "EntityType": { "S": "User" }, "name": { "S": "n".repeat(300_000) },
            "email": { "S": format!("page{number}@example.com") }, "version": { "N": "1" },
        });
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop", "Item": item })).0, 200);
    }
}

#[test]
fn a_checkpoint_is_private_and_only_for_its_own_migration() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start(&[]);
    server.seed();
    fill_pages(&server);
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]")]);
    let path = folder.path().join("checkpoint");
    let file = path.to_str().unwrap();
    let copy = |code, into: &str| {
        server.model(code, &["migrate", SHOP, &new, "--into", into, "--apply", "--checkpoint", file])
    };
    let watched = std::thread::scope(|scope| {
        let running = scope.spawn(|| copy(0, "Shop2"));
        let mut seen = None;
        while !running.is_finished() {
            if let Ok(metadata) = std::fs::metadata(&path) {
                seen = std::fs::read(&path)
                    .ok()
                    .map(|bytes| (bytes, metadata.permissions().mode() & 0o777))
                    .or(seen);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        seen
    });
    let (bytes, mode) = watched.expect("a checkpoint after the first page");
    assert_eq!(mode, 0o600);
    assert!(!path.exists(), "removed at the end");
    std::fs::write(&path, &bytes).unwrap();
    assert!(copy(2, "Shop3").contains("belongs to another migration"));
    std::fs::write(&path, "{\"PK\": {\"S\": \"USER#1\"}}").unwrap();
    assert!(copy(2, "Shop2").contains("is not a checkpoint of this program"));
    std::fs::write(&path, &bytes).unwrap();
    copy(0, "Shop2");
}

const USERS: &str = r#"
format = 1
[table]
name = "Users"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id", userEmail = "string", firstName = "string", lastName = "string" }
key = ["USER#{userId}", "USER"]
[pattern]
user = { in = ["userId"], out = "User" }
"#;

const CUSTOMERS: &str = r#"
format = 1
[table]
name = "Users"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Customer]
was = "User"
key = ["CUSTOMER#{userId}", "CUSTOMER"]
unique = ["email"]
[entity.Customer.attributes]
userId = "id"
email = { type = "string", was = "userEmail" }
name = { type = "string", computed = "{firstName} {lastName}" }
level = { type = "int", default = 1 }
[entity.CustomerByEmail]
attributes = { userId = "id", email = "string", name = "string" }
copies = "Customer"
key = ["EMAIL#{email}", "CUSTOMER"]
[pattern]
customer = { in = ["userId"], out = "Customer" }
byEmail = { in = ["email"], out = "CustomerByEmail" }
"#;

#[test]
fn rule_101_items_migrate_with_their_markers_and_copies_and_orphans_are_removed() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", USERS), model_file(&folder, "new.toml", CUSTOMERS));
    server.model(0, &["seed", &old, "--items", "60"]);
    let users = count(&server, "Users");
    let dry = server.model(0, &["migrate", &old, &new]);
    assert!(dry.contains(&format!("{users:>10} markers of unique values are created")), "{dry}");
    assert!(dry.contains(&format!("{users:>10} copies are created")), "{dry}");
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(applied.contains(&format!("{} items read, 0 violations", 3 * users)), "{applied}");
    server.model(0, &["audit", &new]);
    let stray = json!({ "S": "UNIQUE#Customer#email#nobody@example.com" });
    server.call("PutItem", &json!({ "TableName": "Users", "Item": { "PK": stray, "SK": stray } }));
    let again = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(
        again.contains(
            "         1 markers and copies are removed: they get another key, or belong to no item"
        ),
        "{again}"
    );
    // The way back removes what the old model does not have.
    let back = server.model(0, &["migrate", &new, &old, "--apply", "--delete-removed"]);
    assert!(back.contains(&format!("{users} items read, 0 violations")), "{back}");
    server.model(0, &["audit", &old]);
}

#[test]
fn values_that_are_not_unique_are_named_and_nothing_is_written() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", USERS), model_file(&folder, "new.toml", CUSTOMERS));
    server.model(0, &["seed", &old, "--items", "10"]);
    for id in ["x1", "x2"] {
        let text = |text: &str| json!({ "S": text });
        let item = json!({
            "PK": text(&format!("USER#{id}")), "SK": text("USER"), "type": text("User"), "userId": text(id),
            "userEmail": text("same@example.com"), "firstName": text("Ada"), "lastName": text("Byron"),
        });
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Users", "Item": item })).0, 200);
    }
    let only_marker = CUSTOMERS
        .replace("[entity.CustomerByEmail]", "[entity.Other]")
        .replace("copies = \"Customer\"\n", "");
    let only_marker = only_marker
        .replace("\"EMAIL#{email}\"", "\"OTHER#{email}\"")
        .replace("out = \"CustomerByEmail\"", "out = \"Other\"");
    let marked = model_file(&folder, "marked.toml", &only_marker);
    let before = sorted_items(&server, "Users");
    for arguments in [&["migrate", &old, &marked][..], &["migrate", &old, &marked, "--apply"]] {
        let text = server.model(1, arguments);
        assert!(
            text.contains("unique values that several items have; nothing is written while there are any:"),
            "{text}"
        );
        assert!(text.contains("Customer#email#same@example.com of USER#x1 / USER"), "{text}");
        let values = before.len() - 1;
        assert!(text.contains(&format!("{values:>10} markers of unique values are created")), "{text}");
    }
    assert_eq!(sorted_items(&server, "Users"), before);
    // Their copies would have the same key: that is a collision.
    let dry = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(dry.contains("EMAIL#same@example.com / CUSTOMER is the new key of USER#x2 / USER"), "{dry}");
}

#[test]
fn a_new_required_attribute_without_a_value_is_reported_in_the_dry_run() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", USERS);
    let new = model_file(&folder, "new.toml", &CUSTOMERS.replace(", default = 1", ""));
    server.model(0, &["seed", &old, "--items", "10"]);
    let dry = server.model(1, &["migrate", &old, &new]);
    assert!(dry.contains("items have no Customer.level, which the new model requires"), "{dry}");
}

const PEOPLE: &str = r#"
format = 1
[table]
name = "People"
keys = ["userId"]
[entity.User]
attributes = { userId = "id", email = "string", name = "string" }
[pattern]
user = { in = ["userId"], out = "User" }
"#;

const ORDERS: &str = r#"
format = 1
[table]
name = "Orders"
keys = ["orderId"]
[index.ByUser]
keys = ["userId", "createdAt"]
[entity.Order]
attributes = { orderId = "ulid", userId = "id", createdAt = "timestamp", total = "decimal" }
[pattern]
order = { in = ["orderId"], out = "Order" }
ordersOfUser = { in = ["userId"], out = "Order*", order = "createdAt desc" }
"#;

const ONE_TABLE: &str = r#"
format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", email = "string", name = "string" }
key = ["USER#{userId}", "USER"]
unique = ["email"]
[entity.Order]
attributes = { orderId = "ulid", userId = "id", createdAt = "timestamp", total = "decimal" }
key = ["USER#{userId}", "ORDER#{createdAt}#{orderId}"]
index.GSI1 = { key = ["ORDER#{orderId}", "ORDER"] }
[pattern]
userWithOrders = { in = ["userId"], out = ["User", "Order*"] }
order = { in = ["orderId"], out = "Order" }
"#;

#[test]
fn rule_104_several_tables_become_one_and_several_again() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let people = model_file(&folder, "people.toml", PEOPLE);
    let orders = model_file(&folder, "orders.toml", ORDERS);
    let shop = model_file(&folder, "shop.toml", ONE_TABLE);
    server.model(0, &["seed", &people, "--items", "40", "--table", "People-2"]);
    server.model(0, &["seed", &orders, "--items", "60"]);
    let (users, placed) = (count(&server, "People-2"), count(&server, "Orders"));
    let from = [format!("{people}:People-2"), orders.clone()];
    let consolidate = ["consolidate", &shop, "--from", &from[0], "--from", &from[1]];
    let dry = server.model(0, &consolidate);
    assert!(dry.contains("dry run") && dry.contains(&format!("{:>10} items move", users + placed)), "{dry}");
    assert_eq!(server.call("DescribeTable", &json!({ "TableName": "Shop" })).0, 400);
    let applied = server.model(0, &[&consolidate[..], &["--apply"]].concat());
    assert!(applied.contains(&format!("{} items read, 0 violations", 2 * users + placed)), "{applied}");
    assert!(
        applied.contains(&format!("{} items compared on both sides, 0 differences", users + placed)),
        "{applied}"
    );
    let outcome = "table Shop has all items; tables People-2 and Orders are unchanged and can be deleted";
    assert!(applied.contains(outcome), "{applied}");
    server.model(0, &["audit", &shop]);
    let again = server.model(0, &[&consolidate[..], &["--apply"]].concat());
    assert!(again.contains("was filled and verified before"), "{again}");
    let into = [format!("{people}:People-3"), format!("{orders}:Orders-3")];
    let split = server.model(0, &["split", &shop, "--into", &into[0], &into[1], "--apply"]);
    assert!(split.contains("0 differences"), "{split}");
    let outcome = "tables People-3 and Orders-3 have all items; table Shop is unchanged and can be deleted";
    assert!(split.contains(outcome), "{split}");
    let partial = server.model(1, &["split", &shop, "--into", &format!("{people}:People-4")]);
    assert!(
        partial.contains("items of Order, which the new model does not have, are not copied"),
        "{partial}"
    );
    assert!(!partial.contains("--delete-removed"), "{partial}");
    let sorted = |table: &str, key: &str| {
        let mut items =
            server.call("Scan", &json!({ "TableName": table })).1["Items"].as_array().unwrap().clone();
        items.iter_mut().for_each(|item| drop(item.as_object_mut().unwrap().remove("type")));
        items.sort_by_key(|item| item[key].to_string());
        items
    };
    assert_eq!(sorted("People-3", "userId"), sorted("People-2", "userId"));
    assert_eq!(sorted("Orders-3", "orderId"), sorted("Orders", "orderId"));
}

#[test]
fn a_split_into_tables_that_share_an_entity_is_refused() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let people = model_file(&folder, "people.toml", PEOPLE);
    let shop = model_file(&folder, "shop.toml", ONE_TABLE);
    server.model(0, &["seed", &shop, "--items", "20"]);
    let text = server.model(2, &["split", &shop, "--into", &people, &format!("{people}:Others")]);
    assert!(text.contains("both have an entity User"), "{text}");
    let text = server.model(2, &["consolidate", &shop, "--from", &shop, "--from", &people]);
    assert!(text.contains("would be read and written"), "{text}");
}

/// A table of one kind of pets, which were pets of any kind.
fn kind_of_pets(name: &str, condition: &str) -> String {
    format!(
        "format = 1\n[table]\nname = \"{name}s\"\nkeys = [\"petId\"]\n[entity.{name}]\nwas = \"Pet{condition}\"\n\
         attributes = {{ petId = \"id\", kind = \"string\", name = \"string\" }}\n\
         [pattern]\n{0} = {{ in = [\"petId\"], out = \"{name}\" }}\n",
        name.to_lowercase()
    )
}

const PETS: &str = r#"
format = 1
[table]
name = "Pets"
keys = ["petId"]
[entity.Pet]
attributes = { petId = "id", kind = "string", name = "string" }
[pattern]
pet = { in = ["petId"], out = "Pet" }
"#;

fn put_pet(server: &Server, id: &str, kind: &str) {
    put(server, "Pets", &[("petId", id), ("kind", kind), ("name", "Kit")]);
}

fn delete_pet(server: &Server, id: &str) {
    let request = json!({ "TableName": "Pets", "Key": { "petId": { "S": id } } });
    assert_eq!(server.call("DeleteItem", &request).0, 200);
}

/// A table of a cat, a dog and a bird, and the models of it, of cats and of dogs.
fn pets(server: &Server, folder: &tempfile::TempDir) -> [String; 3] {
    let request = json!({
        "TableName": "Pets",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "petId", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "petId", "KeyType": "HASH" }],
    });
    assert_eq!(server.call("CreateTable", &request).0, 200);
    [("1", "CAT"), ("2", "DOG"), ("3", "BIRD")].iter().for_each(|(id, kind)| put_pet(server, id, kind));
    [
        model_file(folder, "pets.toml", PETS),
        model_file(folder, "cats.toml", &kind_of_pets("Cat", " where kind == 'CAT'")),
        model_file(folder, "dogs.toml", &kind_of_pets("Dog", " where kind == 'DOG'")),
    ]
}

#[test]
fn items_that_have_a_place_in_none_of_several_tables_are_named_and_stay() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let [old, cats, dogs] = pets(&server, &folder);
    let people = model_file(&folder, "people.toml", PEOPLE);
    let before = sorted_items(&server, "Pets");
    let bird = "none of their conditions holds: say which, as in `was = \"Pet where kind == 'CAT'\"`\n           3\n";
    for more in [&[][..], &["--apply"]] {
        let printed =
            server.model(1, &[&["split", &old, "--into", &people, &cats, &dogs][..], more].concat());
        assert!(
            printed.contains("         1 items are left alone: Pet becomes") && printed.contains(bird),
            "{printed}"
        );
        assert!(!printed.contains("can be deleted"), "{printed}");
        assert_eq!(server.call("DescribeTable", &json!({ "TableName": "Cats" })).0 == 200, !more.is_empty());
    }
    assert_eq!([count(&server, "Cats"), count(&server, "Dogs"), count(&server, "People")], [1, 1, 0]);
    let printed = server.model(1, &["split", &old, "--into", &format!("{people}:Others"), "--apply"]);
    assert!(
        printed.contains("3 items of Pet, which the new model does not have, are not copied"),
        "{printed}"
    );
    assert!(printed.contains("table Pets is unchanged and still needed"), "{printed}");
    assert_eq!(sorted_items(&server, "Pets"), before);
}

#[test]
fn items_that_have_a_place_in_several_tables_are_named_and_go_to_none() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let [old, cats, _] = pets(&server, &folder);
    let others = model_file(&folder, "others.toml", &kind_of_pets("Other", ""));
    for more in [&[][..], &["--apply"]] {
        let printed = server.model(1, &[&["split", &old, "--into", &cats, &others][..], more].concat());
        let reason = "they would become Cat of Cats and Other of Others: say which";
        assert!(printed.contains(&format!("         1 items are left alone: {reason}")), "{printed}");
        assert!(!printed.contains("can be deleted"), "{printed}");
    }
    assert_eq!([count(&server, "Cats"), count(&server, "Others")], [0, 2]);
}

#[test]
fn what_an_application_updates_and_deletes_is_carried_into_the_table_where_it_belongs() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let [old, cats, dogs] = pets(&server, &folder);
    delete_pet(&server, "3");
    let mut following = Following::start(&server, &["split", &old, "--into", &cats, &dogs]);
    following.wait_until_caught_up();
    let becomes_dog = json!({
        "TableName": "Pets", "Key": { "petId": { "S": "1" } }, "UpdateExpression": "SET kind = :kind",
        "ExpressionAttributeValues": { ":kind": { "S": "DOG" } },
    });
    assert_eq!(server.call("UpdateItem", &becomes_dog).0, 200);
    delete_pet(&server, "2");
    put_pet(&server, "4", "CAT");
    let are_carried = || {
        let [cats, dogs] = ["Cats", "Dogs"].map(|table| sorted_items(&server, table));
        cats.len() == 1 && cats[0].contains("\"4\"") && dogs.len() == 1 && dogs[0].contains("\"1\"")
    };
    let start = std::time::Instant::now();
    while !are_carried() {
        assert!(start.elapsed().as_secs() < 30, "{} {:?}", following.stop().1, sorted_items(&server, "Cats"));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let (code, printed) = following.stop();
    assert_eq!(code, Some(0), "{printed}");
    assert!(are_carried() && printed.contains("3 changes of the application carried over"), "{printed}");
}

#[test]
fn a_table_that_is_not_the_models_is_noticed_before_anything_is_written() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let shop = model_file(&folder, "shop.toml", ONE_TABLE);
    let without = ONE_TABLE
        .replace("[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n", "")
        .replace("index.GSI1 = { key = [\"ORDER#{orderId}\", \"ORDER\"] }\n", "");
    let without = model_file(&folder, "without.toml", &without);
    server.model(0, &["seed", &without, "--items", "20"]);
    let items = count(&server, "Shop");
    for command in ["seed", "attach"] {
        let text = server.model(2, &[command, &shop]);
        assert!(
            text.contains("does not have the model's indexes GSI1") && text.contains("--add-indexes"),
            "{text}"
        );
    }
    assert_eq!(count(&server, "Shop"), items);
    let text = server.model(0, &["seed", &shop, "--items", "20", "--add-indexes"]);
    assert!(text.contains("adding index GSI1"), "{text}");
    let people = model_file(&folder, "people.toml", PEOPLE);
    let text = server.model(2, &["seed", &people, "--table", "Shop"]);
    assert!(text.contains("its keys are PK, SK, those of the model userId"), "{text}");
    let text = server.model(2, &["migrate", &people, &shop, "--table", "Shop", "--into", "New"]);
    assert!(text.contains("table Shop is not as its model declares it"), "{text}");
}

#[test]
fn an_enforced_model_gives_way_to_the_new_one_which_is_enforced_then() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", USERS), model_file(&folder, "new.toml", CUSTOMERS));
    server.model(0, &["seed", &old, "--items", "20"]);
    for (reads, counted) in [(&[][..], "count"), (&["--reads", "enforce"], "enforce")] {
        server.model(0, &[&["attach", &old, "--enforce", "--force"][..], reads].concat());
        let text = server.model(0, &["migrate", &old, &new, "--apply"]);
        assert!(text.contains("must follow the old model or the new one"), "{text}");
        assert!(text.contains("the new model of table Users is enforced"), "{text}");
        let (_, attached) = server.send("GET /_partita/model?table=Users HTTP/1.1\r\n", "");
        assert_eq!((&attached["mode"], &attached["reads"]), (&json!("enforce"), &json!(counted)));
        let item = json!({ "PK": { "S": "USER#1" }, "SK": { "S": "USER" }, "type": { "S": "User" } });
        assert_eq!(
            server.call("PutItem", &json!({ "TableName": "Users", "Item": item })).0,
            400,
            "the old form"
        );
    }
}

#[test]
fn an_unfinished_migration_says_what_the_table_is_left_with() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", USERS);
    let new = model_file(&folder, "new.toml", &CUSTOMERS.replace(", default = 1", ""));
    server.model(0, &["seed", &old, "--items", "10"]);
    let text = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(
        text.contains("not verified: the audit of table Users") && !text.contains("\nverified"),
        "{text}"
    );
    assert!(text.contains("the migration has not ended; no model is attached to table Users"), "{text}");
    server.model(0, &["migrate", &new, &old, "--apply", "--delete-removed"]);
    server.model(0, &["attach", &old, "--enforce"]);
    let text = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(
        text.contains("the old one and the new one, stay attached to table Users, mode enforce\n"),
        "{text}"
    );
    assert!(text.contains("repeat the command, or migrate back with the models swapped"), "{text}");
    let back = server.model(0, &["migrate", &new, &old, "--apply", "--delete-removed"]);
    assert!(back.contains("\nverified: the audit of table Users"), "{back}");
    assert!(server.model(0, &["watch", "Users"]).contains("mode enforce"));
}

/// A user of one of the two models, by its number, as an item.
fn user(number: u32, is_new: bool) -> serde_json::Value {
    let text = |text: String| json!({ "S": text });
    let (kind, email) = if is_new { ("Customer", "email") } else { ("User", "userEmail") };
    let mut item = json!({
        "PK": text(format!("{}#{number}", kind.to_uppercase())), "SK": text(kind.to_uppercase()), "type": text(kind.to_owned()),
        "userId": text(number.to_string()), email: text(format!("{number}@example.com")),
    });
    if is_new {
        (item["name"], item["level"]) = (text("Ada Byron".to_owned()), json!({ "N": "1" }));
    } else {
        (item["firstName"], item["lastName"]) = (text("Ada".to_owned()), text("Byron".to_owned()));
    }
    item
}

/// The items that are written together for a customer.
fn customer(number: u32) -> Vec<serde_json::Value> {
    let text = |text: String| json!({ "S": text });
    let marker = text(format!("UNIQUE#Customer#email#{number}@example.com"));
    let copy = json!({
        "PK": text(format!("EMAIL#{number}@example.com")), "SK": text("CUSTOMER".to_owned()), "type": text("CustomerByEmail".to_owned()),
        "userId": text(number.to_string()), "email": text(format!("{number}@example.com")), "name": text("Ada Byron".to_owned()),
    });
    vec![user(number, true), json!({ "PK": marker, "SK": marker }), copy]
}

#[test]
fn while_items_move_a_write_must_follow_the_old_model_or_the_new_one() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", USERS);
    server.model(0, &["seed", &old, "--items", "20"]);
    server.model(0, &["attach", &old, "--enforce", "--reads", "enforce"]);
    let put = |item: &serde_json::Value| json!({ "Put": { "TableName": "Users", "Item": item } });
    let write = |items: &[serde_json::Value]| {
        let actions: Vec<_> = items.iter().map(put).collect();
        server.call("TransactWriteItems", &json!({ "TransactItems": actions }))
    };
    assert_eq!((write(&[user(1, false)]).0, write(&customer(2)).0), (200, 400), "enforced before");
    let both = json!({ "old": USERS, "new": CUSTOMERS }).to_string();
    let attach =
        "PUT /_partita/model?table=Users&mode=enforce&transition=true&reads=enforce&force=true HTTP/1.1\r\n";
    assert_eq!(server.send(attach, &both).0, 200);
    let (_, attached) = server.send("GET /_partita/model?table=Users HTTP/1.1\r\n", "");
    assert_eq!((&attached["mode"], &attached["transition"]), (&json!("enforce"), &json!(true)));
    assert_eq!((write(&[user(3, false)]).0, write(&customer(4)).0), (200, 200), "the old form and the new");
    assert_eq!(write(&[user(5, true)]).0, 400, "without the marker and the copy");
    let mut neither = user(6, false);
    neither["SK"] = json!({ "S": "ELSE" });
    assert_eq!(write(&[neither]).0, 400);
    let mixed = write(&[vec![user(7, false)], customer(8)].concat());
    assert!(mixed.0 == 400 && mixed.1.to_string().contains("not of both"), "{mixed:?}");
    let delete = |key: &serde_json::Value| {
        let key = json!({ "PK": key["PK"], "SK": key["SK"] });
        server.call("DeleteItem", &json!({ "TableName": "Users", "Key": key }))
    };
    assert_eq!(delete(&user(4, true)).0, 400, "the marker and the copy would be left");
    assert_eq!(delete(&user(3, false)).0, 200);
    for (key, code) in [("USER", 200), ("CUSTOMER", 200), ("OTHER", 400)] {
        let key = json!({ "PK": { "S": format!("{key}#1") }, "SK": { "S": key } });
        assert_eq!(server.call("GetItem", &json!({ "TableName": "Users", "Key": key })).0, code, "{key}");
    }
    // The migration's own writes are neither; it finds both models attached, as after an interruption.
    let new = model_file(&folder, "new.toml", CUSTOMERS);
    let text = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(
        text.contains("0 violations") && text.contains("the new model of table Users is enforced"),
        "{text}"
    );
    let (_, attached) = server.send("GET /_partita/model?table=Users HTTP/1.1\r\n", "");
    assert_eq!((&attached["mode"], &attached["transition"]), (&json!("enforce"), &json!(false)));
    assert_eq!((write(&[user(9, false)]).0, write(&customer(9)).0), (400, 200));
    assert_eq!(server.send(attach, "[]").0, 400, "two models are needed");
}

const POSTS: &str = r#"
format = 1
[table]
name = "Blog"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Post]
attributes = { postId = "id", title = "string" }
key = ["POST#{postId}", "POST"]
[entity.Comment]
attributes = { postId = "id", commentId = "id", at = "timestamp", points = "int", state = "OK|SPAM" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
expect = { per = "Post", average = 6, max = 20 }
[pattern]
post = { in = ["postId"], out = ["Post", "Comment*"] }
"#;

/// With aggregates, one of them in an index key and one in a copy.
const COUNTED: &str = r#"
format = 1
[table]
name = "Blog"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Article]
was = "Post"
identity = ["postId"]
attributes = { postId = "id", title = "string", comments = "int" }
key = ["ARTICLE#{postId}", "ARTICLE"]
aggregates = { comments = "count Comment where state == 'OK'", score = "sum Comment.points", newest = "max Comment.at", oldest = "min Comment.at" }
index.GSI1 = { key = ["BOARD", "{comments:06}#{postId}"] }
[entity.ArticleCard]
copies = "Article"
attributes = { postId = "id", title = "string", score = "int?" }
key = ["CARD#{postId}", "CARD"]
[entity.Comment]
attributes = { postId = "id", commentId = "id", at = "timestamp", points = "int", state = "OK|SPAM" }
key = ["ARTICLE#{postId}", "COMMENT#{commentId}"]
[pattern]
post = { in = ["postId"], out = ["Article", "Comment*"] }
board = { out = "Article*", order = "comments desc", limit = 10 }
card = { in = ["postId"], out = "ArticleCard" }
"#;

fn sorted_items(server: &Server, table: &str) -> Vec<String> {
    let (_, page) = server.call("Scan", &json!({ "TableName": table }));
    let mut items: Vec<String> = page["Items"].as_array().unwrap().iter().map(ToString::to_string).collect();
    items.sort();
    items
}

#[test]
fn aggregates_are_counted_corrected_and_removed() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", POSTS), model_file(&folder, "new.toml", COUNTED));
    server.model(0, &["seed", &old, "--items", "140"]);
    let before = sorted_items(&server, "Blog");
    let dry = server.model(0, &["migrate", &old, &new]);
    assert!(dry.contains("20 items get other aggregates"), "{dry}");
    let copied = server.model(0, &["migrate", &old, &new, "--into", "Copied", "--apply"]);
    assert!(copied.contains("20 items of table Copied have other aggregates now"), "{copied}");
    assert!(copied.contains("160 items read, 0 violations") && copied.contains("0 differences"), "{copied}");
    let repeated = server.model(0, &["migrate", &old, &new, "--into", "Copied", "--apply", "--overwrite"]);
    assert!(repeated.contains("140 items are in their new form"), "{repeated}");
    assert!(!repeated.contains("other aggregates"), "{repeated}");
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(applied.contains("160 items read, 0 violations"), "{applied}");
    assert_eq!(sorted_items(&server, "Blog"), sorted_items(&server, "Copied"));
    let board = server.call("Scan", &json!({ "TableName": "Blog", "IndexName": "GSI1" })).1;
    let keyed = |item: &serde_json::Value| {
        let count: u64 = item["comments"]["N"].as_str().unwrap().parse().unwrap();
        item["GSI1SK"]["S"].as_str().unwrap().starts_with(&format!("{count:06}#"))
    };
    assert!(board["Count"] == 20 && board["Items"].as_array().unwrap().iter().all(keyed), "{board}");
    // A wrong one is corrected with the index key and the copy.
    let item = board["Items"][0].as_object().unwrap().clone();
    let mut wrong = item.clone();
    wrong.insert("comments".to_owned(), json!({ "N": "999" }));
    wrong.remove("newest");
    server.call("PutItem", &json!({ "TableName": "Blog", "Item": wrong }));
    assert!(server.model(1, &["audit", &new]).contains("aggregate: 2"));
    let dry = server.model(0, &["migrate", &new, &new]);
    assert!(dry.contains("1 items get other aggregates"), "{dry}");
    assert!(
        dry.contains("         5 write units"),
        "its index key, and then the item and its copy in a transaction: {dry}"
    );
    server.model(0, &["migrate", &new, &new, "--apply"]);
    assert_eq!(sorted_items(&server, "Blog"), sorted_items(&server, "Copied"));
    server.model(0, &["migrate", &new, &old, "--apply", "--delete-removed", "--remove-indexes"]);
    assert_eq!(sorted_items(&server, "Blog"), before);
}

#[test]
fn aggregates_are_not_counted_from_a_stream_without_images() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", POSTS), model_file(&folder, "new.toml", COUNTED));
    server.model(0, &["seed", &old, "--items", "140"]);
    let before = sorted_items(&server, "Blog");
    for view in ["KEYS_ONLY", "OLD_IMAGE", "NEW_IMAGE"] {
        for stream in
            [json!({ "StreamEnabled": true, "StreamViewType": view }), json!({ "StreamEnabled": false })]
        {
            let (status, answer) =
                server.call("UpdateTable", &json!({ "TableName": "Blog", "StreamSpecification": stream }));
            assert_eq!(status, 200, "{answer}");
            if stream["StreamEnabled"] == true {
                let text = server.model(2, &["migrate", &old, &new, "--apply", "--follow"]);
                assert!(text.contains(&format!("the stream of table Blog shows {view}")), "{text}");
                assert!(
                    text.contains("NEW_AND_OLD_IMAGES") && text.contains("Nothing was written"),
                    "{text}"
                );
            }
        }
    }
    assert_eq!(sorted_items(&server, "Blog"), before);
    let (_, table) = server.call("DescribeTable", &json!({ "TableName": "Blog" }));
    assert_eq!(table["Table"]["GlobalSecondaryIndexes"], serde_json::Value::Null);
}

#[test]
fn several_tables_become_one_with_aggregates_and_several_again() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let people = model_file(&folder, "people.toml", PEOPLE);
    let orders = model_file(&folder, "orders.toml", ORDERS);
    let counted = ONE_TABLE.replace(
        "unique = [\"email\"]",
        "unique = [\"email\"]\naggregates = { orders = \"count Order\", spent = \"sum Order.total\" }",
    );
    assert_ne!(counted, ONE_TABLE);
    let shop = model_file(&folder, "shop.toml", &counted);
    server.model(0, &["seed", &people, "--items", "20"]);
    let ids: Vec<serde_json::Value> = server.call("Scan", &json!({ "TableName": "People" })).1["Items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["userId"].clone())
        .collect();
    server.model(0, &["seed", &orders, "--items", "1"]);
    let first = server.call("Scan", &json!({ "TableName": "Orders" })).1["Items"][0].clone();
    server.call("DeleteItem", &json!({ "TableName": "Orders", "Key": { "orderId": first["orderId"] } }));
    for (number, id) in ids.iter().chain(&ids[..5]).enumerate() {
        let mut order = first.clone();
        (order["orderId"], order["userId"]) =
            (json!({ "S": format!("01K6TH9480QZKHFWEAZCG6{number:04}") }), id.clone());
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Orders", "Item": order })).0, 200);
    }
    let (users, placed) = (sorted_items(&server, "People"), sorted_items(&server, "Orders"));
    let text = server.model(0, &["consolidate", &shop, "--from", &people, "--from", &orders, "--apply"]);
    assert!(text.contains("20 items of table Shop have other aggregates now"), "{text}");
    assert!(text.contains("65 items read, 0 violations") && text.contains("0 differences"), "{text}");
    let into = [format!("{people}:People-2"), format!("{orders}:Orders-2")];
    server.model(0, &["split", &shop, "--into", &into[0], &into[1], "--apply"]);
    let without_type = |items: Vec<String>| -> Vec<String> {
        items
            .iter()
            .map(|item| {
                item.replace("\"type\":{\"S\":\"User\"},", "").replace("\"type\":{\"S\":\"Order\"},", "")
            })
            .collect()
    };
    assert_eq!(without_type(sorted_items(&server, "People-2")), users);
    assert_eq!(without_type(sorted_items(&server, "Orders-2")), placed);
}

const VERSIONS: &str = r#"
format = 1
[table]
name = "Docs"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Version]
attributes = { docId = "id", version = "int", title = "string" }
key = ["DOC#{docId}", "V#{version:06}"]
versions = "version"
[pattern]
versions = { in = ["docId"], out = "Version*" }
"#;

const LATEST: &str = r#"
latest = { in = ["docId"], out = "Latest" }
[entity.Latest]
attributes = { docId = "id", version = "int", title = "string" }
key = ["DOC#{docId}", "LATEST"]
copies = "Version"
identity = ["docId"]
"#;

#[test]
fn only_the_newest_version_gets_a_copy() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", VERSIONS);
    let new = model_file(&folder, "new.toml", &format!("{VERSIONS}{LATEST}"));
    server.model(0, &["seed", &old, "--items", "1"]);
    let text = |text: String| json!({ "S": text });
    for version in 1..=12 {
        let item = json!({
            "PK": text("DOC#a".to_owned()), "SK": text(format!("V#{version:06}")), "type": text("Version".to_owned()),
            "docId": text("a".to_owned()), "version": { "N": version.to_string() }, "title": text(format!("title {version}")),
        });
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Docs", "Item": item })).0, 200);
    }
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(applied.contains("items read, 0 violations"), "{applied}");
    let key = json!({ "PK": text("DOC#a".to_owned()), "SK": text("LATEST".to_owned()) });
    let (_, found) = server.call("GetItem", &json!({ "TableName": "Docs", "Key": key }));
    assert_eq!(found["Item"]["title"], text("title 12".to_owned()));
}

/// A graph whose edges get another key.
fn follows(key: &str) -> String {
    format!(
        "format = 1\n[table]\nname = \"Graph\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n[entity.Follow]\n\
         attributes = {{ from = \"id\", to = \"id\", since = \"string?\" }}\nkey = {key}\n\
         [pattern]\nfollows = {{ in = [\"from\", \"to\"], out = \"Follow\" }}\n"
    )
}

/// An edge as the first of the models has it.
fn edge(from: &str, to: &str) -> serde_json::Value {
    let text = |text: &str| json!({ "S": text });
    let (partition, sort) = (text(&format!("N#{from}")), text(&format!("F#{to}")));
    json!({ "PK": partition, "SK": sort, "type": text("Follow"), "from": text(from), "to": text(to) })
}

/// A server with a graph, and the files of its old and its new model, in which edges are turned round.
fn graph(folder: &tempfile::TempDir, edges: &[serde_json::Value]) -> (Server, String, String) {
    let server = Server::start(&[]);
    let old = model_file(folder, "old.toml", &follows("[\"N#{from}\", \"F#{to}\"]"));
    let new = model_file(folder, "new.toml", &follows("[\"N#{to}\", \"F#{from}\"]"));
    server.model(0, &["seed", &old, "--items", "1"]);
    let seeded = server.call("Scan", &json!({ "TableName": "Graph" })).1["Items"][0].clone();
    let key = json!({ "PK": seeded["PK"], "SK": seeded["SK"] });
    server.call("DeleteItem", &json!({ "TableName": "Graph", "Key": key }));
    for edge in edges {
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Graph", "Item": edge })).0, 200);
    }
    (server, old, new)
}

#[test]
fn items_that_exchange_their_keys_move_together_and_those_that_wait_one_after_another() {
    let folder = tempfile::tempdir().unwrap();
    // Two that exchange their keys, one that has its new key already, and one that moves to a free key.
    let edges = [edge("a", "b"), edge("b", "a"), edge("c", "c"), edge("d", "e")];
    let (server, old, new) = graph(&folder, &edges);
    let dry = server.model(0, &["migrate", &old, &new]);
    assert!(dry.contains("         3 items move to another primary key"), "{dry}");
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(applied.contains("         3 items move to another primary key"), "{applied}");
    let turned = |from: &str, to: &str| {
        let mut item = edge(from, to);
        (item["PK"], item["SK"]) = (json!({ "S": format!("N#{to}") }), json!({ "S": format!("F#{from}") }));
        item.to_string()
    };
    let mut expected = vec![turned("a", "b"), turned("b", "a"), turned("c", "c"), turned("d", "e")];
    expected.sort();
    assert_eq!(sorted_items(&server, "Graph"), expected);
    let again = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(again.contains("         4 items are in their new form"), "{again}");
    server.model(0, &["migrate", &new, &old, "--apply"]);
    // A line of twelve: each waits for the next.
    let line = |step: &str| {
        format!(
            "format = 1\n[table]\nname = \"Line\"\nkeys = [\"PK\"]\n[entity.Step]\n\
             attributes = {{ number = \"int\", next = \"int\" }}\nkey = [\"S#{{{step}}}\"]\nunique = [\"{step}\"]\n\
             [pattern]\nstep = {{ in = [\"{step}\"], out = \"Step\" }}\n"
        )
    };
    let (old, new) =
        (model_file(&folder, "line.toml", &line("number")), model_file(&folder, "next.toml", &line("next")));
    server.model(0, &["seed", &old, "--items", "1"]);
    let seeded = server.call("Scan", &json!({ "TableName": "Line" })).1["Items"][0]["PK"].clone();
    server.call("DeleteItem", &json!({ "TableName": "Line", "Key": { "PK": seeded } }));
    for number in 0..12 {
        let numbers = |number: u32| json!({ "N": number.to_string() });
        let item = json!({ "PK": { "S": format!("S#{number}") }, "number": numbers(number), "next": numbers(number + 1) });
        let marker = json!({ "PK": { "S": format!("UNIQUE#Step#number#{number}") } });
        for item in [item, marker] {
            assert_eq!(server.call("PutItem", &json!({ "TableName": "Line", "Item": item })).0, 200);
        }
    }
    let dry = server.model(0, &["migrate", &old, &new]);
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    for figure in
        ["        12 items move", "        12 markers of unique values are", "        96 write units"]
    {
        assert!(dry.contains(figure) && applied.contains(figure), "{dry}\n{applied}");
    }
}

#[test]
fn items_whose_new_form_cannot_be_told_from_the_old_one_are_not_migrated_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let edges = ["a", "b", "c"].map(|from| {
        let mut edge = edge(from, "z");
        edge.as_object_mut().unwrap().retain(|name, _| name != "from" && name != "to");
        edge
    });
    let (server, old, new) = graph(&folder, &edges);
    let before = sorted_items(&server, "Graph");
    for arguments in [&["migrate", &old, &new][..], &["migrate", &old, &new, "--apply"]] {
        let text = server.model(1, arguments);
        let expected =
            "         3 items of Follow in their new form could not be told from those of the old model";
        assert!(text.contains(expected) && text.contains("--into"), "{text}");
        assert_eq!(sorted_items(&server, "Graph"), before);
    }
    let copied = server.model(0, &["migrate", &old, &new, "--into", "Turned", "--apply"]);
    assert!(copied.contains("3 items compared on both sides, 0 differences"), "{copied}");
    server.call("Scan", &json!({ "TableName": "Turned" })).1["Items"]
        .as_array()
        .unwrap()
        .iter()
        .for_each(|item| assert_eq!(item["PK"]["S"], "N#z"));
}

#[test]
fn an_attribute_under_both_names_is_reported_and_neither_value_is_lost() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", USERS), model_file(&folder, "new.toml", CUSTOMERS));
    server.model(0, &["seed", &old, "--items", "3"]);
    let mut both = user(1, false);
    both["email"] = json!({ "S": "stray" });
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Users", "Item": both })).0, 200);
    for arguments in [&["migrate", &old, &new][..], &["migrate", &old, &new, "--apply"]] {
        let text = server.model(1, arguments);
        assert!(text.contains("1 items are left alone: Customer has both userEmail and email"), "{text}");
    }
    assert!(sorted_items(&server, "Users").contains(&both.to_string()));
}

#[test]
fn items_that_a_condition_cannot_compare_are_not_moved_without_the_stream() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (model_file(&folder, "old.toml", USERS), model_file(&folder, "new.toml", CUSTOMERS));
    server.model(0, &["seed", &old, "--items", "3"]);
    let mut large = user(1, false);
    (0..200).for_each(|number| large[format!("a{number}")] = json!({ "S": "x" }));
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Users", "Item": large })).0, 200);
    let text = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(text.contains("1 items are left alone: a condition compares 139 attributes"), "{text}");
    assert!(sorted_items(&server, "Users").contains(&large.to_string()));
    server.model(0, &["migrate", &old, &new, "--into", "Copied", "--apply"]);
}

/// A model of one table with types, and these entities.
fn typed_model(table: &str, entities: &str) -> String {
    format!(
        "format = 1\n[table]\nname = \"{table}\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n{entities}\n\
         [pattern]\nuser = {{ in = [\"userId\"], out = \"User\" }}\n"
    )
}

/// Users with these attributes, and what else their entity declares.
fn user_model(table: &str, attributes: &str, rest: &str) -> String {
    typed_model(
        table,
        &format!("[entity.User]\n{rest}\n[entity.User.attributes]\nuserId = \"id\"\n{attributes}"),
    )
}

const USER_KEY: &str = "key = [\"USER#{userId}\", \"USER\"]";

/// Creates a table with keys PK and SK.
fn create_table(server: &Server, table: &str) {
    let keys = [("PK", "HASH"), ("SK", "RANGE")];
    let request = json!({
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": keys.map(|(name, _)| json!({ "AttributeName": name, "AttributeType": "S" })),
        "KeySchema": keys.map(|(name, kind)| json!({ "AttributeName": name, "KeyType": kind })),
    });
    assert_eq!(server.call("CreateTable", &request).0, 200);
}

/// Puts an item with texts.
fn put(server: &Server, table: &str, texts: &[(&str, &str)]) {
    let item: serde_json::Map<String, serde_json::Value> =
        texts.iter().map(|(name, text)| ((*name).to_owned(), json!({ "S": text }))).collect();
    assert_eq!(server.call("PutItem", &json!({ "TableName": table, "Item": item })).0, 200);
}

/// Puts users 0 to 5 with one more attribute, of which user 3 has another value.
fn put_users(server: &Server, table: &str, name: &str, special: &str) {
    for number in 0..6 {
        let (key, id, value) = (format!("USER#{number}"), number.to_string(), format!("v{number}"));
        let value = if number == 3 { special } else { &value };
        let texts = [("PK", &*key), ("SK", "USER"), ("type", "User"), ("userId", &id), (name, value)];
        put(server, table, &texts);
    }
}

/// Migrates from one model to another: the dry run and the migration name user 3 for the same reason, and migrate the others.
fn leaves_user_3(server: &Server, old: &str, new: &str, reason: &str) {
    let text = format!("         1 items are left alone: {reason}");
    for more in [&[][..], &["--apply"]] {
        let arguments = [&["migrate", old, new][..], more].concat();
        let printed = server.model(1, &arguments);
        assert!(printed.contains(&text) && printed.contains("           USER#3 / USER"), "{printed}");
    }
    let again = server.model(1, &["migrate", old, new]);
    assert!(again.contains("         5 items are in their new form"), "{again}");
}

#[test]
fn what_the_database_cannot_store_is_named_and_the_others_are_migrated() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let long = |bytes: usize| "x".repeat(bytes);
    let index = "[index.GSI1]\nkeys = [\"GSI1PK\"]\n";
    let copies: String = (0..12)
        .map(|number| {
            format!(
                "[entity.C{number}]\nattributes = {{ userId = \"id\", v = \"string\" }}\ncopies = \"User\"\nkey = [\"C{number}#{{userId}}\", \"C\"]\n"
            )
        })
        .collect();
    let plain = |table: &str| user_model(table, "v = \"string\"", USER_KEY);
    let cases = [
        (
            "Size",
            409_560,
            user_model(
                "Size",
                "v = \"string\"\nw = { type = \"string\", default = \"a long text\" }",
                USER_KEY,
            ),
            "User in its new form is larger than 400 KB",
        ),
        (
            "Empty",
            0,
            format!(
                "{}{index}",
                user_model(
                    "Empty",
                    "v = \"string\"",
                    &format!("{USER_KEY}\nindex.GSI1 = {{ key = [\"{{v}}\"] }}")
                )
            ),
            "the v of User does not fit {v}",
        ),
        (
            "Long",
            1_100,
            user_model("Long", "v = \"string\"", "key = [\"USER#{userId}\", \"{v}\"]"),
            "User in its new form has a SK, a key of the table, that is longer than 1024 bytes",
        ),
        (
            "Unique",
            1_100,
            user_model("Unique", "v = \"string\"", &format!("{USER_KEY}\nunique = [\"v\"]")),
            "the marker of a unique value of User has a SK",
        ),
        (
            "Transaction",
            390_000,
            format!("{}{copies}", plain("Transaction")),
            "with what is written beside them they exceed a transaction",
        ),
    ];
    for (table, bytes, new, reason) in cases {
        create_table(&server, table);
        put_users(&server, table, "v", &long(bytes));
        let old = model_file(&folder, "old.toml", &plain(table));
        let new = model_file(&folder, "new.toml", &new);
        leaves_user_3(&server, &old, &new, reason);
    }
}

#[test]
fn attributes_in_the_way_of_keys_are_named_and_stay() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", &user_model("Users", "v = \"string\"", USER_KEY));
    let index = "[index.GSI1]\nkeys = [\"owner\"]\n";
    let key = format!("{USER_KEY}\nindex.GSI1 = {{ key = [\"OWNER#{{v}}\"] }}");
    let new =
        model_file(&folder, "new.toml", &format!("{}{index}", user_model("Users", "v = \"string\"", &key)));
    create_table(&server, "Users");
    put_users(&server, "Users", "v", "v3");
    let own =
        [("PK", "USER#3"), ("SK", "USER"), ("type", "User"), ("userId", "3"), ("v", "v3"), ("owner", "Ann")];
    put(&server, "Users", &own);
    leaves_user_3(&server, &old, &new, "User has an attribute owner of its own");
    let found = sorted_items(&server, "Users");
    assert!(found.iter().any(|item| item.contains("\"Ann\"")), "{found:?}");
}

const CARDS: &str =
    "[entity.Card]\nattributes = { userId = \"id\", name = \"string\", colour = \"string?\" }\n";

#[test]
fn items_that_become_copies_are_all_accounted_for() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let users = user_model("Cards", "name = \"string\"", USER_KEY);
    let old =
        model_file(&folder, "old.toml", &format!("{users}{CARDS}key = [\"CARD#{{userId}}\", \"CARD\"]\n"));
    let new = model_file(
        &folder,
        "new.toml",
        &format!("{users}{CARDS}key = [\"CARD2#{{userId}}\", \"CARD\"]\ncopies = \"User\"\n"),
    );
    create_table(&server, "Cards");
    for id in ["1", "3"] {
        let texts = [
            ("PK", &*format!("USER#{id}")),
            ("SK", "USER"),
            ("type", "User"),
            ("userId", id),
            ("name", "Ann"),
        ];
        put(&server, "Cards", &texts);
    }
    for (id, name) in [("1", "Annie"), ("2", "Bea"), ("3", "Ann")] {
        let key = format!("CARD#{id}");
        let texts = [
            ("PK", &*key),
            ("SK", "CARD"),
            ("type", "Card"),
            ("userId", id),
            ("name", name),
            ("colour", "red"),
        ];
        put(&server, "Cards", &texts);
    }
    for more in [&[][..], &["--into", "Cards2"], &["--into", "Cards2", "--apply"], &["--apply"]] {
        let printed = server.model(1, &[&["migrate", &old, &new][..], more].concat());
        assert!(
            printed.contains(
                "Card becomes a copy, and its name is not that of its original\n           CARD#1 / CARD"
            ),
            "{printed}"
        );
        assert!(printed.contains("they are left alone:\n           CARD#2 / CARD"), "{printed}");
        assert!(!printed.contains("can be deleted"), "{printed}");
    }
    assert_eq!(count(&server, "Cards2"), 3, "two users and the card that is equal to its original");
    let found = sorted_items(&server, "Cards").join("\n");
    for text in ["Annie", "Bea", "CARD2#3"] {
        assert!(found.contains(text), "{found}");
    }
}

#[test]
fn what_belongs_to_an_item_that_is_left_alone_stays_and_markers_keep_their_attributes() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        format!(
            "[entity.ByMail]\nattributes = {{ userId = \"id\", {name} = \"string\" }}\ncopies = \"User\"\nkey = [\"MAIL#{{{name}}}\", \"MAIL\"]\n"
        )
    };
    let unique = |key: &str, name: &str| format!("{key}\nunique = [\"{name}\"]");
    let old = user_model("Users", "mail = \"string\"", &unique(USER_KEY, "mail")) + &copy("mail");
    let new = user_model(
        "Users",
        "email = { type = \"string\", was = \"mail\" }",
        &unique("key = [\"USER2#{userId}\", \"USER\"]", "email"),
    ) + &copy("email");
    let (old, new) = (model_file(&folder, "old.toml", &old), model_file(&folder, "new.toml", &new));
    create_table(&server, "Users");
    for id in ["1", "2"] {
        let mail = format!("{id}@x");
        let (key, marker) = (format!("USER#{id}"), format!("UNIQUE#User#mail#{mail}"));
        let texts = [("PK", &*key), ("SK", "USER"), ("type", "User"), ("userId", id), ("mail", &mail)];
        let other = ("email", "other@x");
        let mut texts = texts.to_vec();
        texts.extend((id == "2").then_some(other));
        put(&server, "Users", &texts);
        put(&server, "Users", &[("PK", &marker), ("SK", &marker), ("note", id)]);
        let copy = format!("MAIL#{mail}");
        put(
            &server,
            "Users",
            &[
                ("PK", &copy),
                ("SK", "MAIL"),
                ("type", "ByMail"),
                ("userId", id),
                ("mail", &mail),
                ("hits", id),
            ],
        );
    }
    let printed = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(printed.contains("User has both mail and email"), "{printed}");
    let found = sorted_items(&server, "Users").join("\n");
    assert_eq!(count(&server, "Users"), 6, "{found}");
    for text in [
        "\"UNIQUE#User#mail#2@x\"",
        "\"MAIL#2@x\"",
        "\"UNIQUE#User#email#1@x\"",
        "\"note\":{\"S\":\"1\"}",
        "\"hits\":{\"S\":\"1\"}",
    ] {
        assert!(found.contains(text), "{text}: {found}");
    }
}

#[test]
fn copies_that_the_new_model_does_not_have_are_removed_and_not_copied() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let users = user_model("Users", "mail = \"string\"", USER_KEY);
    let copy = "[entity.ByMail]\nattributes = { userId = \"id\", mail = \"string\" }\ncopies = \"User\"\nkey = [\"MAIL#{userId}\", \"MAIL\"]\n";
    let old = model_file(&folder, "old.toml", &format!("{users}{copy}"));
    let new = model_file(&folder, "new.toml", &users);
    server.model(0, &["seed", &new, "--items", "5"]);
    server.model(0, &["migrate", &new, &old, "--apply"]);
    assert_eq!(count(&server, "Users"), 10);
    let copied = server.model(0, &["migrate", &old, &new, "--into", "Users2", "--apply"]);
    assert!(copied.contains("table Users2 has all items"), "{copied}");
    server.model(0, &["migrate", &old, &new, "--apply"]);
    assert_eq!((count(&server, "Users"), count(&server, "Users2")), (5, 5));
}

#[test]
fn a_new_model_of_another_table_and_a_foreign_attached_model_are_refused() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let text = |table: &str, rest: &str| user_model(table, "v = \"string\"", &format!("{USER_KEY}{rest}"));
    let old = model_file(&folder, "old.toml", &text("Users", ""));
    server.model(0, &["seed", &old, "--items", "3"]);
    let other = model_file(&folder, "other.toml", &text("Customers", ""));
    let refused = server.model(2, &["migrate", &old, &other, "--apply"]);
    assert!(
        refused.contains("`--into Customers` copies the items, `--table Users` migrates them"),
        "{refused}"
    );
    server.model(0, &["migrate", &old, &other, "--table", "Users"]);
    let level = "v = \"string\"\nlevel = { type = \"int\", default = 1 }";
    let new = model_file(&folder, "new.toml", &user_model("Users", level, USER_KEY));
    let strict = model_file(&folder, "strict.toml", &text("Users", "\nunique = [\"v\"]"));
    server.model(0, &["attach", &strict]);
    let refused = server.model(2, &["migrate", &old, &new, "--apply"]);
    assert!(refused.contains("attached to table Users is neither the old one nor the new one"), "{refused}");
    let same = model_file(&folder, "same.toml", &format!("# The same.\n{}", text("Users", "")));
    server.model(0, &["attach", &same, "--force"]);
    server.model(0, &["migrate", &old, &new, "--apply"]);
    server.model(0, &["migrate", &old, &new, "--apply"]);
}

#[test]
fn items_expire_in_a_new_table_as_the_model_says() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str, attribute: &str| {
        user_model("Users", attribute, &format!("{USER_KEY}\nttl = \"{name}\""))
    };
    let old = model_file(&folder, "old.toml", &text("expires", "expires = \"int\""));
    let new =
        model_file(&folder, "new.toml", &text("until", "until = { type = \"int\", was = \"expires\" }"));
    server.model(0, &["seed", &old, "--items", "3"]);
    server.model(0, &["migrate", &old, &new, "--into", "Users2", "--apply"]);
    let expiry = server.call("DescribeTimeToLive", &json!({ "TableName": "Users2" })).1;
    assert_eq!(expiry["TimeToLiveDescription"]["AttributeName"], "until", "{expiry}");
    let printed = server.model(0, &["migrate", &old, &new]);
    assert!(printed.contains("items of table Users expire by expires, in the model by until"), "{printed}");
}

#[test]
fn an_item_of_the_application_with_the_key_of_a_copy_is_named_and_stays() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let users = user_model("Users", "name = \"string\"", USER_KEY);
    let copy = "[entity.ByName]\nattributes = { userId = \"id\", name = \"string\" }\ncopies = \"User\"\nkey = [\"NAME#{name}\", \"{userId}\"]\n";
    let old = model_file(&folder, "old.toml", &users);
    let new = model_file(&folder, "new.toml", &format!("{users}{copy}"));
    create_table(&server, "Users");
    let user =
        [("PK", "USER#1"), ("SK", "USER"), ("type", "User"), ("userId", "1"), ("name", "Ann")].as_slice();
    let own = [("PK", "NAME#order"), ("SK", "7"), ("note", "the application writes this one")].as_slice();
    put(&server, "Users", user);
    put(&server, "Users", own);
    let before = sorted_items(&server, "Users");
    for (from, to, expected) in [(&old, &new, 3), (&new, &old, 2)] {
        for more in [&[][..], &["--apply"]] {
            let printed = server.model(1, &[&["migrate", from, to][..], more].concat());
            assert!(printed.contains("           NAME#order / 7"), "{printed}");
        }
        assert_eq!(count(&server, "Users"), expected);
    }
    assert_eq!(sorted_items(&server, "Users"), before);
    // One that has the key of a copy that will be there forbids the migration.
    put(&server, "Users", &[("PK", "NAME#Ann"), ("SK", "1"), ("note", "mine")]);
    let printed = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(printed.contains("NAME#Ann / 1, which stays"), "{printed}");
    assert_eq!(count(&server, "Users"), 3);
}

/// Users with a version, whose key starts so.
fn versioned_users(start: &str) -> String {
    let key = format!("key = [\"{start}#{{userId}}\", \"USER\"]\nlock = \"version\"");
    user_model("Users", "name = \"string\"\nversion = \"int\"", &key)
}

fn put_version(server: &Server, start: &str, id: &str, name: &str, version: u32) {
    let text = |text: &str| json!({ "S": text });
    let item = json!({
        "PK": text(&format!("{start}#{id}")), "SK": text("USER"), "type": text("User"), "userId": text(id), "name": text(name),
        "version": { "N": version.to_string() },
    });
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Users", "Item": item })).0, 200);
}

#[test]
fn of_two_forms_of_an_item_the_newer_stays_and_the_others_are_migrated() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (
        model_file(&folder, "old.toml", &versioned_users("USER")),
        model_file(&folder, "new.toml", &versioned_users("U")),
    );
    create_table(&server, "Users");
    for (id, before, after) in [("1", 2, 1), ("2", 1, 2), ("3", 1, 1), ("4", 1, 1)] {
        let name = |form: &str| if id == "4" { "same".to_owned() } else { format!("{form} {id}") };
        put_version(&server, "USER", id, &name("old"), before);
        put_version(&server, "U", id, &name("new"), after);
    }
    put_version(&server, "USER", "5", "only 5", 1);
    let dry = server.model(1, &["migrate", &old, &new]);
    for text in ["         4 items move", "         1 items are left alone: they are there in both forms"] {
        assert!(dry.contains(text), "{dry}");
    }
    let applied = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(applied.contains("U#3 / USER is the new form of USER#3 / USER"), "{applied}");
    let found = sorted_items(&server, "Users").join("\n");
    for (text, is_there) in [
        ("old 1", true),
        ("new 1", false),
        ("old 2", false),
        ("new 2", true),
        ("old 3", true),
        ("new 3", true),
    ] {
        assert_eq!(found.contains(text), is_there, "{text}: {found}");
    }
    assert_eq!(count(&server, "Users"), 6, "{found}");
    let key = json!({ "PK": { "S": "USER#3" }, "SK": { "S": "USER" } });
    server.call("DeleteItem", &json!({ "TableName": "Users", "Key": key }));
    server.model(0, &["migrate", &old, &new, "--apply"]);
}

/// Puts a user of a team under this key.
fn put_member(server: &Server, (partition, sort): (&str, &str), id: &str, team: &str) {
    put(
        server,
        "Users",
        &[("PK", partition), ("SK", sort), ("type", "User"), ("userId", id), ("team", team)],
    );
}

#[test]
fn an_item_in_the_old_form_is_not_added_to_its_new_form_under_another_key() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let members = |key: &str| user_model("Users", "team = \"id\"", key);
    let (old, new) = (
        model_file(&folder, "old.toml", &members(USER_KEY)),
        model_file(&folder, "new.toml", &members("key = [\"TEAM#{team}\", \"USER#{userId}\"]")),
    );
    create_table(&server, "Users");
    ["1", "2"].iter().for_each(|id| put_member(&server, (&format!("USER#{id}"), "USER"), id, "red"));
    server.model(0, &["migrate", &old, &new, "--apply"]);
    put_member(&server, ("USER#1", "USER"), "1", "blue");
    put_member(&server, ("USER#2", "USER"), "2", "red");
    let pair = "         1 items are left alone: they are there in both forms";
    for more in [&[][..], &["--apply"]] {
        let printed = server.model(1, &[&["migrate", &old, &new][..], more].concat());
        assert!(printed.contains(pair), "{printed}");
        assert!(printed.contains("TEAM#red / USER#1 is the new form of USER#1 / USER"), "{printed}");
    }
    let found = sorted_items(&server, "Users");
    assert_eq!(found.len(), 3, "{found:?}");
    delete(&server, "Users", "TEAM#red", "USER#1");
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    assert!(applied.contains("verified"), "{applied}");
    let found = sorted_items(&server, "Users");
    assert!(found.len() == 2 && found[0].contains("TEAM#blue"), "{found:?}");
}

#[test]
fn several_new_forms_of_an_item_are_not_verified_unless_their_identity_tells_them_apart() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let members = |rest: &str| user_model("Users", "team = \"id\"", rest);
    let key = "key = [\"TEAM#{team}\", \"USER#{userId}\"]";
    let old = model_file(&folder, "old.toml", &members(USER_KEY));
    let new = model_file(&folder, "new.toml", &members(key));
    create_table(&server, "Users");
    for team in ["red", "blue"] {
        put_member(&server, (&format!("TEAM#{team}"), "USER#1"), "1", team);
    }
    for more in [&[][..], &["--apply"]] {
        let printed = server.model(1, &[&["migrate", &old, &new][..], more].concat());
        assert!(printed.contains("         1 items are there several times in their new form"), "{printed}");
        assert!(printed.contains("TEAM#blue / USER#1 and TEAM#red / USER#1"), "{printed}");
        assert!(!printed.contains("\nverified"), "{printed}");
    }
    let memberships = members(&format!("{key}\nidentity = [\"userId\", \"team\"]"));
    let new = model_file(&folder, "memberships.toml", &memberships);
    server.model(0, &["migrate", &old, &new, "--apply"]);
}

#[test]
fn puts_before_and_after_an_item_moves_end_in_its_new_form() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (
        model_file(&folder, "old.toml", &versioned_users("USER").replace("\nlock = \"version\"", "")),
        model_file(&folder, "new.toml", &versioned_users("U").replace("\nlock = \"version\"", "")),
    );
    create_table(&server, "Users");
    let put = |number: u32, version: u32| {
        put_version(&server, "USER", &number.to_string(), &format!("version {version}"), version);
    };
    (0..400).for_each(|number| put(number, 0));
    let mut following = Following::start(&server, &["migrate", &old, &new]);
    let caught_up = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut version = 0;
            while version < 60 || !caught_up.load(std::sync::atomic::Ordering::Acquire) {
                version += 1;
                (0..10).for_each(|number| put(number, version));
                std::thread::sleep(std::time::Duration::from_millis(30));
            }
            version
        });
        following.wait_until_caught_up();
        caught_up.store(true, std::sync::atomic::Ordering::Release);
        let last = writing.join().unwrap();
        let (code, printed) = following.stop();
        assert_eq!(code, Some(0), "{printed}");
        let found = sorted_items(&server, "Users");
        assert_eq!(found.len(), 400, "{printed}");
        let newest = found.iter().filter(|item| item.contains(&format!("\"version {last}\""))).count();
        assert_eq!(newest, 10, "{printed}");
        assert!(found.iter().all(|item| item.contains("\"U#")), "{printed}");
    });
}

#[test]
fn items_that_have_moved_are_not_counted_again_where_they_are_met() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let users = |key: &str| user_model("Users", "v = \"string\"", key);
    let old = model_file(&folder, "old.toml", &users(USER_KEY));
    let new = model_file(&folder, "new.toml", &users("key = [\"U#{userId}\", \"USER\"]"));
    create_table(&server, "Users");
    let value = "x".repeat(200_000);
    for number in 0..30 {
        let (key, id) = (format!("USER#{number}"), number.to_string());
        let texts = [("PK", &*key), ("SK", "USER"), ("type", "User"), ("userId", &id), ("v", &value)];
        put(&server, "Users", &texts);
    }
    let applied = server.model(0, &["migrate", &old, &new, "--apply"]);
    for text in ["         0 items are in their new form", "        30 items move"] {
        assert!(applied.contains(text), "{applied}");
    }
}

#[test]
fn a_copy_that_will_break_a_rule_is_named_in_the_dry_run() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let users = user_model("Users", "name = \"string\"\nlevel = \"string?\"", USER_KEY);
    let copy = "[entity.ByName]\nattributes = { userId = \"id\", name = \"string\", level = \"string\" }\ncopies = \"User\"\nkey = [\"NAME#{name}\", \"{userId}\"]\n";
    let old = model_file(&folder, "old.toml", &users);
    let new = model_file(&folder, "new.toml", &format!("{users}{copy}"));
    create_table(&server, "Users");
    let level = |number: u32| (number == 1).then_some(("level", "high"));
    for number in 1..3 {
        let (key, id) = (format!("USER#{number}"), number.to_string());
        let mut texts =
            vec![("PK", &*key), ("SK", "USER"), ("type", "User"), ("userId", &id), ("name", "Ann")];
        texts.extend(level(number));
        put(&server, "Users", &texts);
    }
    let dry = server.model(1, &["migrate", &old, &new]);
    assert!(dry.contains("         1 items will break a rule of the new model"), "{dry}");
    assert!(dry.contains("NAME#Ann / 2"), "{dry}");
    let key = json!({ "PK": { "S": "USER#2" }, "SK": { "S": "USER" } });
    server.call("DeleteItem", &json!({ "TableName": "Users", "Key": key }));
    server.model(0, &["migrate", &old, &new]);
    server.model(0, &["migrate", &old, &new, "--apply"]);
}

/// Users with unique names, and copies by their names.
fn named_users(table: &str, start: &str, rest: &str) -> String {
    let key = format!("key = [\"{start}{{userId}}\", \"USER\"]\nunique = [\"name\"]");
    let copy = format!(
        "[entity.ByName]\nattributes = {{ userId = \"id\", name = \"string\" }}\ncopies = \"User\"\nkey = [\"{start}NAME#{{name}}\", \"{{userId}}\"]\n"
    );
    user_model(table, "name = \"string\"", &key) + &copy + rest
}

/// Puts a user with the marker of its name and its copy.
fn put_named_user(server: &Server, table: &str, id: &str, copy: &[(&str, &str)], marker: &[(&str, &str)]) {
    let (key, by_name) = (format!("USER#{id}"), format!("USER#NAME#{id}"));
    let unique = format!("UNIQUE#User#name#{id}");
    let values = [("userId", id), ("name", id)];
    put(server, table, &[&[("PK", &*key), ("SK", "USER"), ("type", "User")], &values[..]].concat());
    put(server, table, &[&[("PK", &*by_name), ("SK", id), ("type", "ByName")], &values[..], copy].concat());
    put(server, table, &[&[("PK", &*unique), ("SK", &*unique)], marker].concat());
}

fn delete(server: &Server, table: &str, partition: &str, sort: &str) {
    let key = json!({ "PK": { "S": partition }, "SK": { "S": sort } });
    assert_eq!(server.call("DeleteItem", &json!({ "TableName": table, "Key": key })).0, 200);
}

#[test]
fn what_only_a_copy_has_is_named_and_stays() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", &named_users("Users", "USER#", ""));
    let new =
        named_users("Users", "CUST#", "").replace("type_attribute = \"type\"", "type_attribute = \"kind\"");
    let new = model_file(&folder, "new.toml", &new);
    create_table(&server, "Users");
    put_named_user(&server, "Users", "whole", &[("hits", "9")], &[]);
    put_named_user(&server, "Users", "kind", &[("kind", "mine")], &[]);
    for (id, own) in [("orphan", &[("own", "X")][..]), ("idle", &[])] {
        put_named_user(&server, "Users", id, own, &[]);
        delete(&server, "Users", &format!("USER#{id}"), "USER");
        delete(&server, "Users", &format!("UNIQUE#User#name#{id}"), &format!("UNIQUE#User#name#{id}"));
    }
    for more in [&[][..], &["--into", "Users2", "--apply"], &["--apply"]] {
        let printed = server.model(1, &[&["migrate", &old, &new][..], more].concat());
        assert!(
            printed.contains("they are left alone:\n           USER#NAME#orphan / orphan\n"),
            "{printed}"
        );
        assert!(printed.contains("ByName has an attribute kind of its own"), "{printed}");
        assert!(printed.contains("           USER#NAME#kind / kind"), "{printed}");
        assert!(!printed.contains("can be deleted"), "{printed}");
    }
    let found = sorted_items(&server, "Users").join("\n");
    for text in ["\"mine\"", "\"own\":{\"S\":\"X\"}", "\"hits\":{\"S\":\"9\"}"] {
        assert!(found.contains(text), "{text}: {found}");
    }
    assert!(!found.contains("idle"), "a copy without a value of its own is removed: {found}");
}

#[test]
fn items_that_the_old_model_does_not_describe_are_not_copied_as_others() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(
        &folder,
        "old.toml",
        &user_model("Users", "email = \"string\"\nname = \"string\"", USER_KEY),
    );
    let new = model_file(&folder, "new.toml", PEOPLE);
    server.model(0, &["seed", &old, "--items", "3"]);
    let invoice = [("PK", "INVOICE#77"), ("SK", "INVOICE"), ("type", "Invoice"), ("userId", "ghost")];
    put(&server, "Users", &[&invoice[..], &[("email", "g@x"), ("name", "n")]].concat());
    let into = format!("{new}:People2");
    for (target, arguments) in [
        ("People", &["migrate", &old, &new, "--into", "People"][..]),
        ("People2", &["split", &old, "--into", &into]),
    ] {
        for more in [&[][..], &["--apply"]] {
            let printed = server.model(1, &[arguments, more].concat());
            assert!(printed.contains("           INVOICE#77 / INVOICE\n"), "{printed}");
            assert!(!printed.contains("can be deleted"), "{printed}");
        }
        assert_eq!(count(&server, target), 3);
    }
}

#[test]
fn an_item_that_contradicts_itself_keeps_its_marker_and_its_copies() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", &named_users("Users", "USER#", ""));
    let new = model_file(&folder, "new.toml", &named_users("Users", "CUST#", ""));
    create_table(&server, "Users");
    put_named_user(&server, "Users", "1", &[], &[]);
    put_named_user(&server, "Users", "2", &[], &[]);
    let texts = [("PK", "USER#2"), ("SK", "USER"), ("type", "User"), ("userId", "other"), ("name", "2")];
    put(&server, "Users", &texts);
    let printed = server.model(1, &["migrate", &old, &new, "--apply"]);
    assert!(
        printed.contains("its attributes disagree: correct one of them\n           USER#2 / USER"),
        "{printed}"
    );
    let found = sorted_items(&server, "Users").join("\n");
    for text in ["\"USER#2\"", "\"USER#NAME#2\"", "\"UNIQUE#User#name#2\"", "\"CUST#NAME#1\""] {
        assert!(found.contains(text), "{text}: {found}");
    }
    assert_eq!(count(&server, "Users"), 6, "{found}");
}

#[test]
fn markers_and_copies_that_would_be_in_a_new_index_are_named_in_the_dry_run() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", &named_users("Users", "USER#", ""));
    let index = "[index.GSI1]\nkeys = [\"owner\"]\n[entity.Team]\nattributes = { teamId = \"id\" }\nkey = [\"TEAM#{teamId}\", \"TEAM\"]\n\
                 index.GSI1 = { key = [\"T#{teamId}\"] }\n";
    let renamed = |text: String| {
        text.replace("entity.User", "entity.Client")
            .replace("copies = \"User\"", "copies = \"Client\"")
            .replace("[entity.Client]", "[entity.Client]\nwas = \"User\"")
    };
    let same = model_file(&folder, "same.toml", &named_users("Users", "USER#", index));
    let moved = renamed(named_users("Users", "CUST#", index)).replace("out = \"User\"", "out = \"Client\"");
    let moved = model_file(&folder, "moved.toml", &moved);
    create_table(&server, "Users");
    put_named_user(&server, "Users", "good", &[("note", "n")], &[("note", "n")]);
    put_named_user(&server, "Users", "copy", &[("owner", "mine")], &[]);
    put_named_user(&server, "Users", "marker", &[], &[("owner", "mine")]);
    for new in [&same, &moved] {
        for more in [&[][..], &["--into", "Users2"], &["--apply"]] {
            let printed = server.model(1, &[&["migrate", &old, new][..], more].concat());
            for (holder, key) in [("a marker", "UNIQUE#User#name#marker"), ("ByName", "USER#NAME#copy")] {
                let text = format!("{holder} has an attribute owner of its own");
                assert!(
                    printed.contains(&text) && printed.contains(&format!("           {key} / ")),
                    "{printed}"
                );
            }
        }
    }
    let found = sorted_items(&server, "Users").join("\n");
    assert_eq!(found.matches("\"mine\"").count(), 2, "{found}");
    assert_eq!(found.matches("\"note\"").count(), 2, "{found}");
}

#[test]
fn an_item_that_breaks_a_rule_is_named_although_it_also_lacks_what_is_new() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let old = model_file(&folder, "old.toml", &user_model("Users", "v = \"string\"", USER_KEY));
    let computed = "v = \"string\"\nlabel = { type = \"string\", computed = \"{v}!\" }";
    let new = model_file(&folder, "new.toml", &user_model("Users", computed, USER_KEY));
    create_table(&server, "Users");
    put_users(&server, "Users", "v", "v3");
    put(&server, "Users", &[("PK", "USER#7"), ("SK", "USER"), ("type", "User"), ("userId", "7")]);
    let dry = server.model(1, &["migrate", &old, &new]);
    assert!(dry.contains("         1 items have no User.label"), "{dry}");
    assert!(dry.contains("         1 items will break a rule of the new model:\n"), "{dry}");
    assert!(dry.contains("User USER#7 / USER: v is missing"), "{dry}");
}

#[test]
fn markers_that_expire_go_and_come_with_the_rule_that_needs_them() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let sessions = |name: &str, ttl: &str, unique: &str| {
        let text = format!(
            "format = 1\n[table]\nname = \"Sess\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
             [entity.Session]\nattributes = {{ sessionId = \"ulid\", token = \"string\", {ttl} }}\n\
             key = [\"SESSION#{{sessionId}}\", \"SESSION\"]\n{unique}\n\
             [pattern]\nsession = {{ in = [\"sessionId\"], out = \"Session\", rps = 1 }}\n"
        );
        model_file(&folder, name, &text)
    };
    let (expires, unique) = ("expires = { type = \"int\", min = 1 }", "unique = [\"token\"]");
    let old = sessions("old.toml", expires, &format!("ttl = \"expires\"\n{unique}"));
    let plain = sessions("plain.toml", expires, "ttl = \"expires\"");
    let renamed = sessions(
        "renamed.toml",
        "until = { type = \"int\", min = 1, was = \"expires\" }",
        &format!("ttl = \"until\"\n{unique}"),
    );
    server.model(0, &["seed", &old, "--items", "10"]);
    let dry = server.model(0, &["migrate", &old, &renamed]);
    assert!(
        dry.contains(
            "        10 markers of unique values get the expiry of their items, or their other attributes\n"
        ),
        "{dry}"
    );
    for (from, to, items) in [(&old, &plain, 10), (&plain, &old, 20), (&old, &renamed, 20)] {
        server.model(0, &["migrate", from, to, "--apply"]);
        assert_eq!(count(&server, "Sess"), items, "{to}");
    }
    let (_, answer) = server.call("Scan", &json!({ "TableName": "Sess" }));
    let items = answer["Items"].as_array().unwrap();
    assert!(
        items.iter().all(|item| item.get("until").is_some() && item.get("expires").is_none()),
        "{items:?}"
    );
}

#[test]
fn an_enforced_application_writes_in_the_old_form_what_has_its_new_form_under_the_same_key() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let text = |user: &str, team: &str, job: &str, mail: &str| {
        let was = |name: &str, before: &str| {
            if name == before { String::new() } else { format!("was = \"{before}\"\n") }
        };
        let renamed = if mail == "mail" { "\"string\"" } else { "{ type = \"string\", was = \"mail\" }" };
        format!(
            "format = 1\n[table]\nname = \"Users\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n[entity.{user}]\n{}attributes = {{ id = \"id\", {mail} = {renamed} }}\nkey = [\"U#{{id}}\", \"U\"]\nunique = [\"{mail}\"]\n\
             [entity.{team}]\n{}copies = \"{user}\"\nattributes = {{ id = \"id\", {mail} = {renamed} }}\nkey = [\"C#{{id}}\", \"C\"]\n\
             [entity.{job}]\n{}attributes = {{ id = \"id\", job = \"id\", state = \"string\" }}\nkey = [\"U#{{id}}\", \"J#{{job}}\"]\n",
            was(user, "User"),
            was(team, "UserCopy"),
            was(job, "Job"),
        )
    };
    let old = model_file(&folder, "old.toml", &text("User", "UserCopy", "Job", "mail"));
    let new = model_file(&folder, "new.toml", &text("Person", "PersonCopy", "Task", "email"));
    create_table(&server, "Users");
    let user = |kind: &str, key: &str, mail: &str| json!({ "PK": { "S": format!("{key}#1") }, "SK": { "S": key }, "type": { "S": kind }, "id": { "S": "1" }, "mail": { "S": mail } });
    let marker = |mail: &str| {
        let key = format!("UNIQUE#User#mail#{mail}");
        json!({ "PK": { "S": key }, "SK": { "S": key } })
    };
    let job = |state: &str| json!({ "PK": { "S": "U#1" }, "SK": { "S": "J#1" }, "type": { "S": "Job" }, "id": { "S": "1" }, "job": { "S": "1" }, "state": { "S": state } });
    let put = |item: serde_json::Value| json!({ "Put": { "TableName": "Users", "Item": item } });
    let transact = |actions: Vec<serde_json::Value>| {
        let (code, answer) = server.call("TransactWriteItems", &json!({ "TransactItems": actions }));
        assert_eq!(code, 200, "{answer}");
    };
    server.model(0, &["attach", &old, "--enforce"]);
    transact(vec![
        put(user("User", "U", "a")),
        put(user("UserCopy", "C", "a")),
        put(marker("a")),
        put(job("NEW")),
    ]);
    let mut following = Following::start(&server, &["migrate", &old, &new]);
    following.wait_until_caught_up();
    assert!(sorted_items(&server, "Users").join(" ").contains("PersonCopy"));
    transact(vec![
        put(user("User", "U", "b")),
        put(user("UserCopy", "C", "b")),
        json!({ "Delete": { "TableName": "Users", "Key": marker("a"), "ConditionExpression": "attribute_exists(PK)" } }),
        put(marker("b")),
    ]);
    for (state, operation) in [("RUNS", "PutItem"), ("DONE", "ExecuteStatement")] {
        let request = match operation {
            "PutItem" => json!({ "TableName": "Users", "Item": job(state) }),
            _ => {
                json!({ "Statement": format!("UPDATE \"Users\" SET state = '{state}' WHERE PK = 'U#1' AND SK = 'J#1'") })
            }
        };
        let (code, answer) = server.call(operation, &request);
        assert_eq!(code, 200, "{answer}");
    }
    let (code, printed) = following.stop();
    assert_eq!(code, Some(0), "{printed}");
    let found = sorted_items(&server, "Users");
    assert_eq!(found.len(), 4, "{found:?}");
    let text = found.join(" ");
    for part in ["Person", "PersonCopy", "\"Task\"", "UNIQUE#Person#email#b", "DONE"] {
        assert!(text.contains(part), "{part}: {found:?}");
    }
    assert!(!text.contains("\"mail\"") && !text.contains("\"a\""), "{found:?}");
}
