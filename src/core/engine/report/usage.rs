//! Adds up bills: each response once, by day, week, month, session, project or model.

use crate::engine::cost::model_prices::{ModelPrice, Prices, SEARCH_DOLLARS};
use crate::model::{As, BilledTokens, Estimated, FileUsage, Lineage, Measured, ResponseUsage, TokenCount, json_forms, words};
use crate::text::lists::index_in;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// One session file and its bills.
#[derive(Clone, Copy, Debug)]
pub struct BilledFile<'a> {
    /// Id of the session; of a subagent, that of the session that started it.
    pub session: &'a str,
    pub usage: &'a FileUsage,
    /// Changes of its window by aperture, in order: the time, and the tokens that the model no longer receives.
    pub changes: &'a [(i64, f64)],
}

/// The session of a session file, by which its sums are grouped and selected.
#[derive(Clone, Debug)]
pub struct UsageSource<'a> {
    /// Id of the session; of a subagent, that of the session that started it.
    pub session: &'a str,
    pub title: &'a str,
    pub project: &'a str,
    /// True if the session was selected. The responses of the others are read too, because they can be copies.
    pub selected: bool,
}

/// The sums of all responses, by file, day and model: every group is made of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageSums {
    models: Vec<String>,
    sums: Vec<UsageSum>,
}

/// The sum of the responses of one model in one file on one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct UsageSum {
    /// The indexes of the file and the model.
    file: u32,
    model: u32,
    /// Year, month and day in the local time zone.
    day: (i16, i8, i8),
    responses: u64,
    tokens: BilledTokens,
    searches: u64,
    dollars: f64,
    unpriced_tokens: u64,
    saved: f64,
    copied_responses: u64,
    copied_tokens: u64,
    impossible: u64,
    /// The responses whose output is estimated.
    estimated: u64,
    /// True if the cost of a response is unknown.
    is_unpriced: bool,
}

words! {
    /// The property of the groups of responses.
    pub enum UsageGroup {
        /// Day in the local time zone.
        Day = "day",
        /// ISO week, from Monday on, in the local time zone.
        Week = "week",
        /// Month in the local time zone.
        Month = "month",
        /// Session, its subagents included.
        Session = "session",
        /// Project.
        Project = "project",
        /// Model.
        Model = "model",
    }
}

/// Selects responses.
#[derive(Clone, Debug, Default)]
pub struct UsageFilter {
    /// The first day.
    pub since: Option<Date>,
    /// The last day.
    pub until: Option<Date>,
    pub model: Option<String>,
}

/// The tokens of a group of responses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupTokens {
    pub billed: BilledTokens,
    /// The responses whose output is estimated.
    pub estimated: u64,
}

impl GroupTokens {
    fn with_output(&self, value: u64) -> TokenCount {
        TokenCount::billed(value, self.estimated > 0)
    }
}

json_forms! {
    /// The tokens of a group of responses.
    UsageTokens of tokens: GroupTokens {
        /// Input tokens that were neither read from nor written to the cache.
        input_tokens: Measured = Measured::json_of(&tokens.billed.input),
        output_tokens: TokenCount = tokens.with_output(tokens.billed.output),
        /// Input tokens that were written to the cache.
        cache_write_tokens: Measured = Measured::json_of(&tokens.billed.cache_written()),
        /// Input tokens that were read from the cache.
        cache_read_tokens: Measured = Measured::json_of(&tokens.billed.cache_read),
        total_tokens: TokenCount = tokens.with_output(tokens.billed.total()),
        /// Responses whose session file records only the start of the output. It is estimated from their content, and so are the sums
        /// with it, and the cost.
        estimated_responses: u64 = tokens.estimated,
    }
}

/// The sum of a group of responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageRow {
    /// Day such as `2026-11-21`, ISO week such as `2026-W47`, month such as `2026-11`, session id, project or model.
    pub name: String,
    /// Title of a session; otherwise empty.
    pub title: String,
    /// Number of responses of models.
    pub responses: u64,
    #[serde(flatten, with = "As::<UsageTokens>")]
    pub tokens: GroupTokens,
    /// Web searches that the API bills beside the tokens.
    pub web_searches: u64,
    /// Cost: the one stated in a session file, or else by the price of the model, with web searches.
    #[schemars(extend("unit" = "dollars"))]
    pub dollars: f64,
    /// Tokens of responses whose cost is unknown; `dollars` does not contain it.
    pub unpriced_tokens: TokenCount,
    /// Tokens that requests did not contain because of aperture, by the operation log.
    #[serde(with = "As::<Estimated>")]
    pub saved_tokens: f64,
}

