//! Mistakes of published designs, as their authors wrote them, each reported with its code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Warning};
use partita_design::{check, repair, report};
use support::{codes, findings, has, with_table};

fn message(text: &str, code: &str) -> String {
    let found = findings(text).into_iter().find(|finding| finding.code == code);
    found.map(|finding| format!("{} {}", finding.message, finding.help)).unwrap_or_default()
}

const USER: &str = r#"
[entity.User]
attributes = { userId = "id", name = "string", email = "string" }
key = ["USER#{userId}", "USER#{userId}"]
"#;

/// a. Order by id and orders by status are on the list, and no key serves them.
#[test]
fn a_order_by_id_and_by_status_are_not_served() {
    let text = with_table(&format!(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
{USER}
[entity.Order]
attributes = {{ orderId = "id", userId = "id", createdAt = "timestamp", status = "pending|shipped" }}
key = ["USER#{{userId}}", "ORDER#{{createdAt}}#{{orderId}}"]
[entity.Item]
attributes = {{ orderId = "id", itemId = "id", product = "string" }}
key = ["ITEM#{{itemId}}", "ITEM#{{itemId}}"]
index.GSI1 = {{ key = ["ORDER#{{orderId}}", "ITEM#{{itemId}}"] }}
[pattern]
profile       = {{ in = ["userId"], out = "User" }}
orders        = {{ in = ["userId"], out = "Order*" }}
order         = {{ in = ["orderId"], out = "Order" }}
ordersByDates = {{ in = ["userId"], range = "createdAt", out = "Order*" }}
items         = {{ in = ["orderId"], out = "Item*" }}
recent        = {{ in = ["userId"], out = "Order*", order = "createdAt desc", limit = 10 }}
pending       = {{ where = "status == 'pending'", out = "Order*" }}
"#
    ));
    assert_eq!(codes(&text, "pattern.order"), ["P101"]);
    assert_eq!(codes(&text, "pattern.pending"), ["P101"]);
    for served in ["profile", "orders", "ordersByDates", "items", "recent"] {
        assert!(codes(&text, &format!("pattern.{served}")).is_empty(), "{served}");
    }
    assert!(
        message(&text, "P101").contains(r#"index.GSI1 = { key = ["ORDER#{orderId}", "ORDER#{orderId}"]"#)
    );
}

/// b. Order by id and products of a category are on the list, and no key serves them.
#[test]
fn b_order_by_id_and_products_of_a_category_are_not_served() {
    let text = with_table(&format!(
        r#"{USER}
[entity.Order]
attributes = {{ orderId = "id", userId = "id" }}
key = ["USER#{{userId}}", "ORDER#{{orderId}}"]
[entity.OrderItem]
attributes = {{ orderId = "id", itemId = "id" }}
key = ["ORDER#{{orderId}}", "ITEM#{{itemId}}"]
[entity.Product]
attributes = {{ productId = "id", category = "string" }}
key = ["PRODUCT#{{productId}}", "PRODUCT#{{productId}}"]
[pattern]
user     = {{ in = ["userId"], out = "User" }}
orders   = {{ in = ["userId"], out = "Order*" }}
order    = {{ in = ["orderId"], out = "Order" }}
items    = {{ in = ["orderId"], out = "OrderItem*" }}
product  = {{ in = ["productId"], out = "Product" }}
category = {{ in = ["category"], out = "Product*" }}
"#
    ));
    assert_eq!(codes(&text, "pattern.order"), ["P101"]);
    assert_eq!(codes(&text, "pattern.category"), ["P101"]);
    assert!(message(&text, "P101").contains("with a new [index.GSI1]"));
    assert!(codes(&text, "pattern.items").is_empty());
}

const CMS: &str = r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", username = "string" }
key = ["USER#{userId}", "PROFILE"]
index.GSI1 = { key = ["USER#{userId}", "PROFILE"] }
[entity.Article]
attributes = { articleId = "id", userId = "id", publishedAt = "date", title = "string" }
key = ["ARTICLE#{articleId}", "METADATA"]
index.GSI1 = { key = ["USER#{userId}", "ARTICLE#{articleId}#{publishedAt}"] }
[entity.Comment]
attributes = { commentId = "id", articleId = "id", userId = "id", createdAt = "timestamp", content = "string" }
key = ["ARTICLE#{articleId}", "COMMENT#{commentId}#{createdAt}"]
index.GSI1 = { key = ["USER#{userId}", "COMMENT#{commentId}#{createdAt}"] }
[entity.Favorite]
attributes = { userId = "id", articleId = "id", createdAt = "timestamp" }
key = ["USER#{userId}", "FAVORITE#ARTICLE#{articleId}#{createdAt}"]
index.GSI1 = { key = ["ARTICLE#{articleId}", "FAVORITE#USER#{userId}#{createdAt}"] }
[pattern]
"#;

/// c. The feed reads a partition where no favourite is, and where profile and articles are.
#[test]
fn c_the_activity_feed_misses_favourites_and_returns_others() {
    let feed = r#"feed = { in = ["userId"], out = ["Comment*", "Favorite*"], request = { index = "GSI1", condition = "GSI1PK = 'USER#{userId}'" } }"#;
    let text = with_table(&format!("{CMS}{feed}"));
    assert!(has(&text, "P108", Error));
    assert!(message(&text, "P108").contains("never returns Favorite"));
    assert!(has(&text, "P109", Warning));
    assert!(message(&text, "P109").contains("User and Article"));
    // Without the request: no index holds both in the order of time.
    let feed = r#"feed = { in = ["userId"], out = ["Comment*", "Favorite*"], order = "createdAt desc" }"#;
    assert_eq!(codes(&with_table(&format!("{CMS}{feed}")), "pattern.feed"), ["P103"]);
}

const TENANT: &str = r#"
[entity.Document]
attributes = { tenantId = "id", docId = "id", title = "string" }
key = ["TENANT#{tenantId}#DOC#{docId}", "METADATA"]
[pattern]
"#;

/// d. `PK begins_with` is not a key condition.
#[test]
fn d_a_partition_key_has_no_prefix_search() {
    let derived = with_table(&format!("{TENANT}all = {{ in = [\"tenantId\"], out = \"Document*\" }}"));
    assert_eq!(codes(&derived, "pattern.all"), ["P102"]);
    let written = with_table(&format!(
        r#"{TENANT}all = {{ in = ["tenantId"], out = "Document*", request = {{ condition = "PK begins_with 'TENANT#{{tenantId}}#DOC#'" }} }}"#
    ));
    assert_eq!(codes(&written, "pattern.all"), ["P102"]);
}

/// e. Two orders on one day overwrite each other.
#[test]
fn e_a_date_does_not_identify_an_order() {
    let text = with_table(&format!(
        r#"{USER}
[entity.Order]
attributes = {{ orderId = "id", userId = "id", date = "date", total = "decimal" }}
key = ["USER#{{userId}}", "ORDER#{{date}}"]
[pattern]
both = {{ in = ["userId"], out = ["User", "Order*"] }}
"#
    ));
    assert_eq!(codes(&text, "entity.Order"), ["P203"]);
    assert!(message(&text, "P203").contains("ORDER#{date}#{orderId}"));
}

/// e. Nor does a date or a minute where nothing else identifies an order, whether or not its user is in the model.
#[test]
fn e_a_date_or_a_minute_does_not_identify_what_a_list_returns() {
    let orders = |kind: &str, key: &str, rest: &str| {
        with_table(&format!(
            r#"
[entity.Order]
attributes = {{ userId = "ulid", at = {kind}, total = "decimal" }}
key = ["USER#{{userId}}", "ORDER#{key}"]
{rest}
[pattern]
orders = {{ in = ["userId"], out = "Order*" }}
[write]
order = {{ put = "Order" }}
"#
        ))
    };
    let minute = r#"{ type = "timestamp", precision = "minute" }"#;
    for (kind, key, period) in [
        (r#""date""#, "{at}", "day"),
        (minute, "{at}", "minute"),
        (r#""timestamp""#, "{at:minute}", "minute"),
        (r#""timestamp""#, "{at:hour}", "hour"),
        (r#""timestamp""#, "{at:month}", "month"),
    ] {
        let text = orders(kind, key, "");
        let wanted = format!("the second of a {period} overwrites the first");
        assert!(message(&text, "P203").contains(&wanted), "{}", message(&text, "P203"));
        let numbered = text
            .replace("total =", "number = \"int\", total =")
            .replace(&format!("ORDER#{key}"), &format!("ORDER#{key}#{{number:04}}"));
        assert!(!codes(&numbered, "").contains(&"P203"), "{numbered}");
    }
    // There is one a day, and a time in full is another matter.
    for right in [
        orders(r#""date""#, "{at}", r#"identity = ["at", "userId"]"#),
        orders(minute, "{at}", r#"identity = ["at", "userId"]"#),
        orders(r#""date""#, "{at}", "").replace("Order", "DailyTotal"),
        orders(minute, "{at}", "").replace("Order", "Reading"),
        orders(r#""timestamp""#, "{at}", ""),
    ] {
        assert!(!codes(&right, "").contains(&"P203"), "{right}");
    }
}

const STORE: &str = r#"
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
[entity.Order]
attributes = { orderId = "id", userId = "id", date = "date", total = "decimal" }
key = ["USER#{userId}", "ORDER#{date}#{orderId}"]
[pattern]
"#;

/// f. `begins_with ORDER#` leaves the profile out.
#[test]
fn f_the_profile_is_not_among_the_orders() {
    let text = with_table(&format!(
        r#"{STORE}both = {{ in = ["userId"], out = ["User", "Order*"], request = {{ condition = "PK = 'USER#{{userId}}' AND begins_with(SK, 'ORDER#')" }} }}"#
    ));
    assert_eq!(codes(&text, "pattern.both"), ["P108"]);
    assert!(message(&text, "P108").contains("never returns User"));
    let right = with_table(&format!(r#"{STORE}both = {{ in = ["userId"], out = ["User", "Order*"] }}"#));
    assert!(codes(&right, "").is_empty());
}

const ORG: &str = r#"
[entity.Org]
attributes = { orgId = "id", name = "string" }
key = ["ORG#{orgId}", "METADATA"]
[entity.Department]
attributes = { orgId = "id", department = "id" }
key = ["ORG#{orgId}", "DEPT#{department}"]
[entity.Member]
attributes = { orgId = "id", department = "id", memberId = "id" }
key = ["ORG#{orgId}", "DEPT#{department}#USER#{memberId}"]
[pattern]
"#;

/// g. `begins_with ""` is rejected.
#[test]
fn g_an_empty_prefix_is_rejected() {
    let text = with_table(&format!(
        r#"{ORG}whole = {{ in = ["orgId"], out = ["Org", "Department*", "Member*"], request = {{ condition = "PK = 'ORG#{{orgId}}' AND begins_with(SK, '')" }} }}"#
    ));
    assert_eq!(codes(&text, "pattern.whole"), ["P110"]);
    for refused in [
        "SK > ''",
        "SK >= ''",
        "SK < ''",
        "SK <= ''",
        "SK = ''",
        "SK BETWEEN '' AND '~'",
        "SK BETWEEN 'A' AND ''",
        "SK BETWEEN 'Z' AND 'A'",
    ] {
        let text = text.replace("begins_with(SK, '')", refused);
        assert_eq!(codes(&text, "pattern.whole"), ["P110"], "{refused}");
    }
    let message = message(&text.replace("begins_with(SK, '')", "SK > ''"), "P110");
    assert!(message.contains("leave SK out of the condition to read the whole collection"), "{message}");
    let nowhere = text.replace("'ORG#{orgId}' AND begins_with(SK, '')", "''");
    assert_eq!(codes(&nowhere, "pattern.whole"), ["P110"]);
}

/// g. A number has no beginning.
#[test]
fn g_begins_with_on_a_number_is_rejected() {
    let entries = |condition: &str| {
        with_table(&format!(
            r#"
[entity.Entry]
attributes = {{ walletId = "uuid", seq = "int" }}
identity = ["walletId", "seq"]
key = ["{{walletId}}", "{{seq}}"]
[pattern]
some = {{ in = ["walletId"], out = "Entry*", range = "seq", request = {{ condition = "walletId = '{{walletId}}' AND {condition}" }} }}
"#
        ))
        .replace(r#""PK", "SK""#, r#""walletId", "seq""#)
    };
    assert_eq!(codes(&entries("begins_with(seq, '1')"), "pattern.some"), ["P110"]);
    assert_eq!(codes(&entries("seq BETWEEN '10' AND '9'"), "pattern.some"), ["P110"]);
    assert!(!codes(&entries("seq BETWEEN '9' AND '10'"), "pattern.some").contains(&"P110"));
}

const VERSIONS: &str = r#"
[entity.Version]
attributes = { docId = "id", version = "int", createdAt = "timestamp", content = "string" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version}#{createdAt}"]
[pattern]
"#;

/// h. `V#10` sorts before `V#2`, and a date after the version cannot be compared.
#[test]
fn h_unpadded_versions_do_not_sort() {
    let text = with_table(&format!(
        r#"{VERSIONS}
latest = {{ in = ["docId"], out = "Version*", order = "version desc", limit = 1 }}
since  = {{ in = ["docId"], out = "Version*", range = "createdAt" }}
"#
    ));
    assert_eq!(codes(&text, "pattern.latest"), ["P105"]);
    assert!(message(&text, "P105").contains("V#{version:012}"));
    assert_eq!(codes(&text, "pattern.since"), ["P104"]);
    let signed = text.replace("version = \"int\"", "version = { type = \"int\", min = -9 }");
    assert!(message(&signed, "P105").contains("V#{version:+012}"));
}

/// i. The id precedes the time, so the order is not by time.
#[test]
fn i_an_id_before_the_time_destroys_the_order() {
    let comments = r#"comments = { in = ["articleId"], out = "Comment*", order = "createdAt asc" }"#;
    let text = with_table(&format!("{CMS}{comments}"));
    assert_eq!(codes(&text, "pattern.comments"), ["P103"]);
    assert!(message(&text, "P103").contains("put {createdAt} before {commentId}"));
}

/// j. A prefix without a delimiter also matches longer siblings.
#[test]
fn j_a_prefix_must_end_at_a_delimiter() {
    let text = with_table(&format!(
        r#"{ORG}dept = {{ in = ["orgId", "department"], out = ["Department", "Member*"], request = {{ condition = "PK = 'ORG#{{orgId}}' AND begins_with(SK, 'DEPT#{{department}}')" }} }}"#
    ));
    assert!(has(&text, "P106", Error));
    let derived = with_table(&format!(
        r#"{ORG}dept = {{ in = ["orgId", "department"], out = ["Department", "Member*"] }}"#
    ));
    assert!(has(&derived, "P106", Warning));
    let country = with_table(
        r#"
[entity.City]
attributes = { chain = "id", country = "id", state = "id", city = "id" }
key = ["CHAIN#{chain}", "COUNTRY#{country}#STATE#{state}#CITY#{city}"]
[pattern]
us = { in = ["chain", "country"], out = "City*", request = { condition = "PK = 'CHAIN#{chain}' AND begins_with(SK, 'COUNTRY#US')" } }
"#,
    );
    assert_eq!(codes(&country, "pattern.us"), ["P106"]);
}

/// k. BETWEEN '2024-01' AND '2024-06' loses June.
#[test]
fn k_a_short_upper_bound_loses_its_month() {
    let text = with_table(&format!(
        r#"{STORE}half = {{ in = ["userId"], out = "Order*", range = {{ by = "date", from = "2024-01", to = "2024-06" }} }}"#
    ));
    assert_eq!(codes(&text, "pattern.half"), ["P107"]);
    let written = with_table(&format!(
        r#"{STORE}year = {{ in = ["userId"], out = "Order*", request = {{ condition = "PK = 'USER#{{userId}}' AND SK BETWEEN 'ORDER#2024-01' AND 'ORDER#2024-12'" }} }}"#
    ));
    assert_eq!(codes(&written, "pattern.year"), ["P107"]);
    let right = with_table(&format!(
        r#"{STORE}half = {{ in = ["userId"], out = "Order*", range = {{ by = "date", from = "2024-01-01", to = "2024-06-30" }} }}"#
    ));
    assert!(codes(&right, "pattern.half").is_empty());
    // An identifier follows the date: the bound needs something that sorts behind it.
    let half = "range = { by = \"date\", from = \"2024-01-01\", to = \"2024-06-30\" }";
    let bounded = |range: &str, bound: &str| {
        with_table(&format!(
            r#"{STORE}half = {{ in = ["userId"], out = "Order*", {range}, request = {{ condition = "PK = 'USER#{{userId}}' AND SK {bound}" }} }}"#
        ))
    };
    let to = |bound: &str| bounded(half, bound);
    for early in [
        "BETWEEN 'ORDER#2024-01-01' AND 'ORDER#2024-06-30'",
        "BETWEEN 'ORDER#2024-01-01' AND 'ORDER#2024-06-30#'",
        "BETWEEN 'ORDER#' AND 'ORDER#'",
        "<= 'ORDER#2024-06'",
    ] {
        assert_eq!(codes(&to(early), "pattern.half"), ["P107"], "{early}");
    }
    for right in [
        "BETWEEN 'ORDER#2024-01' AND 'ORDER#2024-06~'",
        "BETWEEN 'ORDER#2024-01-01' AND 'ORDER#2024-06-30~'",
        "BETWEEN 'ORDER#2024-01-01' AND 'ORDER#2024-06-30#\u{10FFFF}'",
    ] {
        assert!(codes(&to(right), "pattern.half").is_empty(), "{right}");
        // A caller that gives the bounds asks for other dates, too.
        assert_eq!(codes(&bounded("range = \"date\"", right), "pattern.half"), ["P132"], "{right}");
    }
    // An identifier may sort behind `~`.
    let tilde = "BETWEEN 'ORDER#2024-01-01' AND 'ORDER#2024-06-30#~'";
    assert_eq!(codes(&to(tilde), "pattern.half"), ["P132"]);
    // It loses nothing, and bounds nothing.
    assert_eq!(codes(&to("BETWEEN 'ORDER#' AND 'ORDER$'"), "pattern.half"), ["P133"]);
    for right in ["< 'ORDER#2024-07'", ">= 'ORDER#2024-06'"] {
        assert!(!codes(&to(right), "pattern.half").contains(&"P107"), "{right}");
    }
}

/// l. An order is stored twice, and no transaction keeps the copies in sync.
#[test]
fn l_copies_need_a_transaction() {
    let entities = |copies: &str| {
        format!(
            r#"
[entity.User]
attributes = {{ userId = "id", name = "string" }}
key = ["USER#{{userId}}", "PROFILE"]
[entity.Order]
attributes = {{ orderId = "id", userId = "id", date = "date", total = "decimal", status = "string" }}
key = ["USER#{{userId}}", "ORDER#{{date}}#{{orderId}}"]
[entity.OrderMeta]
{copies}
attributes = {{ orderId = "id", userId = "id", total = "decimal", status = "string" }}
key = ["ORDER#{{orderId}}", "METADATA"]
[pattern]
both  = {{ in = ["userId"], out = ["User", "Order*"] }}
order = {{ in = ["orderId"], out = "OrderMeta" }}
[write]
location = {{ create = "Order" }}
ship  = {{ update = "Order", set = ["status"] }}
"#
        )
    };
    let declared = with_table(&entities("copies = \"Order\""));
    assert_eq!(codes(&declared, "write.location"), ["P501"]);
    assert_eq!(codes(&declared, "write.ship"), ["P501"]);
    assert_eq!(codes(&with_table(&entities("")), "entity.OrderMeta"), ["P502"]);
}

/// m. FOLLOWED_BY must be followed by the follower.
#[test]
fn m_the_follower_pair_points_the_wrong_way() {
    let text = with_table(
        r#"
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "USER#{userId}"]
[entity.Follower]
attributes = { followerId = "id", followedId = "id", followedAt = "date" }
edge = ["followerId", "followedId"]
key = ["USER#{followedId}", "FOLLOWER#{followerId}"]
[entity.FollowedBy]
copies = "Follower"
attributes = { followerId = "id", followedId = "id", followedAt = "date" }
edge = ["followerId", "followedId"]
key = ["USER#{followerId}", "FOLLOWED_BY#{followedId}"]
[pattern]
user      = { in = ["userId"], out = "User" }
followers = { in = ["followedId"], out = "Follower*" }
following = { in = ["followerId"], out = "FollowedBy*" }
[write]
follow = { transact = ["create Follower", "create FollowedBy"] }
"#,
    );
    assert_eq!(codes(&text, "entity.FollowedBy"), ["P215"]);
    assert!(codes(&text, "entity.Follower").is_empty());
}

/// n. Reading only the first page silently loses the rest.
#[test]
fn n_a_reader_must_page() {
    let pattern = |pages: &str| {
        with_table(&format!(
            r#"{USER}
[entity.Order]
attributes = {{ orderId = "id", userId = "id" }}
key = ["USER#{{userId}}", "ORDER#{{orderId}}"]
expect = {{ per = "User", average = 20, max = 5000, bytes = 1024 }}
[pattern]
userWithOrders = {{ in = ["userId"], out = ["User", "Order*"]{pages} }}
"#
        ))
    };
    assert_eq!(codes(&pattern(", pages = \"first\""), "pattern.userWithOrders"), ["P115"]);
    assert!(message(&pattern(""), "P115").contains("5 pages"));
    let first = pattern(", pages = \"first\"");
    assert!(has(&first, "P115", Error));
    // What nothing declares is no error.
    let guessed = first.replace("average = 20, max = 5000, bytes = 1024", "bytes = 20_000");
    assert!(has(&guessed, "P115", Warning));
    assert!(message(&guessed, "P115").contains("(assumed)"));
    assert!(codes(&pattern(""), "").is_empty());
}

/// o. The 10 GB limit applies only with a local index, and prices are dated.
#[test]
fn o_the_collection_limit_needs_a_local_index() {
    let model = |index: &str| {
        with_table(&format!(
            r#"{index}
[entity.Event]
attributes = {{ deviceId = "id", time = "timestamp", level = "int" }}
key = ["DEVICE#{{deviceId}}", "{{time}}"]
expect = {{ count = 1_000_000_000, max = 100_000_000, bytes = 500 }}
[pattern]
events = {{ in = ["deviceId"], range = "time", out = "Event*" }}
"#
        ))
    };
    let local = "[index.ByLevel]\nlocal = true\nkeys = [\"PK\", \"level\"]\n";
    assert!(codes(&model(local), "entity.Event").contains(&"P403"));
    assert!(!codes(&model(""), "entity.Event").contains(&"P403"));
}

/// p. The last hour loses the minute 10:30.
#[test]
fn p_a_bound_of_minute_precision_loses_its_minute() {
    let activity = |rest: &str| {
        with_table(&format!(
            r#"
[entity.Activity]
attributes = {{ userId = "id", activityId = "id", at = "timestamp" }}
key = ["USER#{{userId}}", "ACT#{{at}}#{{activityId}}"]
[pattern]
lastHour = {{ in = ["userId"], out = "Activity*", {rest} }}
"#
        ))
    };
    let between = |from: &str, to: &str| {
        let range = format!(r#"range = {{ by = "at", from = "{from}", to = "{to}" }}"#);
        let condition = format!("PK = 'USER#{{userId}}' AND SK BETWEEN 'ACT#{from}' AND 'ACT#{to}'");
        let sent = format!(r#"{range}, request = {{ condition = "{condition}" }}"#);
        [range, sent].map(|rest| activity(&rest))
    };
    for to in ["2024-01-15T10:30", "2024-01-15T10", "2024-01-15", "2024-01", "2024", "2024-01-15T10:30:00"] {
        for text in between("2024-01-15T09:30", to) {
            assert_eq!(codes(&text, "pattern.lastHour"), ["P107"], "{text}");
        }
    }
    // The range includes its bounds, and a request loses the activities of that very moment.
    for to in ["2024-01-15T10:30:00Z", "2024-01-15T10:30:59.999Z"] {
        let [range, sent] = between("2024-01-15T09:30", to);
        assert!(codes(&range, "pattern.lastHour").is_empty(), "{range}");
        assert_eq!(codes(&sent, "pattern.lastHour"), ["P107"], "{sent}");
        let behind = sent.replace(&format!("{to}'"), &format!("{to}~'"));
        assert!(codes(&behind, "pattern.lastHour").is_empty(), "{behind}");
    }
    for text in between("2024-01-15T09:30", "2024-01-15T10:30~") {
        assert!(codes(&text, "pattern.lastHour").is_empty(), "{text}");
    }
    // Keys that hold minutes have no finer values to lose.
    let minutes = between("2024-01-15T09:30", "2024-01-15T10:30");
    let minutes = minutes.map(|text| text.replace("ACT#{at}", "ACT#{at:minute}"));
    assert!(codes(&minutes[0], "pattern.lastHour").is_empty());
    assert_eq!(codes(&minutes[1], "pattern.lastHour"), ["P107"], "an identifier follows");
}

/// k. Whatever their precision, the times that a bound names are followed by more in the key.
#[test]
fn k_a_bound_in_full_loses_the_items_of_its_moment() {
    let orders = |precision: &str, pattern: &str| {
        with_table(&format!(
            r#"
[entity.Order]
attributes = {{ userId = "id", orderId = "ulid", at = {{ type = "timestamp", precision = "{precision}" }} }}
key = ["USER#{{userId}}", "ORDER#{{at}}#{{orderId}}"]
[pattern]
some = {{ in = ["userId"], out = "Order*", {pattern} }}
"#
        ))
    };
    for (precision, to) in [("second", "2026-06-30T23:59:59Z"), ("millisecond", "2026-06-30T23:59:59.999Z")] {
        let sent =
            |upper: &str| format!("request = {{ condition = \"PK = 'USER#{{userId}}' AND SK {upper}\" }}");
        let declared = format!("range = {{ by = \"at\", to = \"{to}\" }}, ");
        for range in ["range = \"at\", ", &declared] {
            for early in
                [format!("BETWEEN 'ORDER#' AND 'ORDER#{to}'"), format!("BETWEEN 'ORDER#' AND 'ORDER#{to}#'")]
            {
                let text = orders(precision, &format!("{range}{}", sent(&early)));
                assert_eq!(codes(&text, "pattern.some"), ["P107"], "{text}");
                let message = message(&text, "P107");
                assert!(message.contains(&format!("so all of {to} is lost")), "{message}");
                let early = early.strip_suffix('\'').unwrap();
                assert!(
                    message.contains("end it with a character that sorts behind what follows")
                        && !message.contains("in full")
                );
                let text = orders(precision, &format!("{range}{}", sent(&format!("{early}~'"))));
                let is_declared = range == declared;
                // A bound that the caller gives may be another.
                assert_eq!(codes(&text, "pattern.some").is_empty(), is_declared, "{text}");
                assert_eq!(codes(&text, "pattern.some").contains(&"P132"), !is_declared, "{text}");
            }
        }
        // Who excludes the bound loses nothing.
        let before =
            format!("where = \"at < '{to}'\", {}", sent(&format!("BETWEEN 'ORDER#' AND 'ORDER#{to}'")));
        assert!(!codes(&orders(precision, &before), "pattern.some").contains(&"P107"));
        let included = before.replace("at <", "at <=");
        assert!(codes(&orders(precision, &included), "pattern.some").contains(&"P107"));
    }
}

/// q. A favourite with its time in its key can exist twice, and cannot be deleted without knowing the time.
#[test]
fn q_a_favourite_with_its_time_in_the_key_can_exist_twice() {
    let pattern = r#"favorites = { in = ["userId"], out = "Favorite*" }"#;
    let text = with_table(&format!("{CMS}{pattern}"));
    assert!(codes(&text, "entity.Favorite").contains(&"P225"));
    let message = message(&text, "P225");
    assert!(message.contains(r#"key = ["USER#{userId}", "FAVORITE#ARTICLE#{articleId}"]"#), "{message}");
    let declared =
        text.replace("[entity.Favorite]\n", "[entity.Favorite]\nedge = [\"userId\", \"articleId\"]\n");
    assert!(codes(&declared, "entity.Favorite").contains(&"P225"));
    let repaired = text.replace(
        "ARTICLE#{articleId}#{createdAt}\"]\nindex.GSI1 = { key = [\"ARTICLE",
        "ARTICLE#{articleId}\"]\nindex.GSI1 = { key = [\"ARTICLE",
    );
    assert!(!codes(&repaired, "entity.Favorite").contains(&"P225"));
}

#[test]
fn q_a_relationship_with_an_identifier_of_its_own_can_exist_twice() {
    let text = |key: &str, edge: &str| {
        with_table(&format!(
            r#"
[entity.Page]
attributes = {{ pageId = "ulid", title = "string" }}
key = ["PAGE#{{pageId}}", "PAGE"]
[entity.Link]
{edge}
attributes = {{ linkId = "ulid", pageId = "ulid", targetId = "ulid" }}
key = ["PAGE#{{pageId}}", "{key}"]
"#
        ))
    };
    let edge = "edge = [\"pageId\", \"targetId\"]";
    for key in ["LINK#{linkId}", "LINK#{linkId}#{targetId}"] {
        let text = text(key, edge);
        let codes = codes(&text, "entity.Link");
        assert!(codes.contains(&"P225") && !codes.contains(&"P203"), "{key}: {codes:?}");
        let message = message(&text, "P225");
        assert!(message.contains(r#"key = ["PAGE#{pageId}", "LINK#{targetId}"]"#), "{message}");
    }
    assert!(!codes(&text("LINK#{targetId}", edge), "entity.Link").contains(&"P225"));
    assert!(!codes(&text("LINK#{linkId}", "identity = \"linkId\""), "entity.Link").contains(&"P225"));
    // A time in the place of an end is replaced by it.
    let timed = text("LINK#{at}", edge).replace("linkId = \"ulid\"", "at = \"timestamp\"");
    assert!(message(&timed, "P203").contains(r#"["PAGE#{pageId}", "LINK#{targetId}"]"#));
    let yearly = text("LINK#{at:year}#{targetId}", edge).replace("linkId = \"ulid\"", "at = \"timestamp\"");
    assert!(message(&yearly, "P225").contains(r#"["PAGE#{pageId}", "LINK#{targetId}"]"#));
}

#[test]
fn q_what_is_followed_and_has_its_beginning_in_the_key_is_a_relationship() {
    let text = |time: &str, rooms: &str| {
        with_table(&format!(
            r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = {{ userId = "ulid", handle = "string" }}
key = ["USER#{{userId}}", "PROFILE"]
[entity.Room]
attributes = {{ roomId = "ulid", name = "string" }}
key = ["ROOM#{{roomId}}", "INFO"]
[entity.Member]
attributes = {{ roomId = "ulid", userId = "ulid", {time} = "timestamp" }}
key = ["ROOM#{{roomId}}", "MEMBER#{{{time}}}#{{userId}}"]
index.GSI1 = {{ key = ["USER#{{userId}}", "ROOM#{{roomId}}"] }}
[pattern]
rooms = {{ in = ["userId"], {rooms} }}
"#
        ))
    };
    let finds = |time: &str, rooms: &str| codes(&text(time, rooms), "entity.Member").contains(&"P225");
    let followed = r#"out = "Room*", via = "Member""#;
    assert!(finds("joinedAt", followed) && finds("created_at", followed));
    assert!(!finds("startsAt", followed), "a meeting of the same two can take place twice");
    assert!(!finds("scheduledAt", followed));
    assert!(!finds("joinedAt", r#"out = "Member*""#));
    // What happens can happen to the same two again.
    let named = |time: &str, entity: &str| {
        let text = text(time, followed).replace("Member", entity);
        codes(&text, &format!("entity.{entity}")).contains(&"P225")
    };
    assert!(named("joinedAt", "Seat") && named("subscribed_on", "Feed") && named("memberSince", "Crew"));
    assert!(named("createdAt", "TeamMember"));
    for (time, entity) in
        [("visitedAt", "Visit"), ("visitedAt", "Seat"), ("bookedAt", "Booking"), ("joinedAt", "Call")]
    {
        assert!(!named(time, entity), "{time} of {entity}");
    }
    assert!(!named("createdAt", "Purchase") && !named("createdAt", "Visit"));
}

/// r. The articles that a user likes are found through the favourites; listing all articles does not answer that.
#[test]
fn r_favourite_articles_are_found_by_following_favourites() {
    let cms = |articles: &str, pattern: &str| {
        with_table(&format!(
            r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = {{ userId = "id", name = "string" }}
key = ["USER#{{userId}}", "PROFILE"]
[entity.Article]
attributes = {{ articleId = "id", title = "string", month = "id" }}
{articles}
[entity.Favorite]
edge = ["userId", "articleId"]
attributes = {{ userId = "id", articleId = "id", createdAt = "timestamp" }}
key = ["USER#{{userId}}", "FAVORITE#{{articleId}}"]
index.GSI1 = {{ key = ["LIKED#{{articleId}}", "FAVORITE#{{createdAt}}#{{userId}}"] }}
expect = {{ per = "User", average = 20, max = 5000 }}
[pattern]
favorites = {{ in = ["userId"], out = {pattern} }}
"#
        ))
    };
    let plain = r#"key = ["ARTICLE#{articleId}", "METADATA"]"#;
    let listed = r#"key = ["ARTICLE#{articleId}", "METADATA"]
index.GSI1 = { key = ["ARTICLES#{shard}", "ARTICLE#{articleId}"], shard = { count = 4 } }"#;
    let indexed = r#"key = ["MONTH#{month}", "ARTICLE#{articleId}"]
index.GSI1 = { key = ["ARTICLE#{articleId}", "ARTICLE"] }"#;
    // A list of all articles is no answer.
    for articles in [plain, listed] {
        let text = cms(articles, "\"Article*\"");
        assert_eq!(codes(&text, "pattern.favorites"), ["P127"]);
        assert!(message(&text, "P127").contains("via = \"Favorite\""));
        assert_eq!(codes(&cms(articles, "[\"Favorite*\", \"Article*\"]"), "pattern.favorites"), ["P127"]);
    }
    let plan = |text: &str| {
        let model = support::model(text);
        report::summary(&model, check(&model).plans["favorites"].as_ref().ok().unwrap())
    };
    let via = "\"Article*\", via = \"Favorite\"";
    assert!(plan(&cms(plain, via)).starts_with("Query table + BatchGetItem table, 2 requests"));
    // An article that is known only through an index takes a query for each favourite.
    assert!(plan(&cms(indexed, via)).starts_with("Query table + Query GSI1, 21 requests"));
    let unknown = r#"key = ["MONTH#{month}", "ARTICLE#{articleId}"]"#;
    let text = cms(unknown, via);
    assert_eq!(codes(&text, "pattern.favorites"), ["P128"]);
    assert!(message(&text, "P128").contains("it does not hold month"));
}

const TASKS: &str = r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Assignment]
attributes = { taskId = "id", userId = "id", assignedAt = "timestamp" }
edge = ["taskId", "userId"]
key = ["TASK#{taskId}", "ASSIGNEE#USER#{userId}"]
index.GSI1 = { key = ["USER#{userId}", "ASSIGNED#TASK#{taskId}"] }
[entity.Comment]
attributes = { commentId = "id", taskId = "id", userId = "id", createdAt = "timestamp", content = "string" }
key = ["TASK#{taskId}", "COMMENT#{createdAt}#{commentId}"]
index.GSI1 = { key = ["USER#{userId}", "COMMENT#{commentId}#{createdAt}"] }
[entity.Attachment]
attributes = { attachmentId = "id", taskId = "id", userId = "id", uploadedAt = "timestamp", name = "string" }
key = ["TASK#{taskId}", "ATTACHMENT#{uploadedAt}#{attachmentId}"]
index.GSI1 = { key = ["USER#{userId}", "ATTACHMENT#{attachmentId}#{uploadedAt}"] }
[pattern]
assigned = { in = ["userId"], out = "Assignment*" }
activity = { in = ["userId"], out = ["Comment*", "Attachment*", "Assignment*"], order = "createdAt desc", limit = 50 }
"#;

/// s. The recent activity comes in the order of types, not of time; the proposed index mends it.
#[test]
fn s_recent_activity_is_sorted_by_type_and_not_by_time() {
    let text = with_table(TASKS);
    assert_eq!(codes(&text, "pattern.activity"), ["P103"]);
    let finding = findings(&text).into_iter().find(|finding| finding.code == "P103").unwrap();
    let repaired = repair::apply(&text, &finding.repair.unwrap().edits).unwrap();
    assert!(codes(&repaired, "pattern.activity").is_empty(), "{repaired}");
}

/// t. Comments point at `POST#456`, but a post has no such identifier.
#[test]
fn t_comments_refer_to_posts_that_have_no_identifier() {
    let text = with_table(
        r#"
[entity.User]
attributes = { userId = "id", username = "string" }
key = ["USER#{userId}", "PROFILE#"]
[entity.Post]
attributes = { userId = "id", createdAt = "timestamp", content = "string" }
key = ["USER#{userId}", "POST#{createdAt}"]
[entity.Comment]
attributes = { postId = "id", userId = "id", createdAt = "timestamp", content = "string" }
key = ["POST#{postId}", "COMMENT#USER#{userId}#{createdAt}"]
[pattern]
wall     = { in = ["userId"], out = ["User", "Post*"] }
comments = { in = ["postId"], out = "Comment*" }
"#,
    );
    assert_eq!(codes(&text, "entity.Comment"), ["P226"]);
    assert!(message(&text, "P226").contains("Post has no postId"));
    let indexed = text
        .replace("[entity.User]", "[index.GSI1]\nkeys = [\"GPK\", \"GSK\"]\n[entity.User]")
        .replace("\"POST#{postId}\"", "\"COMMENTS#{userId}\"")
        .replace("[pattern]", "index.GSI1 = { key = [\"POST#{postId}\", \"{createdAt}\"] }\n[pattern]");
    assert!(message(&indexed, "P226").contains("the key of Comment in GSI1 refers to a Post by postId"));
}

/// What is called `id` of a post is called `postId` elsewhere.
#[test]
fn an_identifier_called_id_is_referred_to_by_the_name_of_its_entity() {
    for (id, identity) in [("id", ""), ("id", "identity = [\"id\"]"), ("_id", "identity = [\"_id\"]")] {
        let text = with_table(&format!(
            r#"
[entity.Post]
attributes = {{ {id} = "ulid", title = "string" }}
key = ["POST#{{{id}}}", "POST"]
{identity}
[entity.Comment]
attributes = {{ postId = "ulid", commentId = "ulid" }}
key = ["POST#{{postId}}", "COMMENT#{{commentId}}"]
[pattern]
post = {{ in = ["{id}"], out = "Post" }}
comments = {{ in = ["postId"], out = "Comment*" }}
"#
        ));
        assert!(!codes(&text, "").contains(&"P226"), "{id} {identity}");
    }
}

/// u. One document holds one user and role, and an index serves none of the patterns.
#[test]
fn u_access_is_stored_in_the_document_and_an_index_is_unused() {
    let text = with_table(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[index.GSI2]
keys = ["GSI2PK", "GSI2SK"]
[entity.Document]
attributes = { tenantId = "id", docId = "id", userId = "id", role = "Admin|Reader", status = "string", title = "string" }
identity = ["docId"]
key = ["TENANT#{tenantId}#DOC#{docId}", "METADATA"]
index.GSI1 = { key = ["USER#{userId}", "TENANT#{tenantId}#ROLE#{role}#DOC#{docId}"] }
index.GSI2 = { key = ["STATUS#{status}", "DOC#{docId}"] }
[pattern]
document = { in = ["tenantId", "docId"], out = "Document" }
allowed  = { in = ["userId", "tenantId", "role"], out = "Document*" }
"#,
    );
    assert!(codes(&text, "entity.Document").contains(&"P227"));
    assert_eq!(codes(&text, "index.GSI2"), ["P303"]);
    // Whatever the attributes are called, the document is what the key identifies, and the user who has a role in it is not.
    let undeclared = text.replace("identity = [\"docId\"]\n", "");
    assert!(codes(&undeclared, "entity.Document").contains(&"P227"));
    let owned = undeclared.replace("userId", "ownerId");
    assert!(codes(&owned, "entity.Document").contains(&"P227"));
    assert!(!codes(&owned.replace("USER#", "SHELF#"), "entity.Document").contains(&"P227"));
    let access = undeclared.replace("\"METADATA\"", "\"USER#{userId}\"");
    assert!(!codes(&access, "entity.Document").contains(&"P227"), "one for each user");
}

/// v. "Just teams" returns members as well, and a Query with a filter and no key condition is rejected.
#[test]
fn v_a_prefix_of_teams_returns_members_and_a_filter_is_no_key_condition() {
    let org = |pattern: &str| {
        with_table(&format!(
            r#"
[entity.Team]
attributes = {{ orgId = "id", teamId = "id", teamName = "string" }}
key = ["ORG#{{orgId}}", "TEAM#{{teamId}}"]
[entity.Member]
attributes = {{ orgId = "id", teamId = "id", memberId = "id", role = "string" }}
key = ["ORG#{{orgId}}", "TEAM#{{teamId}}#MEMBER#{{memberId}}"]
[pattern]
teams = {{ in = ["orgId"], out = "Team*"{pattern} }}
"#
        ))
    };
    let written = org(r#", request = { condition = "PK = 'ORG#{orgId}' AND begins_with(SK, 'TEAM#')" }"#);
    for text in [org(""), written] {
        assert_eq!(codes(&text, "pattern.teams"), ["P109"]);
        assert!(message(&text, "P109").contains("also returns Member"));
    }
    let filtered = org(r#", request = { filter = "orgId == 'acme'" }"#);
    assert!(codes(&filtered, "pattern.teams").contains(&"P102"));
}

/// Scores under their points: of two players with as many, one is lost.
#[test]
fn items_that_only_a_measure_tells_apart_overwrite_each_other() {
    let scores = |kind: &str, key: &str, order: &str| {
        with_table(&format!(
            r#"
[entity.Score]
attributes = {{ gameId = "id", playerId = "id", points = "{kind}" }}
key = ["GAME#{{gameId}}", "{key}"]
[pattern]
scores = {{ in = ["gameId"], out = "Score*", order = "points {order}", limit = 10, rps = 5 }}
"#
        ))
    };
    assert_eq!(codes(&scores("int", "SCORE#{points:06}", "desc"), "entity.Score"), ["P203"]);
    assert_eq!(codes(&scores("decimal", "SCORE#{points:06.2}", "asc"), "entity.Score"), ["P203"]);
    assert!(!has(&scores("int", "SCORE#{points:06}#{playerId}", "desc"), "P203", Warning));
    // Neither what counts items nor where a tier starts is measured.
    for (kind, name, entity) in [
        ("int", "seatNo", "Seat"),
        ("int", "chapter", "Chapter"),
        ("int", "bookFloor", "Floor"),
        ("int", "season", "Part"),
        ("decimal", "minQuantity", "PriceTier"),
        ("decimal", "minAmount", "Discount"),
        ("decimal", "amount", "FeeLevel"),
        ("decimal", "kilometre", "Stop"),
    ] {
        let text =
            scores(kind, if kind == "int" { "SCORE#{points:06}" } else { "SCORE#{points:06.2}" }, "desc");
        let text = text.replace("points", name).replace("Score", entity);
        assert!(!has(&text, "P203", Warning), "{text}");
    }
}

#[test]
fn what_a_write_changes_is_not_advised_for_the_key_of_the_table() {
    let text = with_table(
        r#"
[entity.Patient]
attributes = { patientId = "ulid", name = "string" }
key = ["PATIENT#{patientId}", "PROFILE"]
[entity.Visit]
attributes = { visitId = "ulid", patientId = "ulid", startsAt = { type = "timestamp", precision = "second" } }
key = ["PATIENT#{patientId}", "VISIT#{visitId}"]
[pattern]
visits = { in = ["patientId"], out = ["Patient", "Visit*"], order = "startsAt desc", limit = 20 }
[write]
move = { update = "Visit", set = ["startsAt"] }
"#,
    );
    let advice = message(&text, "P103");
    assert!(advice.contains("an index") && !advice.contains("put {startsAt} before"), "{advice}");
    let unchanged = text.replace("set = [\"startsAt\"]", "set = [\"visitId\"]");
    assert!(message(&unchanged, "P103").contains("put {startsAt} before {visitId}"));
}

#[test]
fn an_original_and_its_copy_are_no_reason_to_split_the_table() {
    let text = with_table(
        r#"
[entity.Customer]
attributes = { customerId = "id", email = "string" }
key = ["CUSTOMER#{customerId}", "CUSTOMER"]
[entity.CustomerByEmail]
copies = "Customer"
attributes = { customerId = "id", email = "string" }
key = ["EMAIL#{email}", "CUSTOMER"]
[pattern]
byId    = { in = ["customerId"], out = "Customer" }
byEmail = { in = ["email"], out = "CustomerByEmail*" }
[write]
add = { transact = ["create Customer", "create CustomerByEmail"] }
"#,
    );
    assert!(!findings(&text).iter().any(|finding| finding.code == "P602"), "{:?}", findings(&text));
}

#[test]
fn an_entity_that_is_renamed_keeps_its_identity() {
    let doctors = |name: &str, was: &str| {
        with_table(&format!(
            r#"
[entity.{name}]
{was}
attributes = {{ doctorId = "id", name = "string" }}
key = ["DOCTOR#{{doctorId}}", "DOCTOR"]
expect = {{ count = 100 }}
[pattern]
doctor = {{ in = ["doctorId"], out = "{name}" }}
"#
        ))
    };
    let renamed = support::model(&doctors("Physician", "was = \"Doctor\""));
    assert_eq!(renamed.entities[0].identity(), Some("doctorId"));
    assert_eq!(support::model(&doctors("Physician", "")).entities[0].identity(), None);
}
