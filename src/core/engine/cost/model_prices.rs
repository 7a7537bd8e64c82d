//! Model prices in dollars per million tokens, as the makers bill them in US dollars: one list for each maker and day.
//!
//! Anthropic, 2026-10-24. Sources: Anthropic, "Pricing" and the overviews of the models
//! (platform.claude.com/docs/en/about-claude/pricing, …/docs/en/models/opus-5-5/overview and the like); for the cut of
//! Sonnet 5.5's cache reads on 2026-10-07, and that nothing else on the page had changed on the day of the list, the release
//! notes of claudit 1.9.2 (github.com/kurofune/claudit). Retired models have the last prices that were published for them.
//! Fable 5.2 and Mythos 5.2, 2026-11-10: the price page of a reseller at list prices (docs.laozhang.ai), and the release notes of
//! rightsize 0.10.2. The factors of the fast mode: Anthropic, "Fast mode", the price map of LiteLLM, and the model pages of
//! Vercel's gateway; Fable 5.2 has a fast mode whose price was not found, and so have models that lost it.
//!
//! OpenAI, 2026-11-18. Sources: the pages of the models (developers.openai.com/api/docs/models/gpt-6.2-sol and the like); for
//! GPT-6.2 Astra and GPT-6 Sol LiteLLM's announcements; for GPT-6.1 Terra the release notes of PromptFuel 1.0.24. A model whose
//! price was cut has the last one.
//!
//! Google, 2026-07-04. Sources: Google, "Gemini Developer API pricing" (ai.google.dev/gemini-api/docs/pricing) as quoted by
//! factquire.com, wowhow.cloud and modelpedia.dev: text, the paid tier. Thinking is billed as output; implicit caching writes nothing that
//! is billed.
//!
//! Not in it, for want of a source or of a use: Anthropic's models before 3.5, Sonnet 3.5, previews, the `pro` models of OpenAI,
//! models of other makers. Not followed: batches, OpenAI's other tiers, which no session file names, the surcharge for inference in
//! one country, other clouds, and what long prompts cost more with Sonnet 4 and 4.5 while that was a beta. From 4.6 on a million
//! tokens are billed as few are; Haiku 5.5 is the exception. Codex does not state what was written to the cache, so that its bills
//! have no surcharge for that.

use super::edit_cost::FIVE_MINUTES;
use crate::model::BilledTokens;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The price lists, each with its day. A name also matches its dated and marked forms (`-20251101`, `[1m]`), but no other name.
const LISTS: &[(&str, &[(&str, ModelPrice)])] =
    &[("2026-10-24", ANTHROPIC), ("2026-11-10", ANTHROPIC_SINCE), ("2026-11-18", OPENAI), ("2026-07-04", GOOGLE)];