impl UsageRow {
    fn add(&mut self, sum: &UsageSum) {
        self.responses += sum.responses;
        self.tokens.billed.add(&sum.tokens);
        self.tokens.estimated += sum.estimated;
        self.web_searches = self.web_searches.saturating_add(sum.searches);
        self.dollars += sum.dollars;
        let of_sum = GroupTokens { billed: sum.tokens, estimated: sum.estimated };
        self.unpriced_tokens = self.unpriced_tokens + of_sum.with_output(sum.unpriced_tokens);
        self.saved_tokens += sum.saved;
    }
}

/// The bills of the selected responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageTable {
    /// Groups: days, weeks and months in order, others by cost, the largest first.
    pub rows: Vec<UsageRow>,
    /// Sum of all groups; its name is empty.
    pub total: UsageRow,
    /// Models whose price is unknown.
    pub unpriced_models: Vec<String>,
    #[serde(flatten)]
    pub copies: Copies,
    /// Counted responses with more input or output than any window of the model holds.
    pub impossible_responses: u64,
}

/// Copies of responses, as resumed and forked sessions contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Copies {
    /// Copies of counted responses in further files of resumed and forked sessions; they do not count.
    pub copied_responses: u64,
    /// Tokens of these copies.
    #[serde(with = "As::<Measured>")]
    pub copied_tokens: u64,
}

