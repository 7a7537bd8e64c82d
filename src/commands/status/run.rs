use super::Arguments;
use super::report::{Share, StatusReport};
use crate::app::{CommandError, Env};
use crate::commands::change::deferred;
use crate::commands::live::{pending, proxied};
use crate::commands::{keep, manifest};
use crate::engine::tokens::estimate;
use crate::engine::{self, Analysis};
use crate::model::limits::PREVIEW_CHARACTERS;
use crate::model::{Block, Event, TokenCount, Tool, Turn, Zone};
use crate::provider::{ClientPart, without_insertions};
use crate::text::cut::{ended, without_links};
use crate::workspace::Workspace;

/// Prints the overview.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    let open = env.open_sessions();
    let open = open.contains(&workspace.location.id);
    let suggestions = if arguments.no_suggestions { Vec::new() } else { manifest::suggestions(env, &workspace, None) };
    let pending = pending::changes(env, &workspace);
    let deferred = deferred::count(env, &pending::found(&workspace));
    let reading = &workspace.reading;
    let session = &reading.session;
    let (now, lifetime) = (env.style.now.as_millisecond(), workspace.cache_milliseconds());
    let next_prompt = engine::next_request_dollars(reading.price.total.value, &reading.model, lifetime, &env.prices);
    let origin = session.latest_origin();
    let shares = |sums: Vec<(String, u32, TokenCount)>| -> Vec<Share> {
        sums.into_iter().map(|(name, blocks, tokens)| Share { name, blocks, tokens }).collect()
    };
    let stale = reading.stale();
    let (aging_blocks, aging_tokens) = reading.aging_total();
    let superseded: Vec<_> =
        stale.iter().copied().filter(|block| block.usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes())).collect();
    let zones = Zone::ALL.map(|zone| {
        let (blocks, tokens) = reading.zone(zone);
        let outside = if zone == Zone::Primacy { reading.price.outside } else { TokenCount::ZERO };
        Share { name: zone.name().to_owned(), blocks, tokens: tokens + outside }
    });
    let share = |name: &str, blocks: &[&Block]| Share {
        name: name.to_owned(),
        blocks: blocks.len() as u32,
        tokens: blocks.iter().map(|block| block.tokens).sum(),
    };
    let (bytes, rows) = workspace.written_size()?;
    env.print(&StatusReport {
        client_parts: client_parts(&workspace),
        session: session.id.clone(),
        named: env.name_of(&workspace.path, &workspace.location.id),
        provider: session.provider,
        path: workspace.path.display().to_string(),
        project: origin.map(|origin| origin.directory.clone()).unwrap_or_default(),
        title: title(reading),
        model: reading.model.clone(),
        version: origin.map(|origin| origin.version.clone()).unwrap_or_default(),
        last_written_time: session.last_written(),
        open,
        pending,
        deferred_operations: deferred,
        agent: workspace.provider.agent(),
        refused: proxied::refusal(env, &workspace.location.id),
        unapplied_operations: proxied::unapplied(env, &workspace.location.id),
        store_fault: env.store_fault(),
        activity: proxied::model_activity(&workspace),
        forked_from: session.rows.iter().skip(session.inherited_rows() as usize).find_map(|row| match row.event.as_deref() {
            Some(Event::ForkedFrom { session, .. }) => Some(session.clone()),
            _ => None,
        }),
        tokens: reading.price.total,
        remaining_tokens: reading.remaining(),
        capacity: reading.capacity,
        percent: reading.percent(),
        billed_tokens: reading.price.measured,
        cached_prompt_dollars: next_prompt.map(|(cached, _)| cached),
        uncached_prompt_dollars: next_prompt.map(|(_, uncached)| uncached),
        cache_end_time: engine::idle_milliseconds(reading, now).map(|idle| now - idle + lifetime),
        changed_since_bill: reading.price.changed_since_bill,
        outside_tokens: reading.price.outside,
        accuracy: reading.price.accuracy.clone(),
        zones: zones.to_vec(),
        kinds: shares(reading.tokens_by(|block| Some(block.kind.name().replace('_', " ")))),
        tools: shares(reading.tokens_by(|block| block.tool.as_ref().map(|tool| tool.name.to_string()))),
        files: shares(reading.tokens_by(|block| file_of(block.tool.as_deref()?))),
        stale: share("stale", &stale),
        superseded: share("superseded", &superseded),
        aging: Share { name: "aging".to_owned(), blocks: aging_blocks as u32, tokens: aging_tokens },
        largest_stale: stale.iter().take(10).map(|block| engine::entry(block)).collect(),
        suggestions,
        all: arguments.all,
        hidden: reading.window.hidden,
        bytes,
        window_bytes: reading.in_window().map(|block| block.sent_bytes() + block.media.bytes).sum(),
        expiring_sessions: keep::expiring_in(env, &pending::found(&workspace)),
        rows,
        turns: reading.turns.len(),
        steps: reading.steps,
        damage: session.damage.clone(),
        findings: reading.findings(),
    })
}

