//! Prices, from one dated file.

use toml_edit::Document;

/// The price file that is built in.
pub const DEFAULT_PRICES: &str = include_str!("prices.toml");

/// Prices of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// The date of the prices: `2024-11-01`.
    pub date: String,
    /// The region.
    pub region: String,
    /// The currency.
    pub currency: String,
    /// Price of a million write units on demand.
    pub million_writes: f64,
    /// Price of a million read units on demand.
    pub million_reads: f64,
    /// Price of a provisioned write unit for an hour.
    pub write_hour: f64,
    /// Price of a provisioned read unit for an hour.
    pub read_hour: f64,
    /// The target utilisation of auto scaling: the share of the provisioned capacity that is used.
    pub utilisation: f64,
    /// Price of a stored gigabyte for a month.
    pub gigabyte: f64,
    /// Gigabytes that are free of charge.
    pub free_gigabytes: f64,
}

impl Prices {
    /// Parses a price file.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is not TOML or a price is missing.
    pub fn parse(text: &str) -> Result<Prices, String> {
        let document = Document::parse(text).map_err(|error| error.message().to_owned())?;
        let root = document.as_table();
        let word = |key: &str| {
            let found = root.get(key).and_then(|item| item.as_str());
            found.map(str::to_owned).ok_or_else(|| format!("the price file lacks `{key}`"))
        };
        let number = |table: &str, key: &str| {
            let item = root.get(table).and_then(|table| table.get(key));
            let number =
                item.and_then(|item| item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64)));
            number.ok_or_else(|| format!("the price file lacks `{table}.{key}`"))
        };
        Ok(Prices {
            date: word("date")?,
            region: word("region")?,
            currency: word("currency")?,
            million_writes: number("on_demand", "million_write_units")?,
            million_reads: number("on_demand", "million_read_units")?,
            write_hour: number("provisioned", "write_unit_hour")?,
            read_hour: number("provisioned", "read_unit_hour")?,
            utilisation: number("provisioned", "utilisation")?.clamp(0.01, 1.0),
            gigabyte: number("storage", "gigabyte_month")?,
            // Optional.
            free_gigabytes: number("storage", "free_gigabytes").unwrap_or_default(),
        })
    }

    /// Returns the months between the date of the prices and `today` (`2026-04-05`), if both are dates.
    pub fn age_in_months(&self, today: &str) -> Option<i64> {
        let months = |date: &str| -> Option<i64> {
            let year: i64 = date.get(..4)?.parse().ok()?;
            let month: i64 = date.get(5..7)?.parse().ok()?;
            Some(year * 12 + month)
        };
        Some(months(today)? - months(&self.date)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_prices_are_dated() {
        let prices = Prices::parse(DEFAULT_PRICES).unwrap();
        assert_eq!(prices.date.len(), 10);
        assert_eq!(prices.age_in_months("2026-04-05"), Some(17));
        assert!(Prices::parse("date = \"2024-01-01\"").unwrap_err().contains("region"));
    }
}
