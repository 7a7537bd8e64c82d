//! Requested turns within a budget: their headers, summaries or full texts.

use super::summary::TurnSummary;
use crate::model::{TurnList, words};
use std::ops::AddAssign;

words! {
    /// The amount that is shown of a turn.
    #[derive(Default, Hash, PartialOrd, Ord)]
    pub enum TurnForm {
        /// Time, topic and outcome, on one line.
        Header = "header",
        /// The header and the key points.
        Summary = "summary",
        /// The header and the original contents.
        Full = "full",
        /// In a request: summaries, and the full texts that the rest of the budget allows.
        #[default]
        Mixed = "mixed",
    }
}

words! {
    /// The order in which turns receive the budget.
    #[derive(Default)]
    pub enum TurnPriority {
        /// The newest turns first.
        #[default]
        Recent = "recent",
        /// The best matches of the query first.
        Relevant = "relevant",
        /// As the turns were named.
        Specific = "specific",
    }
}

/// A request for turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnRequest {
    pub turns: TurnList,
    pub form: TurnForm,
    /// `None`: the best matches first if there is a query, else the newest turns.
    pub priority: Option<TurnPriority>,
    /// Words; can be empty.
    pub query: String,
}

impl TurnForm {
    /// Returns the forms that turns receive after the headers of all, one form after the other while the budget lasts.
    fn passes(self) -> &'static [TurnForm] {
        match self {
            TurnForm::Header => &[],
            TurnForm::Summary => &[TurnForm::Summary],
            TurnForm::Full => &[TurnForm::Full, TurnForm::Summary],
            TurnForm::Mixed => &[TurnForm::Summary, TurnForm::Full],
        }
    }

    /// Returns true if a request can show full texts.
    pub fn has_full_texts(self) -> bool {
        self.passes().contains(&TurnForm::Full)
    }
}

/// A turn in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownTurn {
    pub number: u32,
    pub form: TurnForm,
    /// Its lines, with a line feed at the end of each.
    pub text: String,
    pub tokens: usize,
}

/// Requested turns within a budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownTurns {
    /// In file order.
    pub turns: Vec<ShownTurn>,
    /// Turns that are missing or shorter than requested, a line for each.
    pub notes: Vec<String>,
}

impl ShownTurns {
    pub fn text(&self) -> String {
        let texts = self.turns.iter().map(|turn| turn.text.clone());
        texts.chain(self.notes.iter().map(|note| format!("[{note}]\n"))).collect()
    }
}

/// A failed request for turns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnRequestError {
    #[error("{}", missing(turns, existing))]
    Missing { turns: TurnList, existing: TurnList },
    #[error("a budget of {budget} tokens is too small for the header of a turn; the least is {least}")]
    Budget { budget: usize, least: usize },
}

/// Returns the sentence about turns that do not exist.
fn missing(turns: &TurnList, existing: &TurnList) -> String {
    let existing = match spaced(existing) {
        existing if existing.is_empty() => "no turns".to_owned(),
        existing if existing.parse::<u32>().is_ok() => format!("only turn {existing}"),
        existing => format!("turns {existing}"),
    };
    format!("no turn {}; the session has {existing}", spaced(turns))
}

fn spaced(turns: &TurnList) -> String {
    turns.to_string().replace(',', ", ")
}

/// Returns the places of the requested turns in `turns`, those that receive the budget first at the start. `score` rates a turn by
/// the query.
/// Errors: none of the turns exists.
pub fn requested(
    turns: &[TurnSummary],
    request: &TurnRequest,
    score: &dyn Fn(usize) -> f32,
) -> Result<Vec<usize>, TurnRequestError> {
    let mut places: Vec<usize> = (0..turns.len()).filter(|place| request.turns.contains(turns[*place].number)).collect();
    if places.is_empty() {
        let existing = turns.iter().map(|turn| turn.number).collect();
        return Err(TurnRequestError::Missing { turns: request.turns.clone(), existing });
    }
    places.reverse();
    match request.priority() {
        TurnPriority::Recent => {}
        TurnPriority::Relevant => places.sort_by(|a, b| score(*b).total_cmp(&score(*a))),
        TurnPriority::Specific => places.sort_by_key(|place| (request.turns.place(turns[*place].number), *place)),
    }
    Ok(places)
}

impl TurnRequest {
    /// Returns the order in which turns receive the budget.
    pub fn priority(&self) -> TurnPriority {
        let default = if self.query.is_empty() { TurnPriority::Recent } else { TurnPriority::Relevant };
        self.priority.unwrap_or(default)
    }
}

