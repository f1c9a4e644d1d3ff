//! Two numbers, one per line: printing and parsing are inverse, and keys, order, sums and differences agree.

use partita_value::{Number, ValueRef, ordered_key};

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut numbers = text.lines().filter_map(|line| Number::parse(line).ok());
    let Some(first) = numbers.next() else { return };
    let second = numbers.next().unwrap_or(Number::ZERO);
    for number in [first, second, first.negate()] {
        assert_eq!(Number::parse(&number.to_string()), Ok(number));
    }
    assert_eq!(key(&first).cmp(&key(&second)), first.cmp(&second));
    assert_eq!(first.add(&second), second.add(&first));
    if let Ok(sum) = first.add(&second) {
        assert_eq!(sum.subtract(&second), Ok(first));
        assert_eq!(sum.cmp(&first), second.cmp(&Number::ZERO));
    }
}

fn key(number: &Number) -> Vec<u8> {
    let mut key = Vec::new();
    ordered_key::write(ValueRef::N(number.to_string().as_bytes()), &mut key);
    key
}
