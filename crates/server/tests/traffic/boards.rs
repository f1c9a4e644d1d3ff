//! Requests to boards and their cards: several items may have the identity of a board, cards are counted by what their sets contain, and their
//! weights may need more digits than a number has.

use super::{Random, Request, Stored, delete, item, key, put, transaction};
use serde_json::{Value, json};

/// A weight, by its number; the last two need more than 38 digits together.
const WEIGHTS: [&str; 4] = ["1", "2", "99999999999999999999999999999999999999", "0.5"];

fn card(id: &str, board: &str, weight: &str, is_urgent: bool) -> Value {
    let mut card = item(&format!("PK=CARD#{id} SK=CARD type=Card cardId={id} boardId={board}"));
    card["weight"] = json!({ "N": weight });
    if is_urgent {
        card["tags"] = json!({ "SS": ["urgent", "x"] });
    }
    card
}

/// The part of a board with these cards of small weights.
fn board(part: &str, id: &str, cards: &[&Value]) -> Value {
    let weights = cards.iter().map(|card| -> i64 {
        card["weight"]["N"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
    });
    let urgent = cards.iter().filter(|card| card["tags"].is_object()).count();
    let top = weights.clone().max().map(|top| format!("top={top}")).unwrap_or_default();
    let (count, weight) = (cards.len(), weights.sum::<i64>());
    item(&format!(
        "PK=BOARD#{part} SK=BOARD type=Board part={part} boardId={id} cards={count} weight={weight} urgent={urgent} {top}"
    ))
}

pub fn valid_item(random: &mut Random) -> Value {
    let id = random.pick(&["b", "d"]);
    let made = card(random.pick(&["k", "l"]), id, random.pick(&WEIGHTS), random.below(2) == 0);
    let mut made = match random.below(2) {
        0 => board(random.pick(&["p", "q"]), id, &[&made][..random.below(2)]),
        _ => made,
    };
    if random.below(6) == 0 {
        made["boardId"] = json!({ "NULL": true });
    }
    if random.below(6) == 0 {
        made["tags"] =
            [json!({ "S": "urgent" }), json!({ "NULL": true }), json!({ "L": [{ "S": "urgent" }] })]
                [random.below(3)]
            .clone();
    }
    made
}

/// A card of a board of its own, created with it; or a card more, of a greater weight.
pub fn well_formed(random: &mut Random, stored: &Stored<'_>) -> Request {
    let own = |item: &&Value| item["boardId"]["S"] == "own";
    let cards: Vec<&Value> = stored.0.iter().filter(own).filter(|item| item["type"]["S"] == "Card").collect();
    let id = ["m", "n", "o"].into_iter().find(|id| cards.iter().all(|card| card["cardId"]["S"] != *id));
    let Some(id) = id else {
        // The first card is the lightest: the greatest weight stays.
        let rest: Vec<&Value> = cards.iter().copied().filter(|card| card["cardId"]["S"] != "m").collect();
        let gone = cards.iter().find(|card| key(card) == key(&self::card("m", "own", "1", false)));
        return transaction(
            gone.map(|card| delete(card)).into_iter().chain([put(&board("own", "own", &rest))]).collect(),
        );
    };
    let weight = match id {
        "m" => "1",
        "n" => "3",
        _ => "5",
    };
    let made = card(id, "own", weight, random.below(2) == 0);
    transaction(vec![put(&made), put(&board("own", "own", &[&cards[..], &[&made]].concat()))])
}
