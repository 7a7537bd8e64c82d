//! Model prices in dollars per million tokens.
//!
//! The table is of 2026-10-24 and in US dollars as Anthropic bills them. Sources: Anthropic, "Pricing" and the overviews of the
//! models (platform.claude.com/docs/en/about-claude/pricing, …/docs/en/models/opus-5-5/overview and the like); for the cut of
//! Sonnet 5.5's cache reads on 2026-10-07, and that nothing else on the page had changed on the day of the table, the release
//! notes of claudit 1.9.2 (github.com/kurofune/claudit). Retired models have the last prices that were published for them.
//!
//! Not in it, for want of a source or of a use: models before 3.5, Sonnet 3.5, previews, models of other makers. Not followed:
//! the fast mode, batches, the surcharge for inference in one country, other clouds, and what long prompts cost more with
//! Sonnet 4 and 4.5 while that was a beta. From 4.6 on a million tokens are billed as few are; Haiku 5.5 is the exception.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The day of the table, as `2026-10-24`.
const DATE: &str = "2026-10-24";

/// The price table. A name also matches its dated and marked forms (`-20251101`, `[1m]`), but not other versions.
const TABLE: &[(&str, ModelPrice)] = &[
    ("claude-fable-5", usual(10.0, 50.0, 1.0)),
    ("claude-fable-5-1", usual(10.0, 50.0, 0.25)),
    ("claude-mythos-5", usual(10.0, 50.0, 1.0)),
    ("claude-mythos-5-1", usual(10.0, 50.0, 0.25)),
    ("claude-opus-4", usual(15.0, 75.0, 1.5)),
    ("claude-opus-4-0", usual(15.0, 75.0, 1.5)),
    ("claude-opus-4-1", usual(15.0, 75.0, 1.5)),
    ("claude-opus-4-5", usual(5.0, 25.0, 0.5)),
    ("claude-opus-4-6", usual(5.0, 25.0, 0.5)),
    ("claude-opus-4-7", usual(5.0, 25.0, 0.5)),
    ("claude-opus-4-8", usual(5.0, 25.0, 0.5)),
    ("claude-opus-5", usual(5.0, 25.0, 0.5)),
    ("claude-opus-5-5", usual(4.0, 20.0, 0.2)),
    ("claude-3-7-sonnet", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4-0", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4-5", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4-6", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-5", usual(2.0, 10.0, 0.2)),
    ("claude-sonnet-5-5", usual(2.0, 10.0, 0.1)),
    ("claude-3-5-haiku", usual(0.8, 4.0, 0.08)),
    ("claude-haiku-4-5", usual(1.0, 5.0, 0.1)),
    ("claude-haiku-5-5", ModelPrice { long_prompt: Some(LongPrompt { above: 100_000.0, times: 5.0 }), ..usual(0.1, 0.5, 0.01) }),
];

/// Price ratios of a model without an entry, in parts of its input price: Anthropic's usual ratios.
pub(super) const RATIOS: ModelPrice = usual(1.0, 5.0, 0.1);

/// Returns a price with the usual ratios of cache writes to input of all Anthropic models: 1.25 and 2.
const fn usual(input: f64, output: f64, cache_read: f64) -> ModelPrice {
    ModelPrice { input, output, cache_read, cache_write_5m: input * 1.25, cache_write_1h: input * 2.0, long_prompt: None }
}

/// Dollars per million tokens of one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPrice {
    /// Input that is neither read from nor written to the cache.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input that is read from the cache.
    pub cache_read: f64,
    /// Input that is written to the cache for five minutes.
    pub cache_write_5m: f64,
    /// Input that is written to the cache for an hour.
    pub cache_write_1h: f64,
    /// Surcharge for long prompts, if there is one.
    pub long_prompt: Option<LongPrompt>,
}

/// From which length on all tokens of a request cost more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongPrompt {
    /// The longest prompt at the usual price, in tokens, cached ones included.
    pub above: f64,
    /// Factor on the usual price beyond it.
    pub times: f64,
}

impl ModelPrice {
    /// Returns the prices of a request with a prompt of `prompt` tokens.
    pub fn at(&self, prompt: f64) -> ModelPrice {
        self.times(self.long_prompt.filter(|long| prompt > long.above).map_or(1.0, |long| long.times))
    }