/// Tokens that are set aside for the notes.
const NOTES_TOKENS: usize = 40;

/// Returns the requested turns in at most `budget` tokens: headers of as many turns as possible, then the other forms of the request
/// in the order of `places`. `cost` counts a text; `full` returns the full text of a turn in at most this many tokens, `None` if it
/// has more.
/// Errors: the budget is too small for one header, or `full` fails.
pub fn within<E: From<TurnRequestError>>(
    turns: &[TurnSummary],
    places: &[usize],
    request: &TurnRequest,
    budget: usize,
    cost: &dyn Fn(&str) -> usize,
    full: &mut impl FnMut(&TurnSummary, usize) -> Result<Option<String>, E>,
) -> Result<ShownTurns, E> {
    let shown = |place: usize, form: TurnForm, body: &str| {
        let text = text(&turns[place], form, body);
        ShownTurn { number: turns[place].number, form, tokens: cost(&text), text }
    };
    let mut found: Vec<ShownTurn> = places.iter().map(|place| shown(*place, TurnForm::Header, "")).collect();
    let all: usize = found.iter().map(|turn| turn.tokens).sum();
    let is_all = all <= budget && request.form == TurnForm::Header;
    let room = if is_all { budget } else { budget.saturating_sub(NOTES_TOKENS) };
    let mut used = 0;
    let headers = found.iter().take_while(|turn| {
        used.add_assign(turn.tokens);
        used <= room
    });
    let mut count = headers.count();
    used = found[..count].iter().map(|turn| turn.tokens).sum();
    for form in request.form.passes() {
        for (turn, place) in found[..count].iter_mut().zip(places).filter(|(turn, _)| turn.form < *form) {
            let left = room.saturating_sub(used - turn.tokens);
            let body = match form {
                TurnForm::Full => full(&turns[*place], left)?,
                _ => Some(turns[*place].summary.text.clone()),
            };
            let longer = body.map(|body| shown(*place, *form, &body)).filter(|longer| longer.tokens <= left);
            if let Some(longer) = longer {
                used = used - turn.tokens + longer.tokens;
                *turn = longer;
            }
        }
    }
    // The pieces of a text can have a token more than their sum, so the text is counted as a whole.
    loop {
        let mut kept = found[..count].to_vec();
        kept.sort_by_key(|turn| turn.number);
        let notes = notes(turns, &found, count, request);
        let shown = ShownTurns { turns: kept, notes };
        let tokens = cost(&shown.text());
        if count > 0 && tokens <= budget {
            return Ok(shown);
        }
        if count < 2 {
            return Err(TurnRequestError::Budget { budget, least: tokens.max(all / found.len().max(1) + NOTES_TOKENS) }.into());
        }
        count -= 1;
    }
}

/// Returns the lines about turns that are missing, left out or shorter than requested. The first `count` of `found` are shown.
fn notes(turns: &[TurnSummary], found: &[ShownTurn], count: usize, request: &TurnRequest) -> Vec<String> {
    let list = |turns: &[ShownTurn], is_in: &dyn Fn(&ShownTurn) -> bool| {
        let mut numbers: Vec<u32> = turns.iter().filter(|turn| is_in(turn)).map(|turn| turn.number).collect();
        numbers.sort_unstable();
        let (length, list) = (numbers.len(), numbers.into_iter().collect::<TurnList>());
        (length > 0).then(|| format!("{} {}", if length == 1 { "turn" } else { "turns" }, spaced(&list)))
    };
    let existing: Vec<u32> = turns.iter().map(|turn| turn.number).collect();
    let absent = request.turns.without(&existing);
    let absent = (!absent.is_empty()).then(|| missing(&absent, &existing.into_iter().collect()));
    let shorter = |form: TurnForm| {
        let short = list(&found[..count], &|turn| turn.form == form && form < request.form);
        short.filter(|_| request.form != TurnForm::Mixed).map(|turns| format!("only the {form} of {turns}: the budget is used"))
    };
    let left = list(&found[count..], &|_| true).map(|turns| format!("left out {turns}: the budget is used"));
    [absent, left, shorter(TurnForm::Header), shorter(TurnForm::Summary)].into_iter().flatten().collect()
}