/// Adds up the bills of session files. A response that several files contain counts once, with the most tokens that a file has for
/// it, and belongs to the file whose first response is the oldest.
pub fn usage_sums(files: &[BilledFile<'_>], zone: &TimeZone, prices: &Prices) -> UsageSums {
    let mut sums: Vec<UsageSum> = Vec::new();
    let mut places = FxHashMap::<(u32, u32, Date), usize>::default();
    let mut day_of = days(zone);
    let (responses, models) = distinct(files);
    let known: Vec<Option<&ModelPrice>> = models.iter().map(|name| prices.for_model(name)).collect();
    // Most responses are in the sum of the one before.
    let mut last = None;
    for counted in &responses {
        let (price, response) = (known[counted.model as usize], counted.response());
        let property = (counted.file, counted.model, day_of(response.time));
        let mut find = || {
            *places.entry(property).or_insert_with(|| {
                let (file, model, day) = property;
                sums.push(UsageSum { file, model, day: (day.year(), day.month(), day.day()), ..UsageSum::default() });
                sums.len() - 1
            })
        };
        let (_, place) = *last.insert(last.filter(|(last, _)| *last == property).unwrap_or_else(|| (property, find())));
        let (sum, copies) = (&mut sums[place], u64::from(counted.copies));
        let (tokens, is_estimated) = response.settled();
        sum.responses += 1;
        sum.estimated += u64::from(is_estimated);
        sum.tokens.add(&tokens);
        sum.searches = sum.searches.saturating_add(response.searches);
        match response.dollars.or_else(|| cost(response, &tokens, price?)) {
            Some(dollars) => sum.dollars += dollars,
            None => {
                sum.is_unpriced = true;
                sum.unpriced_tokens = sum.unpriced_tokens.saturating_add(tokens.total());
            }
        }
        sum.saved += saved(&files[counted.file as usize], response);
        sum.impossible += u64::from(response.is_impossible);
        sum.copied_responses += copies;
        sum.copied_tokens = sum.copied_tokens.saturating_add(response.tokens.total().saturating_mul(copies));
    }
    UsageSums { models: models.into_iter().map(str::to_owned).collect(), sums }
}

/// Groups the sums of the session files of `sources`, which are in the same order.
pub fn usage(sums: &UsageSums, sources: &[UsageSource<'_>], group: UsageGroup, filter: &UsageFilter) -> UsageTable {
    let mut table = UsageTable::default();
    let mut rows: BTreeMap<String, UsageRow> = BTreeMap::new();
    for sum in &sums.sums {
        let (source, model) = (&sources[sum.file as usize], &sums.models[sum.model as usize]);
        let (year, month, day) = sum.day;
        let day = Date::new(year, month, day).unwrap_or_default();
        let wanted = source.selected
            && filter.since.is_none_or(|since| day >= since)
            && filter.until.is_none_or(|until| day <= until)
            && filter.model.as_ref().is_none_or(|part| model.contains(part.as_str()));
        if !wanted {
            continue;
        }
        if sum.is_unpriced && !table.unpriced_models.contains(model) {
            table.unpriced_models.push(model.clone());
        }
        let name = match group {
            UsageGroup::Day => day.to_string(),
            UsageGroup::Week => {
                let week = day.iso_week_date();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            UsageGroup::Month => day.strftime("%Y-%m").to_string(),
            UsageGroup::Session => source.session.to_owned(),
            UsageGroup::Project => source.project.to_owned(),
            UsageGroup::Model => model.clone(),
        };
        let row = rows.entry(name).or_default();
        if group == UsageGroup::Session && row.title.is_empty() {
            row.title = source.title.to_owned();
        }
        row.add(sum);
        table.total.add(sum);
        table.impossible_responses += sum.impossible;
        table.copies.copied_responses += sum.copied_responses;
        table.copies.copied_tokens = table.copies.copied_tokens.saturating_add(sum.copied_tokens);
    }
    table.unpriced_models.sort();
    table.rows = rows.into_iter().map(|(name, row)| UsageRow { name, ..row }).collect();
    if !matches!(group, UsageGroup::Day | UsageGroup::Week | UsageGroup::Month) {
        table.rows.sort_by(|a, b| b.dollars.total_cmp(&a.dollars).then(b.tokens.billed.total().cmp(&a.tokens.billed.total())));
    }
    table
}

/// Returns a function that gives the day of a time. The zone is asked once for several times of the same day in a row.
fn days(zone: &TimeZone) -> impl FnMut(i64) -> Date {
    let mut last: Option<(Range<i64>, Date)> = None;
    move |time| match &last {
        Some((range, day)) if range.contains(&time) => *day,
        _ => {
            let moment = jiff::Timestamp::from_millisecond(time).unwrap_or_default().to_zoned(zone.clone());
            let starts = || Some((moment.start_of_day().ok()?, moment.tomorrow().ok()?.start_of_day().ok()?));
            let range = |(from, to): (Zoned, Zoned)| from.timestamp().as_millisecond()..to.timestamp().as_millisecond();
            last = starts().map(range).map(|range| (range, moment.date()));
            moment.date()
        }
    }
}

struct Counted<'a> {
    file: u32,
    first: &'a ResponseUsage,
    /// Its figures with those of its copies, if it has any.
    joined: Option<Box<ResponseUsage>>,
    /// The index of its model among those of all files.
    model: u32,
    copies: u32,
}

impl Counted<'_> {
    fn response(&self) -> &ResponseUsage {
        self.joined.as_deref().unwrap_or(self.first)
    }
}

/// Returns each response once, and the models of all.
fn distinct<'a>(files: &[BilledFile<'a>]) -> (Vec<Counted<'a>>, Vec<&'a str>) {
    let mut order: Vec<(u32, &BilledFile<'a>)> = (0..).zip(files).collect();
    // A fork begins with the responses of its parent, and mostly ends later.
    let time = |response: Option<&ResponseUsage>| response.map(|response| response.time);
    order.sort_by_key(|(_, file)| {
        let responses = &file.usage.responses;
        (time(responses.first()), file.usage.is_fork, time(responses.last()), file.session)
    });
    let most = files.iter().map(|file| file.usage.responses.len()).sum();
    let mut places: FxHashMap<u64, u32> = FxHashMap::with_capacity_and_hasher(most, FxBuildHasher);
    let mut responses: Vec<Counted<'_>> = Vec::with_capacity(most);
    let families = Families::new(files);
    // A response of a damaged file can have an index without a model.
    let mut models = vec![""];
    for (file, BilledFile { usage, .. }) in order {
        let mut inherits = true;
        let indexes: Vec<u32> = usage.models.iter().map(|model| index_in(&mut models, model)).collect();
        for response in &usage.responses {
            let model = indexes.get(response.model as usize).copied().unwrap_or_default();
            // The session that made it is a part of the identity, as another hash.
            let mut made_by = |key| usage.lineage.map_or(0, |lineage| families.made_by(lineage, key, &mut inherits));
            let fresh = responses.len() as u32;
            match response.key.map(|key| *places.entry(key ^ made_by(key)).or_insert(fresh)) {
                Some(place) if place < fresh => {
                    let counted = &mut responses[place as usize];
                    counted.copies += 1;
                    let before = counted.response().tokens;
                    let replaces = response.tokens.sent() > before.sent();
                    let is_larger = replaces || response.tokens.total() > before.total();
                    counted.joined.get_or_insert_with(|| Box::new(*counted.first)).join(response, replaces);
                    if is_larger {
                        counted.model = model;
                    }
                }
                _ => responses.push(Counted { file, first: response, joined: None, model, copies: 0 }),
            }
        }
    }
    (responses, models)
}

/// The sessions that are forks of others, and the identities of the responses in the file of each.
struct Families {
    sessions: FxHashMap<u64, (Lineage, FxHashSet<u64>)>,
}

impl Families {
    fn new(files: &[BilledFile<'_>]) -> Families {
        let mut sessions: FxHashMap<u64, (Lineage, FxHashSet<u64>)> = FxHashMap::default();
        for (usage, lineage) in files.iter().filter_map(|file| Some((file.usage, file.usage.lineage?))) {
            let (_, keys) = sessions.entry(lineage.session).or_insert((lineage, FxHashSet::default()));
            keys.extend(usage.responses.iter().filter_map(|response| response.key));
        }
        Families { sessions }
    }

    /// Returns the session that a response was made in. The first responses of a fork are those of its parent, as long as `inherits`
    /// holds: two forks can have equal figures in responses of their own. Without the file of the parent, it is the oldest session
    /// that the file names.
    fn made_by(&self, of: Lineage, key: u64, inherits: &mut bool) -> u64 {
        let mut lineage = of;
        // A chain is not longer than all files; one that is damaged can be a ring.
        for _ in 0..self.sessions.len() {
            if lineage.parent == lineage.session {
                break;
            }
            match self.sessions.get(&lineage.parent) {
                Some((parent, keys)) if *inherits && keys.contains(&key) => lineage = *parent,
                Some(_) => break,
                None => return lineage.origin,
            }
        }
        *inherits &= lineage != of;
        lineage.session
    }
}

/// Returns the cost of a response in dollars; `None` if the model has no known price, or none for the fast mode in which it
/// answered.
fn cost(response: &ResponseUsage, tokens: &BilledTokens, price: &ModelPrice) -> Option<f64> {
    Some(price.bill(tokens, response.fast)? + response.searches as f64 * SEARCH_DOLLARS)
}

/// Returns the tokens that the request of a response did not contain because of changes by aperture. A compaction by the client ends
/// the effect of the changes before it, because it would have removed the content as well.
fn saved(file: &BilledFile<'_>, response: &ResponseUsage) -> f64 {
    if file.changes.is_empty() {
        return 0.0;
    }
    let compacted = file.usage.compactions.iter().filter(|time| **time < response.time).max();
    let since = |time: i64| time <= response.time && compacted.is_none_or(|compacted| time > *compacted);
    file.changes.iter().filter(|(time, _)| since(*time)).map(|(_, saved)| saved).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::DAY_MILLISECONDS;

    fn response(key: Option<u64>, time: i64, output: u64) -> ResponseUsage {
        let tokens = BilledTokens { input: 10, output, cache_write_5m: 100, cache_write_1h: 0, cache_read: 1000 };
        ResponseUsage { key, time, tokens, ..ResponseUsage::default() }
    }

    fn file(model: &str, responses: Vec<ResponseUsage>) -> FileUsage {
        FileUsage { models: vec![model.to_owned()], responses, ..FileUsage::default() }
    }

    fn source<'a>(session: &'a str, usage: &'a FileUsage) -> BilledFile<'a> {
        BilledFile { session, usage, changes: &[] }
    }

    fn table(files: &[BilledFile<'_>], group: UsageGroup) -> UsageTable {
        let sums = usage_sums(files, &TimeZone::UTC, &Prices::default());
        usage(&sums, &selected(files), group, &UsageFilter::default())
    }

    fn selected<'a>(files: &[BilledFile<'a>]) -> Vec<UsageSource<'a>> {
        files.iter().map(|file| UsageSource { session: file.session, title: "", project: "/shop", selected: true }).collect()
    }

    fn outputs(table: &UsageTable) -> Vec<(&str, u64)> {
        table.rows.iter().map(|row| (&*row.name, row.tokens.billed.output)).collect()
    }

    #[test]
    fn a_response_in_two_files_counts_once_in_the_older_session_with_its_final_output() {
        let old = file("claude-opus-4-5", vec![response(Some(1), 0, 5), response(Some(2), 1, 7)]);
        let fork = file("claude-opus-4-5", vec![response(Some(2), 1, 9), response(Some(3), 2, 1)]);
        let sources = [source("fork", &fork), source("old", &old)];
        let table = table(&sources, UsageGroup::Session);
        assert_eq!(outputs(&table), [("old", 14), ("fork", 1)]);
        assert_eq!((table.total.responses, table.total.tokens.billed.output), (3, 15));
        assert_eq!(table.copies, Copies { copied_responses: 1, copied_tokens: 10 + 9 + 100 + 1000 });
        // 30 input, 15 output, 300 written, 3000 read.
        assert!((table.total.dollars - (30.0 * 5.0 + 15.0 * 25.0 + 300.0 * 6.25 + 3000.0 * 0.5) / 1e6).abs() < 1e-12);
    }

    #[test]
    fn a_fork_does_not_take_the_responses_of_its_parent_whatever_its_name() {
        let parent = file("m", vec![response(Some(1), 0, 5), response(Some(2), 1, 7)]);
        let later = FileUsage { responses: [&parent.responses[..], &[response(Some(4), 9, 1)]].concat(), ..parent.clone() };
        let fork = file("m", vec![response(Some(1), 0, 5), response(Some(2), 1, 7), response(Some(3), 5, 2)]);
        let named = FileUsage { is_fork: true, ..fork.clone() };
        for (parent, fork, output) in [(&parent, &fork, 12), (&parent, &named, 12), (&later, &named, 13)] {
            for [id, of_fork] in [["a", "z"], ["z", "a"]] {
                let table = table(&[source(of_fork, fork), source(id, parent)], UsageGroup::Session);
                let mut outputs = outputs(&table);
                outputs.sort_by_key(|(_, output)| *output);
                assert_eq!(outputs, [(of_fork, 2), (id, output)]);
            }
        }
    }

    #[test]
    fn a_copy_of_a_response_is_not_counted_for_another_selected_session() {
        let old = file("m", vec![response(Some(1), 0, 5)]);
        let fork = file("m", vec![response(Some(1), 0, 5), response(Some(2), 1, 1)]);
        let files = [source("old", &old), source("z", &fork)];
        let mut sources = selected(&files);
        sources[0].selected = false;
        let sums = usage_sums(&files, &TimeZone::UTC, &Prices::default());
        assert_eq!(outputs(&usage(&sums, &sources, UsageGroup::Session, &UsageFilter::default())), [("z", 1)]);
    }

    #[test]
    fn a_larger_copy_in_another_file_counts_at_the_price_of_its_own_model() {
        let old = FileUsage {
            models: vec!["claude-opus-4-6".to_owned(), "claude-haiku-4-5".to_owned()],
            responses: vec![response(Some(1), 0, 5), ResponseUsage { model: 1, ..response(Some(2), 1, 3) }],
            ..FileUsage::default()
        };
        let subagent = file("claude-haiku-4-5", vec![response(Some(2), 1, 10)]);
        let table = table(&[source("s", &old), source("agent", &subagent)], UsageGroup::Model);
        assert_eq!(outputs(&table), [("claude-opus-4-6", 5), ("claude-haiku-4-5", 10)]);
        let haiku = &table.rows[1];
        assert!(
            (haiku.dollars - (10.0 * 1.0 + 10.0 * 5.0 + 100.0 * 1.25 + 1000.0 * 0.1) / 1e6).abs() < 1e-12,
            "{}",
            haiku.dollars
        );
    }

    #[test]
    fn the_history_that_a_fork_inherits_counts_once_whether_or_not_its_file_names_the_first_session() {
        let lineage = |session, parent| Some(Lineage { session, parent, origin: parent });
        let of = |lineage, responses| FileUsage { lineage, ..file("m", responses) };
        let inherited = || vec![response(Some(1), 0, 5), response(Some(2), 1, 5)];
        let with = |own: ResponseUsage| [inherited(), vec![own]].concat();
        let parent = of(lineage(1, 1), inherited());
        let child = of(lineage(2, 1), with(response(Some(3), 2, 5)));
        // It names only its parent, which is a fork itself.
        let grandchild = of(lineage(3, 2), with(response(Some(4), 3, 5)));
        let other = of(lineage(9, 9), inherited());
        let sources = [source("a", &parent), source("b", &child), source("c", &grandchild), source("d", &other)];
        let sum = table(&sources, UsageGroup::Session);
        assert_eq!(
            (sum.total.responses, sum.copies.copied_responses),
            (2 + 1 + 1 + 2, 4),
            "equal figures of another session count"
        );
        // Two forks whose own first responses have equal figures.
        let sibling = of(lineage(4, 1), with(response(Some(3), 5, 5)));
        let sum = table(&[source("a", &parent), source("b", &child), source("e", &sibling)], UsageGroup::Session);
        assert_eq!((sum.total.responses, sum.copies.copied_responses), (2 + 1 + 1, 4));
        // Without the file of their parent.
        let sum =
            table(&[source("c", &of(lineage(3, 2), inherited())), source("e", &of(lineage(5, 2), inherited()))], UsageGroup::Day);
        assert_eq!((sum.total.responses, sum.copies.copied_responses), (2, 2));
        // Files that name each other as their origin.
        let ring = [of(lineage(1, 2), inherited()), of(lineage(2, 1), inherited())];
        assert!(table(&[source("a", &ring[0]), source("b", &ring[1])], UsageGroup::Day).total.responses >= 2);
    }

    #[test]
    fn the_fast_mode_and_searches_have_their_own_prices() {
        let dollars = |model: &str, fast: bool, searches: u64| {
            let usage = file(model, vec![ResponseUsage { fast, searches, ..response(Some(1), 0, 5) }]);
            let sum = table(&[source("s", &usage)], UsageGroup::Day).total;
            assert_eq!(sum.web_searches, searches);
            (sum.unpriced_tokens.value == 0.0).then_some((sum.dollars * 1e6).round())
        };
        // 10 input, 5 output, 100 written, 1000 read.
        let usual = 10.0 * 5.0 + 5.0 * 25.0 + 100.0 * 6.25 + 1000.0 * 0.5;
        assert_eq!(dollars("claude-opus-4-8", false, 0), Some(usual));
        assert_eq!(dollars("claude-opus-4-8", true, 0), Some(2.0 * usual));
        assert_eq!(dollars("claude-opus-4-6", true, 0), Some(6.0 * usual));
        assert_eq!(dollars("claude-opus-4-8", false, 3), Some(usual + 30_000.0));
        assert_eq!(dollars("claude-sonnet-5", true, 0), None, "no price is known for its fast mode");
    }

    #[test]
    fn an_output_that_is_only_the_start_of_the_stream_is_estimated_and_so_are_the_sums_with_it() {
        let started = ResponseUsage { written_tokens: 500, ..response(Some(1), 0, 5) };
        let whole = ResponseUsage { written_tokens: 500, ..response(Some(2), 0, 250) };
        let usage = file("claude-opus-4-5", vec![started, whole, response(Some(3), DAY_MILLISECONDS, 7)]);
        let sources = [source("s", &usage)];
        let sum = table(&sources, UsageGroup::Day);
        assert_eq!(outputs(&sum), [("1970-01-01", 750), ("1970-01-02", 7)]);
        let estimated = |row: &UsageRow| row.tokens.estimated;
        assert_eq!((sum.rows.iter().map(estimated).collect::<Vec<_>>(), estimated(&sum.total)), (vec![1, 0], 1));
        let json = serde_json::to_value(&sum.total).unwrap();
        let bases = ["input_tokens", "output_tokens", "total_tokens"].map(|name| json[name]["basis"].as_str().unwrap());
        assert_eq!(bases, ["measured", "estimated", "estimated"]);
        // 30 input, 757 output, 300 written, 3000 read.
        assert!((sum.total.dollars - (30.0 * 5.0 + 757.0 * 25.0 + 300.0 * 6.25 + 3000.0 * 0.5) / 1e6).abs() < 1e-12);
        let copy = file("claude-opus-4-5", vec![response(Some(1), 1, 480)]);
        let sum = table(&[source("s", &usage), source("t", &copy)], UsageGroup::Session);
        assert_eq!((outputs(&sum), estimated(&sum.total)), (vec![("s", 480 + 250 + 7)], 0), "a copy records all of it");
    }

    #[test]
    fn weeks_are_those_of_iso_8601() {
        // 2026-12-27 is a Sunday, 2027-01-01 a Friday.
        let day = |text: &str| format!("{text}T12:00:00Z").parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let days = ["2026-01-05", "2026-12-27", "2026-12-28", "2027-01-01"];
        let responses = days.iter().zip(1..).map(|(text, key)| response(Some(key), day(text), 1)).collect();
        let usage = file("m", responses);
        let weeks = table(&[source("s", &usage)], UsageGroup::Week);
        assert_eq!(outputs(&weeks), [("2026-W02", 1), ("2026-W52", 1), ("2026-W53", 2)]);
    }

    #[test]
    fn responses_without_an_identity_all_count() {
        let usage = file("m", vec![response(None, 0, 5), response(None, 0, 5)]);
        assert_eq!(table(&[source("s", &usage)], UsageGroup::Day).total.responses, 2);
    }

    #[test]
    fn days_and_months_are_those_of_the_time_zone() {
        let usage = file(
            "m",
            vec![
                response(Some(1), 30 * DAY_MILLISECONDS + DAY_MILLISECONDS * 23 / 24, 5),
                response(Some(2), 31 * DAY_MILLISECONDS, 6),
            ],
        );
        let sources = [source("s", &usage)];
        assert_eq!(outputs(&table(&sources, UsageGroup::Day)), [("1970-01-31", 5), ("1970-02-01", 6)]);
        let berlin = TimeZone::fixed(jiff::tz::offset(1));
        let sums = |zone| usage_sums(&sources, zone, &Prices::default());
        let months = super::usage(&sums(&berlin), &selected(&sources), UsageGroup::Month, &UsageFilter::default());
        assert_eq!(outputs(&months), [("1970-02", 11)]);
        let filter = UsageFilter { since: "1970-02-01".parse().ok(), ..UsageFilter::default() };
        let since = super::usage(&sums(&TimeZone::UTC), &selected(&sources), UsageGroup::Day, &filter);
        assert_eq!(outputs(&since), [("1970-02-01", 6)]);
    }

    #[test]
    fn a_stated_cost_replaces_the_price_and_an_unknown_price_is_reported() {
        let stated = ResponseUsage { dollars: Some(0.25), ..response(Some(1), 0, 5) };
        let usage = file("unknown-model", vec![stated, response(Some(2), 1, 5)]);
        let table = table(&[source("s", &usage)], UsageGroup::Model);
        assert_eq!((table.total.dollars, table.total.unpriced_tokens), (0.25, TokenCount::measured(1115)));
        assert_eq!(table.unpriced_models, ["unknown-model"]);
    }

    #[test]
    fn savings_count_for_each_request_until_an_undo_or_a_compaction() {
        let mut usage = file("m", (1..=5).map(|key| response(Some(key), key as i64 * 10, 1)).collect());
        let saved = |usage: &FileUsage, changes: &[(i64, f64)]| {
            table(&[BilledFile { changes, ..source("s", usage) }], UsageGroup::Day).total.saved_tokens
        };
        assert_eq!(saved(&usage, &[(15, 1000.0)]), 4000.0);
        assert_eq!(saved(&usage, &[(15, 1000.0), (35, -1000.0)]), 2000.0);
        usage.compactions.push(25);
        assert_eq!(saved(&usage, &[(15, 1000.0)]), 1000.0);
        assert_eq!(saved(&usage, &[(5, -50.0)]), 0.0, "restored content is not a saving");
    }
}
