//! What readers of a table miss, computed from its items and by no function that judges them: a rule that the judge and the audit both
//! lack shows here.

use super::TASKS;
use serde_json::Value;

/// Returns the items that are not where a reader looks for them.
pub fn missed(items: &[Value]) -> Vec<String> {
    let open = items.iter().filter(|item| item["type"]["S"] == "Task" && item["status"]["S"] == "OPEN");
    let is_elsewhere = |item: &&Value| {
        let place = TASKS.into_iter().find(|(id, _)| item["taskId"]["S"] == *id).map(|(_, place)| place);
        place.is_some_and(|place| item["GSI1PK"]["S"] != place)
    };
    open.filter(is_elsewhere).map(|item| format!("in another shard: {item}")).collect()
}
