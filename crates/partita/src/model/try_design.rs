//! `partita model try`: seeds a model, carries out every pattern, and prints what was predicted beside what was measured; with `--rate` it
//! drives the declared mix and shows what would break first.
//!
//! Without an endpoint it starts a database in memory, for as long as it runs. With one, it uses a table of its own, which it deletes afterwards
//! unless `--keep` is given.

mod interruption;
mod load;
mod local_server;

use super::arguments::{Seed, Try};
use super::{FINE, FOUND, Outcome, file, seed};
use crate::arguments::Endpoint;
use crate::client::Client;
use crate::clock;
use local_server::LocalServer;
use partita_design::capacity::basis::{Basis, Estimate};
use partita_design::capacity::estimate::count;
use partita_design::formatting::format_number;
use partita_design::generate::Generator;
use partita_design::item::Item;
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::{Bounds, Pattern};
use partita_design::plan::scatter::MAX_REQUESTS;
use partita_design::plan::trial::{
    Known, Page, PreparedPlan, Taken, asked_model, asks_for_all, calls, counted_model, difference, expected,
    known,
};
use partita_design::plan::{Plan, plan};
use partita_design::{Model, Severity, check};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How many calls of each pattern are measured at most and at least.
const CALLS: [usize; 2] = [100, 10];
/// How many items are compared to find those that the calls of a pattern mean, before fewer calls are measured.
const COMPARED: usize = 2_000_000;
/// After how many requests no further call of a pattern is measured.
const ENOUGH_REQUESTS: u64 = 20_000;
/// How many rows of the first call are shown.
const ROWS: usize = 3;

pub fn run(arguments: &Try) -> Outcome {
    let mut model = file::model(&arguments.model)?;
    let report = check(&model);
    if report.count(Severity::Error) > 0 {
        println!(
            "the check finds errors; patterns with errors are tried all the same: partita model check {}\n",
            arguments.model.display()
        );
    }
    drop(report);
    model.table.name = arguments.table.clone().unwrap_or_else(|| format!("{}-try", model.table.name));
    let server = match arguments.endpoint.endpoint {
        Some(_) => None,
        None => Some(LocalServer::start()?),
    };
    let endpoint = server.as_ref().map_or_else(|| arguments.endpoint.clone(), LocalServer::endpoint);
    let mut client = Client::new(&endpoint)?;
    refuse_existing(&mut client, &model)?;
    if server.is_none() && !arguments.keep {
        interruption::delete_when_interrupted(&endpoint, &model.table.name);
    }
    let seeded = seed::run(&seeding(arguments, &model, &endpoint));
    let outcome = seeded.and_then(|_| tried(arguments, &model, &endpoint, &mut client));
    if server.is_none() && !arguments.keep {
        let name = json!({ "TableName": model.table.name });
        let deleted = client.call("DeleteTable", &name);
        // Why a trial failed says more than that its table remains.
        return outcome.and_then(|code| deleted.map(|_| code).map_err(|failure| failure.to_string()));
    }
    outcome
}

fn tried(arguments: &Try, model: &Model, endpoint: &Endpoint, client: &mut Client) -> Outcome {
    let generator = Generator::new(model, arguments.seed, arguments.items);
    let items = all_items(&generator);
    let recognised = known(model, &items);
    let expected: f64 = model.entities.iter().map(|entity| count(model, entity)).sum();
    println!(
        "seeded {} of {} expected items; predictions are for those seeded, and ~ marks what is assumed of them",
        format_number(items.len() as f64),
        format_number(expected)
    );
    let seeded = counted_model(&generator, &recognised);
    for (entity, seeded) in model.entities.iter().zip(&seeded.entities) {
        if let (Some(declared), Some(bytes)) = (entity.expect.bytes, seeded.expect.bytes)
            && bytes < declared
        {
            println!(
                "{} has {bytes} bytes of the declared {declared}: no text of it can be extended",
                entity.name
            );
        }
    }
    println!();
    let code = try_patterns(model, &seeded, (&items, &recognised), client)?;
    if arguments.rate.is_some() {
        load::drive(arguments, &generator, &recognised, endpoint)?;
    }
    Ok(code)
}