/// Formats a turn: the header with the blocks, and the body.
fn text(turn: &TurnSummary, form: TurnForm, body: &str) -> String {
    let blocks = match turn.blocks {
        Some((first, last)) if first == last => format!("  #{first}"),
        Some((first, last)) => format!("  #{first}..#{last}"),
        None => String::new(),
    };
    let left = if turn.live { "" } else { "  (abandoned branch)" };
    let mut text = format!("turn {}  {}{blocks}{left}\n", turn.number, turn.header.text);
    for line in body.lines() {
        text.push_str(if form == TurnForm::Summary { "  " } else { "" });
        text.push_str(line);
        text.push('\n');
    }
    if form != TurnForm::Header {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::summary::{Headline, Summary};
    use super::*;

    fn turns(count: u32) -> Vec<TurnSummary> {
        let turn = |number: u32| TurnSummary {
            number,
            time: None,
            begins_task: None,
            live: true,
            blocks: Some((number * 10, number * 10 + 9)),
            header: Headline { text: format!("topic {number}"), tokens: 0 },
            subject: String::new(),
            summary: Summary { text: format!("asked: question {number}\nsaid: answer {number}"), ..Summary::default() },
            outcomes: Vec::new(),
            needs: Vec::new(),
        };
        (1..=count).map(turn).collect()
    }

    fn request(text: &str, form: TurnForm) -> TurnRequest {
        TurnRequest { turns: text.parse().unwrap(), form, ..TurnRequest::default() }
    }

    /// Returns the forms of the shown turns, such as `3 full`, and the notes. A full text has 60 bytes, and a token is a byte.
    fn shown(request: &TurnRequest, budget: usize) -> Result<(Vec<String>, Vec<String>), TurnRequestError> {
        let turns = turns(12);
        let places = requested(&turns, request, &|place| if turns[place].number == 5 { 1.0 } else { 0.0 })?;
        let mut full = |_: &TurnSummary, _| Ok(Some("x".repeat(60)));
        let cost = |text: &str| text.len();
        let found = within::<TurnRequestError>(&turns, &places, request, budget, &cost, &mut full)?;
        assert!(found.text().len() <= budget, "{budget}");
        Ok((found.turns.iter().map(|turn| format!("{} {}", turn.number, turn.form)).collect(), found.notes))
    }

    #[test]
    fn a_request_gets_its_form() {
        let forms = |text: &str, form| shown(&request(text, form), 9_000).unwrap();
        assert_eq!(forms("3,7..8", TurnForm::Header).0, ["3 header", "7 header", "8 header"]);
        assert_eq!(forms("3,7..8", TurnForm::Summary).0, ["3 summary", "7 summary", "8 summary"]);
        assert_eq!(forms("3,7..8", TurnForm::Full).0, ["3 full", "7 full", "8 full"]);
        assert_eq!(forms("3,7..8", TurnForm::Mixed), (vec!["3 full".into(), "7 full".into(), "8 full".into()], vec![]));
    }

    #[test]
    fn the_first_of_the_order_gets_the_budget() {
        let forms = |request: &TurnRequest| shown(request, 320).unwrap().0;
        let mixed = request("3..6", TurnForm::Mixed);
        assert_eq!(forms(&mixed), ["3 summary", "4 summary", "5 summary", "6 full"]);
        let relevant = TurnRequest { query: "five".into(), ..mixed };
        assert_eq!(forms(&relevant), ["3 summary", "4 summary", "5 full", "6 summary"]);
        let specific = TurnRequest { priority: Some(TurnPriority::Specific), ..request("4,3,5..6", TurnForm::Mixed) };
        assert_eq!(forms(&specific), ["3 summary", "4 full", "5 summary", "6 summary"]);
    }

    #[test]
    fn missing_and_shorter_turns_are_noted() {
        let notes = |text: &str, form, budget| shown(&request(text, form), budget).unwrap().1;
        assert_eq!(notes("3,40", TurnForm::Header, 900), ["no turn 40; the session has turns 1..12"]);
        assert_eq!(notes("1..12", TurnForm::Header, 150), ["left out turns 1..9: the budget is used"]);
        assert_eq!(notes("3,5", TurnForm::Full, 205), ["only the summary of turn 3: the budget is used"]);
        assert!(notes("1..", TurnForm::Mixed, 2_000).is_empty());
    }

    #[test]
    fn a_request_that_fails_says_what_exists() {
        let error = |text: &str, budget| shown(&request(text, TurnForm::Mixed), budget).unwrap_err().to_string();
        assert_eq!(error("40..41", 900), "no turn 40..41; the session has turns 1..12");
        assert_eq!(error("3", 10), "a budget of 10 tokens is too small for the header of a turn; the least is 66");
    }

    #[test]
    fn no_budget_is_exceeded() {
        for form in TurnForm::ALL {
            for budget in 0..1_500 {
                let _ = shown(&request("2..11,30", form), budget);
            }
        }
    }
}