const ANTHROPIC: &[(&str, ModelPrice)] = &[
    ("claude-fable-5", usual(10.0, 50.0, 1.0)),
    ("claude-fable-5-1", usual(10.0, 50.0, 0.25)),
    ("claude-mythos-5", usual(10.0, 50.0, 1.0)),
    ("claude-mythos-5-1", usual(10.0, 50.0, 0.25)),
    ("claude-opus-4", usual(15.0, 75.0, 1.5)),
    ("claude-opus-4-0", usual(15.0, 75.0, 1.5)),
    ("claude-opus-4-1", usual(15.0, 75.0, 1.5)),
    ("claude-opus-4-5", usual(5.0, 25.0, 0.5)),
    ("claude-opus-4-6", ModelPrice { fast: Some(6.0), ..usual(5.0, 25.0, 0.5) }),
    ("claude-opus-4-7", usual(5.0, 25.0, 0.5)),
    ("claude-opus-4-8", ModelPrice { fast: Some(2.0), ..usual(5.0, 25.0, 0.5) }),
    ("claude-opus-5", ModelPrice { fast: Some(2.0), ..usual(5.0, 25.0, 0.5) }),
    ("claude-opus-5-5", ModelPrice { fast: Some(2.0), ..usual(4.0, 20.0, 0.2) }),
    ("claude-3-7-sonnet", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4-0", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4-5", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-4-6", usual(3.0, 15.0, 0.3)),
    ("claude-sonnet-5", usual(2.0, 10.0, 0.2)),
    ("claude-sonnet-5-5", usual(2.0, 10.0, 0.1)),
    ("claude-3-5-haiku", usual(0.8, 4.0, 0.08)),
    ("claude-haiku-4-5", usual(1.0, 5.0, 0.1)),
    (
        "claude-haiku-5-5",
        ModelPrice { long_prompt: Some(LongPrompt { above: 100_000.0, times: 5.0, output_times: 5.0 }), ..usual(0.1, 0.5, 0.01) },
    ),
];

const ANTHROPIC_SINCE: &[(&str, ModelPrice)] =
    &[("claude-fable-5-2", usual(8.0, 40.0, 0.2)), ("claude-mythos-5-2", usual(8.0, 40.0, 0.2))];

const OPENAI: &[(&str, ModelPrice)] = &[
    ("codex-mini-latest", uncached(1.5, 6.0, 0.375)),
    ("gpt-5", uncached(1.25, 10.0, 0.125)),
    ("gpt-5-mini", uncached(0.25, 2.0, 0.025)),
    ("gpt-5-nano", uncached(0.05, 0.4, 0.005)),
    ("gpt-5-codex", uncached(1.25, 10.0, 0.125)),
    ("gpt-5.1", uncached(1.25, 10.0, 0.125)),
    ("gpt-5.1-codex", uncached(1.25, 10.0, 0.125)),
    ("gpt-5.1-codex-max", uncached(1.25, 10.0, 0.125)),
    ("gpt-5.1-codex-mini", uncached(0.25, 2.0, 0.025)),
    ("gpt-5.2", uncached(1.75, 14.0, 0.175)),
    ("gpt-5.2-codex", uncached(1.75, 14.0, 0.175)),
    ("gpt-5.3-codex", uncached(1.75, 14.0, 0.175)),
    ("gpt-5.4", ModelPrice { long_prompt: LONG, ..uncached(2.5, 15.0, 0.25) }),
    ("gpt-5.4-mini", uncached(0.75, 4.5, 0.075)),
    ("gpt-5.4-nano", uncached(0.2, 1.25, 0.02)),
    ("gpt-5.5", ModelPrice { long_prompt: LONG, ..uncached(5.0, 30.0, 0.5) }),
    ("gpt-5.6", cached(4.0, 20.0, 0.4)),
    ("gpt-5.6-sol", cached(4.0, 20.0, 0.4)),
    ("gpt-5.6-terra", cached(2.0, 12.0, 0.2)),
    ("gpt-5.6-luna", cached(0.2, 1.2, 0.02)),
    ("gpt-6-astra", cached(10.0, 50.0, 1.0)),
    ("gpt-6-sol", cached(2.0, 10.0, 0.2)),
    ("gpt-6-luna", cached(0.1, 0.5, 0.01)),
    ("gpt-6.1-sol", cached(2.0, 10.0, 0.1)),
    ("gpt-6.1-terra", cached(1.0, 5.0, 0.05)),
    ("gpt-6.2-astra", cached(8.0, 40.0, 0.4)),
    ("gpt-6.2-sol", cached(2.0, 10.0, 0.1)),
];

const GOOGLE: &[(&str, ModelPrice)] = &[
    ("gemini-2.5-pro", pro(1.25, 10.0, 0.125)),
    ("gemini-2.5-flash", uncached(0.3, 2.5, 0.03)),
    ("gemini-2.5-flash-lite", uncached(0.1, 0.4, 0.01)),
    ("gemini-3-pro-preview", pro(2.0, 12.0, 0.2)),
    ("gemini-3.1-pro-preview", pro(2.0, 12.0, 0.2)),
    ("gemini-3.1-pro-preview-customtools", pro(2.0, 12.0, 0.2)),
    ("gemini-3-flash-preview", uncached(0.5, 3.0, 0.05)),
    ("gemini-3.1-flash-lite", uncached(0.25, 1.5, 0.025)),
    ("gemini-3.1-flash-lite-preview", uncached(0.25, 1.5, 0.025)),
    ("gemini-3.5-flash", uncached(1.5, 9.0, 0.15)),
];

/// Dollars for a web search by Anthropic's API; OpenAI's clients do not state theirs.
pub const SEARCH_DOLLARS: f64 = 0.01;

/// OpenAI's surcharge for long prompts, for the whole request.
const LONG: Option<LongPrompt> = Some(LongPrompt { above: 272_000.0, times: 2.0, output_times: 1.5 });

/// Returns a price of Google with the surcharge for long prompts that its `pro` models have, for the whole request.
const fn pro(input: f64, output: f64, cache_read: f64) -> ModelPrice {
    let long_prompt = Some(LongPrompt { above: 200_000.0, times: 2.0, output_times: 1.5 });
    ModelPrice { long_prompt, ..uncached(input, output, cache_read) }
}

/// Returns a price of OpenAI or Google for a model whose cache writes cost what other input costs.
const fn uncached(input: f64, output: f64, cache_read: f64) -> ModelPrice {
    ModelPrice { cache_write_5m: input, cache_write_1h: input, ..usual(input, output, cache_read) }
}

/// Returns a price of OpenAI with the surcharges for cache writes and for long prompts that all its models from GPT-5.6 on have.
const fn cached(input: f64, output: f64, cache_read: f64) -> ModelPrice {
    ModelPrice { cache_write_1h: input * 1.25, long_prompt: LONG, ..usual(input, output, cache_read) }
}

/// Price ratios of a model without an entry, in parts of its input price: Anthropic's usual ratios.
pub(super) const RATIOS: ModelPrice = usual(1.0, 5.0, 0.1);

/// Returns a price with the usual ratios of cache writes to input of all Anthropic models: 1.25 and 2.
const fn usual(input: f64, output: f64, cache_read: f64) -> ModelPrice {
    ModelPrice {
        input,
        output,
        cache_read,
        cache_write_5m: input * 1.25,
        cache_write_1h: input * 2.0,
        long_prompt: None,
        fast: None,
    }
}

/// Dollars per million tokens of one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPrice {
    /// Input that is neither read from nor written to the cache.
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    /// Input that is written to the cache for five minutes.
    pub cache_write_5m: f64,
    /// Input that is written to the cache for an hour.
    pub cache_write_1h: f64,
    pub long_prompt: Option<LongPrompt>,
    pub fast: Option<f64>,
}

