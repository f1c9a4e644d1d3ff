//! `GET /_partita/ready`: whether the server accepts requests of every kind, and if not, why.

use crate::http::reply::PlainReply;
use crate::limits::budget::Budget;
use partita_store::Health;
use serde_json::json;

pub const PATH: &str = "/_partita/ready";

pub fn reply(store: &Health, budget: &Budget) -> PlainReply {
    let mut reasons = Vec::new();
    match store {
        Health::Ok => {}
        Health::Full(text) => reasons.push(("disk-full", text.clone())),
        Health::ReadOnly(text) => reasons.push(("read-only", text.clone())),
        Health::Failed(text) => reasons.push(("storage-failed", text.clone())),
    }
    if budget.refused_request_recently() {
        let text = format!("requests are refused: {} of {} bytes are in use", budget.used(), budget.limit());
        reasons.push(("memory", text));
    }
    if budget.rejected_connection_recently() {
        reasons.push(("connections", "all connections have running requests".to_owned()));
    }
    let listed: Vec<_> =
        reasons.iter().map(|(reason, text)| json!({ "reason": reason, "message": text })).collect();
    let is_ready = reasons.is_empty();
    PlainReply::readiness(is_ready, json!({ "ready": is_ready, "reasons": listed }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(store: &Health, budget: &Budget) -> String {
        String::from_utf8(reply(store, budget).into_http1()).unwrap()
    }

    #[test]
    fn every_reason_is_reported() {
        let budget = Budget::new(1 << 20, || ());
        let ready = response(&Health::Ok, budget);
        assert!(
            ready.starts_with("HTTP/1.1 200 ") && ready.ends_with(r#"{"ready":true,"reasons":[]}"#),
            "{ready}"
        );
        for (health, reason) in [
            (Health::Full("no room".to_owned()), "disk-full"),
            (Health::ReadOnly("no way".to_owned()), "read-only"),
            (Health::Failed("no log".to_owned()), "storage-failed"),
        ] {
            let text = response(&health, budget);
            assert!(text.starts_with("HTTP/1.1 503 ") && text.contains(reason), "{text}");
        }
        assert!(budget.reservation().grow_to(1_000_000).is_err());
        budget.record_rejected_connection();
        let text = response(&Health::Ok, budget);
        assert!(
            text.contains("\"memory\"") && text.contains("\"connections\"") && text.contains("false"),
            "{text}"
        );
    }
}