    fn times(&self, factor: f64) -> ModelPrice {
        ModelPrice {
            input: self.input * factor,
            output: self.output * factor,
            cache_read: self.cache_read * factor,
            cache_write_5m: self.cache_write_5m * factor,
            cache_write_1h: self.cache_write_1h * factor,
            long_prompt: self.long_prompt,
        }
    }
}

/// The highest price that a settings file may name, in dollars per million tokens.
const HIGHEST: f64 = 1e6;

/// Dollars per million tokens in a settings file: a number from 0 to `HIGHEST`. Sums of larger ones would not be numbers.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Dollars(f64);

impl TryFrom<f64> for Dollars {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Dollars, &'static str> {
        if (0.0..=HIGHEST).contains(&value) { Ok(Dollars(value)) } else { Err("a price is a number from 0 to 1,000,000") }
    }
}

/// Price of one model in a settings file: its input price, or several prices.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a price is a number from 0 to 1,000,000, or a table of input, output, cache_read, cache_write_5m, cache_write_1h"
)]
pub enum PriceSetting {
    /// The input price; the others follow from it.
    Input(Dollars),
    /// Some of the prices; the others follow from the input price.
    Table(PriceTable),
}

/// Prices of one model in a settings file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    input: Option<Dollars>,
    output: Option<Dollars>,
    cache_read: Option<Dollars>,
    cache_write_5m: Option<Dollars>,
    cache_write_1h: Option<Dollars>,
}

impl PriceSetting {
    /// Returns the prices; missing prices have the same ratio to the input price as in `usual`.
    fn over(&self, usual: &ModelPrice) -> ModelPrice {
        let table = match *self {
            PriceSetting::Input(input) => PriceTable { input: Some(input), ..PriceTable::default() },
            PriceSetting::Table(table) => table,
        };
        let scaled = table.input.map_or(*usual, |input| usual.times(input.0 / usual.input));
        let chosen = |setting: Option<Dollars>, usual: f64| setting.map_or(usual, |dollars| dollars.0);
        ModelPrice {
            input: chosen(table.input, scaled.input),
            output: chosen(table.output, scaled.output),
            cache_read: chosen(table.cache_read, scaled.cache_read),
            cache_write_5m: chosen(table.cache_write_5m, scaled.cache_write_5m),
            cache_write_1h: chosen(table.cache_write_1h, scaled.cache_write_1h),
            long_prompt: scaled.long_prompt,
        }
    }
}

/// Prices by model name: the built-in table, and the user's settings.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    chosen: Vec<(String, ModelPrice)>,
}

impl Prices {
    /// Returns the prices with overrides, by prefix of the model name.
    ///
    /// A missing price is derived from the input price as in the built-in entry of that name, or else by the usual ratios. An
    /// override without `input` for a name that is not in the built-in table is incomplete and is ignored.
    pub fn with(mut self, overrides: &BTreeMap<String, PriceSetting>) -> Prices {
        for (name, setting) in overrides {
            let usual = match (built_in(name), setting) {
                (Some(usual), _) => *usual,
                (None, PriceSetting::Table(PriceTable { input: None, .. })) => continue,
                (None, _) => RATIOS,
            };
            self.chosen.push((name.clone(), setting.over(&usual)));
        }
        self
    }

    /// The prices of a model: those that the user set for the longest beginning of its name, or those of the table.
    pub fn for_model(&self, model: &str) -> Option<&ModelPrice> {
        self.chosen(model).or_else(|| built_in(model))
    }

    /// The day of the prices of a model if they are those of the table.
    pub fn dated(&self, model: &str) -> Option<&'static str> {
        if self.chosen(model).is_some() { None } else { built_in(model).map(|_| DATE) }
    }

    fn chosen(&self, model: &str) -> Option<&ModelPrice> {
        let fitting = self.chosen.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
    }
}

fn built_in(model: &str) -> Option<&'static ModelPrice> {
    let fitting = TABLE.iter().filter(|(name, _)| model.strip_prefix(name).is_some_and(|rest| !is_another_version(rest)));
    fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
}