/// From which length on all tokens of a request cost more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongPrompt {
    /// The longest prompt at the usual price, in tokens, cached ones included.
    pub above: f64,
    /// Factor on the usual prices beyond it, except that of output.
    pub times: f64,
    /// Factor on the price of output beyond it.
    pub output_times: f64,
}

impl ModelPrice {
    /// Returns the cost of the tokens of a response in dollars, without its web searches.
    pub fn dollars(&self, tokens: &BilledTokens) -> f64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_write_5m, self.cache_write_5m),
            (tokens.cache_write_1h, self.cache_write_1h),
            (tokens.cache_read, self.cache_read),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum()
    }

    /// Returns the prices of a request with a prompt of `prompt` tokens.
    pub fn at(&self, prompt: f64) -> ModelPrice {
        match self.long_prompt.filter(|long| prompt > long.above) {
            Some(long) => ModelPrice { output: self.output * long.output_times, ..self.times(long.times) },
            None => *self,
        }
    }

    /// Returns the price of input that is written to the cache for a lifetime in milliseconds.
    pub fn cache_write(&self, lifetime: i64) -> f64 {
        if lifetime > FIVE_MINUTES { self.cache_write_1h } else { self.cache_write_5m }
    }

    /// Returns the cost of a response in dollars; `None` if it answered in the fast mode and no price of that is known.
    pub fn bill(&self, tokens: &BilledTokens, fast: bool) -> Option<f64> {
        let price = self.at(tokens.sent() as f64);
        Some(if fast { price.fast()? } else { price }.dollars(tokens))
    }

    /// Returns the prices of the fast mode; `None` if none are known.
    fn fast(&self) -> Option<ModelPrice> {
        self.fast.map(|factor| self.times(factor))
    }

    fn times(&self, factor: f64) -> ModelPrice {
        ModelPrice {
            input: self.input * factor,
            output: self.output * factor,
            cache_read: self.cache_read * factor,
            cache_write_5m: self.cache_write_5m * factor,
            cache_write_1h: self.cache_write_1h * factor,
            ..*self
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
            ..scaled
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
                (Some((_, usual)), _) => *usual,
                (None, PriceSetting::Table(PriceTable { input: None, .. })) => continue,
                (None, _) => RATIOS,
            };
            self.chosen.push((name.clone(), setting.over(&usual)));
        }
        self
    }

    /// The prices of a model: those that the user set for the longest beginning of its name, or those of the table.
    pub fn for_model(&self, model: &str) -> Option<&ModelPrice> {
        self.chosen(model).or_else(|| built_in(model).map(|(_, price)| price))
    }

    /// The day of the prices of a model if they are those of a built-in list.
    pub fn dated(&self, model: &str) -> Option<&'static str> {
        if self.chosen(model).is_some() { None } else { built_in(model).map(|(date, _)| date) }
    }

    fn chosen(&self, model: &str) -> Option<&ModelPrice> {
        let fitting = self.chosen.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
    }
}

