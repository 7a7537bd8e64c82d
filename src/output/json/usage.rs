//! Tokens and cost.

use super::{Number, Tokens, estimated, measured};
use crate::{engine, output};

json_objects! {
    /// Tokens and cost by group, each response of a model once.
    Usage from report: output::UsageReport {
        /// Property of the groups.
        by: UsageGroup = report.group,
        /// Groups: days, weeks and months in order, others by cost, the largest first.
        rows: Vec<UsageRow> = report.table.rows,
        /// Sum of all groups; its name is empty.
        total: UsageRow = report.table.total,
        /// Models whose price is unknown.
        unpriced_models: Vec<String> = report.table.unpriced,
        /// Copies of counted responses in further files of resumed and forked sessions; they do not count.
        copied_responses: u64 = report.table.copies.responses,
        /// Tokens of these copies.
        copied_tokens: Tokens = measured(report.table.copies.tokens),
        /// Counted responses with more input than the window holds.
        impossible_responses: u64 = report.table.impossible,
    }

    /// The sum of a group of responses.
    UsageRow from sum: engine::UsageSum {
        /// Day such as `2026-11-21`, ISO week such as `2026-W47`, month such as `2026-11`, session id, project or model.
        name: String = sum.name,
        /// Title of a session; otherwise empty.
        title: String = sum.title,
        /// Number of responses of models.
        responses: u64 = sum.responses,
        /// Input tokens that were neither read from nor written to the cache.
        input_tokens: Tokens = measured(sum.tokens.input),
        /// Output tokens.
        output_tokens: Tokens = measured(sum.tokens.output),
        /// Input tokens that were written to the cache.
        cache_write_tokens: Tokens = measured(sum.tokens.cache_written()),
        /// Input tokens that were read from the cache.
        cache_read_tokens: Tokens = measured(sum.tokens.cache_read),
        /// All tokens.
        total_tokens: Tokens = measured(sum.tokens.total()),
        /// Web searches that the API bills beside the tokens.
        web_searches: u64 = sum.searches,
        /// Cost: the one stated in a session file, or else by the price of the model, with web searches.
        dollars: Number ["dollars"] = sum.dollars,
        /// Tokens of responses whose cost is unknown; `dollars` does not contain it.
        unpriced_tokens: Tokens = measured(sum.unpriced_tokens),
        /// Tokens that requests did not contain because of aperture, by the operation log.
        saved_tokens: Tokens = estimated(sum.saved_tokens),
    }
}

json_words! {
    /// The property of the groups of responses.
    UsageGroup from engine::UsageGroup {
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