/// Returns true if the text after a model name makes it another model: `-6` and `0` do, `-20251101`, `-latest` and `[1m]` do not.
///
/// New versions had new prices, so the price of the previous version would be a guess.
fn is_another_version(rest: &str) -> bool {
    let digits = rest.strip_prefix('-').unwrap_or(rest).bytes().take_while(u8::is_ascii_digit).count();
    (1..8).contains(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(toml: &str) -> Prices {
        Prices::default().with(&toml::from_str(toml).unwrap())
    }

    #[test]
    fn models_by_the_longest_name_that_fits() {
        let check = |model: &str, input: Option<f64>| {
            assert_eq!(Prices::default().for_model(model).map(|price| price.input), input, "{model}");
        };
        check("claude-opus-4-20250514", Some(15.0));
        check("claude-opus-4-1-20250805", Some(15.0));
        check("claude-opus-4-5-20251101", Some(5.0));
        check("claude-opus-5", Some(5.0));
        check("claude-opus-5[1m]", Some(5.0));
        check("claude-opus-5-5[1m]", Some(4.0));
        check("claude-3-5-haiku-latest", Some(0.8));
        check("claude-sonnet-4-5@20250929", Some(3.0));
        // Versions that the table does not have are not guessed.
        check("claude-opus-5-6", None);
        check("claude-opus-4-10", None);
        check("claude-opus-50", None);
        check("claude-", None);
        check("qwen3:8b", None);
        check("", None);
    }

    #[test]
    fn the_table_is_consistent() {
        for (at, (name, price)) in TABLE.iter().enumerate() {
            assert!(price.cache_read < price.input && price.input < price.cache_write_5m, "{name}");
            assert!(price.cache_write_5m < price.cache_write_1h && price.cache_write_1h < price.output, "{name}");
            assert!(TABLE[..at].iter().all(|(other, _)| other != name), "{name} stands there twice");
        }
        let opus = Prices::default().for_model("claude-opus-4-7").copied().unwrap();
        assert_eq!((opus.cache_write_5m, opus.cache_write_1h), (6.25, 10.0));
    }

    #[test]
    fn long_prompts_cost_more_where_they_do() {
        let check = |model: &str, prompt: f64, read: f64| {
            let price = Prices::default().for_model(model).unwrap().at(prompt);
            assert!((price.cache_read - read).abs() < 1e-12, "{model} {prompt}: {}", price.cache_read);
        };
        check("claude-haiku-5-5", 100_000.0, 0.01);
        check("claude-haiku-5-5", 100_001.0, 0.05);
        check("claude-opus-5", 900_000.0, 0.5);
    }

    #[test]
    fn settings_win_and_the_longest_name_wins_among_them() {
        let prices = settings("claude = 7\nclaude-opus = { input = 8, cache_read = 0 }\nqwen = 0.5");
        let check = |model: &str, input: f64, read: f64, write: f64| {
            let price = prices.for_model(model).unwrap();
            assert_eq!((price.input, price.cache_read, price.cache_write_5m), (input, read, write), "{model}");
            assert_eq!(prices.dated(model), None, "{model}");
        };
        check("claude-sonnet-5", 7.0, 0.7000000000000001, 8.75);
        check("claude-opus-5", 8.0, 0.0, 10.0);
        check("qwen3:8b", 0.5, 0.05, 0.625);
        assert_eq!(Prices::default().dated("claude-opus-5"), Some(DATE));
    }

    #[test]
    fn what_is_not_set_follows_from_the_entry_of_that_name() {
        let prices = settings("claude-opus-5-5 = 8\nclaude-opus-5 = { cache_read = 0.25 }\nllama = { output = 1 }");
        assert_eq!(prices.for_model("claude-opus-5-5"), Some(&usual(8.0, 40.0, 0.4)));
        assert_eq!(prices.for_model("claude-opus-5-20260724"), Some(&usual(5.0, 25.0, 0.25)));
        assert_eq!(prices.for_model("llama"), None);
    }

    #[test]
    fn an_invalid_price_is_an_error() {
        let check = |toml: &str| {
            let error = toml::from_str::<BTreeMap<String, PriceSetting>>(toml).unwrap_err();
            assert!(error.to_string().contains("a price is a number from 0 to 1,000,000"), "{error}");
        };
        check("claude = -1");
        // Sums of such prices are not numbers.
        check("claude = 1e308");
        check("claude = nan");
        check("claude = \"5\"");
        check("claude = { input = inf }");
        check("claude = { inputs = 5 }");
    }
}