/// A trial fills and deletes its table: it must be its own.
fn refuse_existing(client: &mut Client, model: &Model) -> Result<(), String> {
    let table = &model.table.name;
    match client.call("DescribeTable", &json!({ "TableName": table })) {
        Ok(_) => Err(format!(
            "table {table} exists; a trial needs a table of its own: --table NAME, or delete it if an earlier trial has left it"
        )),
        Err(failure) if failure.is("ResourceNotFoundException") => Ok(()),
        Err(failure) => Err(failure.to_string()),
    }
}

fn seeding(arguments: &Try, model: &Model, endpoint: &Endpoint) -> Seed {
    Seed {
        model: arguments.model.clone(),
        items: arguments.items,
        seed: arguments.seed,
        parallel: 4,
        table: Some(model.table.name.clone()),
        add_indexes: false,
        endpoint: endpoint.clone(),
    }
}

/// The items that were seeded; of several entities with the same key, one remains.
fn all_items(generator: &Generator<'_>) -> Vec<Item> {
    let key = |item: &Item| -> Vec<Option<String>> {
        generator.model.table.keys.iter().map(|name| item.get(name)?.to_text()).collect()
    };
    let items: BTreeMap<_, _> = generator.items().map(|item| (key(&item), item)).collect();
    items.into_values().collect()
}

/// What the calls of a pattern took.
#[derive(Default)]
struct Measured {
    calls: u64,
    taken: Vec<Taken>,
    /// What the first call that found anything returned.
    rows: Vec<Item>,
    time: Vec<Duration>,
    wrong: u64,
    /// How many requests a call would send that is not tried for that reason.
    excessive: Option<u64>,
    /// What was wrong with the first of them.
    difference: Option<String>,
}

