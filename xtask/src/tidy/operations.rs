//! An operation's name is its address: every stage has a file of that name.

use super::Repository;
use crate::step::root;
use std::fs;

pub fn problems(_: &Repository) -> Vec<String> {
    missing_stages()
}

fn missing_stages() -> Vec<String> {
    let registry = fs::read_to_string(root().join("crates/api/src/operation.rs")).unwrap_or_default();
    let listed = registry.split_once("operations! {").map_or("", |(_, rest)| rest);
    let names = listed
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .filter_map(|line| line.split(' ').next());
    let mut problems = Vec::new();
    for file in names.map(snake_case) {
        for stage in ["api", "wire", "engine"] {
            if !root().join(format!("crates/{stage}/src/{file}.rs")).exists() {
                problems.push(format!(
                    "crates/{stage}/src/{file}.rs: missing, though the operation is registered"
                ));
            }
        }
    }
    problems
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