fn built_in(model: &str) -> Option<(&'static str, &'static ModelPrice)> {
    let all = LISTS.iter().flat_map(|(date, list)| list.iter().map(move |(name, price)| (name, *date, price)));
    let fitting = all.filter(|(name, ..)| model.strip_prefix(*name).is_some_and(is_mark));
    fitting.max_by_key(|(name, ..)| name.len()).map(|(_, date, price)| (date, price))
}

/// Returns true if the text after a model name leaves the model the same: a date, `-latest`, `-v1:0`, or a mark that begins with a
/// sign, such as `[1m]`. Further words and numbers name another model: its price would be a guess.
fn is_mark(rest: &str) -> bool {
    let date = |text: &str| {
        let digits: String = text.chars().take(10).filter(|sign| *sign != '-').collect();
        digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let version =
        |text: &str| text.strip_prefix('v').is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()));
    match rest.strip_prefix('-') {
        Some(rest) => rest == "latest" || date(rest) || version(rest),
        None => rest.is_empty() || rest.starts_with(['[', '@', ':']),
    }
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
        check("claude-opus-5-fast", None);
        check("qwen3:8b", None);
        check("", None);
        check("claude-fable-5-2", Some(8.0));
        check("gpt-5", Some(1.25));
        check("gpt-5-2025-08-07", Some(1.25));
        check("gpt-5-mini", Some(0.25));
        check("gpt-5-mini-2025-08-07", Some(0.25));
        check("gpt-5-codex", Some(1.25));
        check("gpt-5.1-codex-mini", Some(0.25));
        check("gpt-5.6", Some(4.0));
        check("gpt-6.2-astra", Some(8.0));
        check("gpt-5-pro", None);
        check("gpt-5-codex-mini", None);
        check("gpt-5.40", None);
        check("gpt-5.7", None);
        check("gpt-50", None);
        check("gemini-2.5-flash-lite", Some(0.1));
        check("gemini-3.1-pro-preview", Some(2.0));
        check("gemini-3.5-pro", None);
    }

    #[test]
    fn the_lists_are_consistent() {
        let all: Vec<_> = LISTS.iter().flat_map(|(_, list)| *list).collect();
        for (at, (name, price)) in all.iter().enumerate() {
            let writes = (price.cache_write_5m, price.cache_write_1h);
            assert!(price.cache_read < price.input && price.input <= writes.0, "{name}");
            assert!(writes.0 <= writes.1 && writes.1 < price.output, "{name}");
            assert!(all[..at].iter().all(|(other, _)| other != name), "{name} stands there twice");
            // The ratios that all prices of a maker have.
            let ratios = (writes.0 / price.input, writes.1 / price.input);
            let expected = if name.starts_with("claude") {
                (1.25, 2.0)
            } else if writes.0 > price.input {
                (1.25, 1.25)
            } else {
                (1.0, 1.0)
            };
            assert!((ratios.0 - expected.0).abs() + (ratios.1 - expected.1).abs() < 1e-9, "{name}: {ratios:?}");
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
        check("gpt-6.2-sol", 272_000.0, 0.1);
        check("gpt-6.2-sol", 272_001.0, 0.2);
        check("gemini-2.5-pro", 200_001.0, 0.25);
        let long = Prices::default().for_model("gpt-6.2-sol").unwrap().at(300_000.0);
        assert_eq!((long.input, long.output, long.cache_write_5m), (4.0, 15.0, 5.0));
        let fast = Prices::default().for_model("claude-opus-5-5").and_then(ModelPrice::fast).unwrap();
        assert_eq!((fast.input, fast.output, fast.cache_read), (8.0, 40.0, 0.4));
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
        assert_eq!(Prices::default().dated("claude-opus-5"), Some("2026-10-24"));
        assert_eq!(Prices::default().dated("gpt-5.6-sol"), Some("2026-11-18"));
    }

    #[test]
    fn unset_prices_follow_from_the_built_in_entry() {
        let prices = settings("claude-opus-5-5 = 8\nclaude-opus-5 = { cache_read = 0.25 }\nllama = { output = 1 }");
        assert_eq!(prices.for_model("claude-opus-5-5"), Some(&ModelPrice { fast: Some(2.0), ..usual(8.0, 40.0, 0.4) }));
        assert_eq!(prices.for_model("claude-opus-5-20260724"), Some(&ModelPrice { fast: Some(2.0), ..usual(5.0, 25.0, 0.25) }));
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