/// Returns the file that a call names; `None` for a call of another kind, and for one whose input names none.
fn file_of(tool: &Tool) -> Option<String> {
    Some(tool.target.to_string()).filter(|target| tool.verb.names_file() && !target.is_empty())
}

/// Returns the tokens of the texts that the client adds by itself, by part: those of blocks in the window, and estimates of those
/// that the file records outside the conversation. The rest of the tokens that are not in the file is the last part. Empty if no
/// part is known.
fn client_parts(workspace: &Workspace<'_>) -> Vec<Share> {
    let reading = &workspace.reading;
    let outside = reading.price.outside;
    let texts = workspace.outside_texts().unwrap_or_default();
    let estimate = |part: ClientPart| texts.iter().filter(|(of, _)| *of == part).map(|(_, text)| estimate(text)).sum::<f64>();
    let recorded: f64 = ClientPart::ALL.into_iter().map(estimate).sum();
    // The estimates are never more than what is billed beside the blocks.
    let scale = if outside.value > 0.0 { (outside.value / recorded.max(1.0)).min(1.0) } else { 1.0 };
    let part = |part: ClientPart| {
        let blocks: Vec<TokenCount> = reading
            .in_window()
            .filter(|block| workspace.provider.part_of(block) == Some(part))
            .map(|block| TokenCount::estimated(block.tokens.value))
            .collect();
        let tokens = blocks.iter().copied().sum::<TokenCount>() + TokenCount::estimated(estimate(part) * scale);
        Share { name: part.name().to_owned(), blocks: blocks.len() as u32, tokens }
    };
    let mut parts: Vec<Share> = ClientPart::ALL.into_iter().map(part).filter(|part| part.tokens.round() > 0).collect();
    let other = TokenCount::estimated(outside.value - recorded * scale);
    if !parts.is_empty() && other.round() > 0 {
        parts.push(Share { name: "other".to_owned(), blocks: 0, tokens: other });
    }
    parts
}

/// Returns the title given by the user or a model, or the first prompt that the user did not leave.
pub fn title(reading: &Analysis) -> String {
    let mut title: Option<(&str, bool)> = None;
    for row in &reading.session.rows {
        if let Some(Event::Title { text, chosen }) = row.event.as_deref()
            && (*chosen || title.is_none_or(|(_, chosen)| !chosen))
        {
            title = Some((text, *chosen));
        }
    }
    let is_left = |turn: &Turn| turn.opening.and_then(|at| reading.block(at)).is_some_and(|at| reading.window.is_left(at.row));
    let prompts =
        || reading.turns.iter().map(|turn| (turn, without_insertions(&turn.prompt))).filter(|(_, prompt)| !prompt.is_empty());
    let first = || prompts().find(|(turn, _)| !is_left(turn)).or_else(|| prompts().next()).map(|(_, prompt)| prompt);
    let title = title.map(|(text, _)| text.to_owned()).or_else(|| Some(without_links(&ended(first()?, PREVIEW_CHARACTERS))));
    engine::mask(title.as_deref().unwrap_or("(no prompt yet)")).into_owned()
}