/// Carries out the patterns of a model; `seeded` is the model with the numbers of items that there are.
fn try_patterns(
    model: &Model,
    seeded: &Model,
    items: (&[Item], &[Known<'_>]),
    client: &mut Client,
) -> Outcome {
    let keys = Keyspace::new(model);
    let width = model.patterns.iter().map(|pattern| pattern.name.len()).max().unwrap_or_default().max(7);
    println!(
        "{:width$} {:>16} {:>16} {:>16} {:>9} {:>9}\n{:width$} {:>7} {:>8} {:>7} {:>8} {:>7} {:>8}",
        "",
        "items read",
        "requests",
        "read units",
        "p50 ms",
        "max ms",
        "",
        "predict",
        "measured",
        "predict",
        "measured",
        "predict",
        "measured"
    );
    let mut code = FINE;
    for pattern in &model.patterns {
        let asked = asked_model(seeded, pattern, items.1);
        let (Ok(own), Ok(predicted)) = (plan(&keys, pattern), plan(&Keyspace::new(&asked), pattern)) else {
            println!("{:width$} not served", pattern.name);
            code = FOUND;
            continue;
        };
        let measured = measure(model, pattern, &own, items, client)?;
        let prediction = Prediction {
            model: &asked,
            plan: &predicted,
            least: if asks_for_all(pattern, &own, items.1) { Basis::Declared } else { Basis::Assumed },
        };
        print_measured(pattern, &prediction, &measured, width);
        if measured.wrong > 0 {
            code = FOUND;
        }
    }
    Ok(code)
}

fn measure(
    model: &Model,
    pattern: &Pattern,
    plan: &Plan<'_>,
    (items, all): (&[Item], &[Known<'_>]),
    client: &mut Client,
) -> Result<Measured, String> {
    let mut measured = Measured::default();
    let prepared = PreparedPlan::new(model, pattern, plan, all);
    let [most, least] = CALLS;
    let mut requests = 0;
    for call in calls(pattern, all, (COMPARED / all.len().max(1)).clamp(least, most)) {
        let number = prepared.most_requests(&call);
        if number > MAX_REQUESTS {
            measured.excessive = Some(number);
            continue;
        }
        if requests > ENOUGH_REQUESTS {
            break;
        }
        let mut time = Duration::ZERO;
        let send = |operation: &'static str, body: &Value| {
            let start = clock::monotonic_now();
            let page = page(client, operation, body);
            time += start.elapsed();
            page
        };
        let answer = prepared.execute(&call, send)?;
        measured.time.push(time);
        let wanted = expected(model, pattern, &call, all);
        if let Some(difference) = difference((model, pattern), &wanted, &answer.items, items) {
            measured.wrong += 1;
            measured.difference.get_or_insert(difference);
        }
        measured.calls += 1;
        requests += answer.taken().pages;
        measured.taken.push(answer.taken());
        if measured.rows.is_empty() {
            measured.rows = answer.items;
        }
    }
    measured.time.sort();
    Ok(measured)
}

/// Sends one request of a plan.
fn page(client: &mut Client, operation: &str, body: &Value) -> Result<Page, String> {
    let mut body = body.clone();
    body["ReturnConsumedCapacity"] = json!("TOTAL");
    let response = client.call(operation, &body).map_err(|failure| failure.to_string())?;
    Page::decode(operation, &response).ok_or_else(|| format!("{operation} does not return DynamoDB JSON"))
}

/// What is predicted of the calls of a pattern.
struct Prediction<'a, 'm> {
    /// The model with the numbers of the items that they find.
    model: &'m Model,
    plan: &'a Plan<'m>,
    /// What all figures rest on beside what the plan says.
    least: Basis,
}

impl Prediction<'_, '_> {
    /// A figure as text; what it assumes is marked.
    fn text(&self, figure: Estimate) -> String {
        let mark = if figure.basis.and(self.least).is_assumed() { "~" } else { "" };
        format!("{mark}{}", format_number(figure.value))
    }
}

fn print_measured(pattern: &Pattern, prediction: &Prediction<'_, '_>, measured: &Measured, width: usize) {
    if let Some(requests) = measured.excessive.filter(|_| measured.calls == 0) {
        let requests = format_number(requests as f64);
        println!("{:width$} a call would send {requests} requests: it is not tried", pattern.name);
        return;
    }
    if measured.calls == 0 {
        println!("{:width$} nothing among the items to ask for; more --items may help", pattern.name);
        return;
    }
    let calls = measured.calls as f64;
    let plan = prediction.plan;
    let items = plan.steps.iter().map(|step| step.items.average()).sum::<Estimate>();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let mean =
        |figure: fn(&Taken) -> f64| format_number(measured.taken.iter().map(figure).sum::<f64>() / calls);
    println!(
        "{:width$} {:>7} {:>8} {:>7} {:>8} {:>7} {:>8} {:>9.2} {:>9.2}",
        pattern.name,
        prediction.text(items),
        mean(|taken| taken.read as f64),
        prediction.text(plan.expected_requests()),
        mean(|taken| taken.pages as f64),
        prediction.text(Estimate::new(plan.units(), plan.basis(prediction.model))),
        mean(|taken| taken.units),
        milliseconds(measured.time.get(measured.time.len() / 2)),
        milliseconds(measured.time.last()),
    );
    if let Some(difference) = &measured.difference {
        println!(
            "{:width$} {} of {} calls did not return what the pattern means; {difference}",
            "", measured.wrong, measured.calls
        );
    }
    if measured.rows.is_empty() && pattern.range.as_ref().is_some_and(Bounds::is_declared) {
        println!("{:width$} no call found an item that was seeded in the declared range", "");
    }
    for item in measured.rows.iter().take(ROWS) {
        let row: Vec<String> =
            item.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.to_text()?))).collect();
        println!("{:width$}   {}", "", shortened(&row.join(" ")));
    }
}

fn shortened(row: &str) -> String {
    match row.char_indices().nth(150) {
        Some((end, _)) => format!("{}…", &row[..end]),
        None => row.to_owned(),
    }
}
