//! Topics over sessions: the topics of single sessions whose words agree are one cluster.
//!
//! The largest topics come first, and each joins the cluster whose first topic has most of its words, or starts one. Only the words of
//! two topics decide, so that further sessions change nothing about unrelated clusters.

use crate::engine::Analysis;
use crate::text::clauses::content_words;
use crate::text::words::stem;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use twox_hash::XxHash3_64;

/// Minimum number of words that two topics of one cluster have in common, and their minimum share of the words of the smaller one.
const COMMON_WORDS: usize = 3;
const COMMON_SHARE: f64 = 0.4;

/// A turn of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicTurn {
    pub number: u32,
    /// The time of its prompt, in milliseconds since 1970, UTC; `None` if unknown.
    pub time: Option<i64>,
    pub tokens: u64,
    /// A hash of its prompt and its time, equal in the copies of resumed and forked sessions.
    pub content: u64,
}

/// A topic of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTopic {
    pub label: String,
    /// The stems of its most distinctive words.
    pub words: BTreeSet<String>,
    pub turns: Vec<TopicTurn>,
}

/// Returns the topics of a session, in file order.
pub fn session_topics(reading: &Analysis) -> Vec<SessionTopic> {
    let mut tokens: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for block in &reading.session.blocks {
        if let Some(topic) = block.topic {
            *tokens.entry((topic, block.position.turn)).or_default() += block.tokens.value;
        }
    }
    let turn = |topic: usize, number: u32| {
        let turn = reading.turn(number)?;
        let tokens = tokens.get(&(topic as u32, number)).copied().unwrap_or_default().round() as u64;
        let seed = turn.timestamp.unwrap_or_default().cast_unsigned();
        let content = XxHash3_64::oneshot_with_seed(seed, turn.prompt.as_bytes());
        Some(TopicTurn { number, time: turn.timestamp, tokens, content })
    };
    let topics = reading.topics.iter().enumerate().map(|(place, topic)| {
        let keywords = topic.keywords.iter().flat_map(|word| word.split(' ')).map(str::to_lowercase);
        let words = keywords.chain(content_words(&topic.label).map(str::to_lowercase));
        SessionTopic {
            label: topic.label.clone(),
            words: words.map(|word| stem(&word).to_owned()).collect(),
            turns: topic.turns.iter().filter_map(|number| turn(place, *number)).collect(),
        }
    });
    topics.filter(|topic| !topic.turns.is_empty()).collect()
}

/// Topics with one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicCluster {
    pub label: String,
    /// Its topics: the index of the session of each, and the index among the topics of that session.
    pub members: Vec<(usize, usize)>,
}

/// Divides the topics of sessions, each with its id, into clusters, the largest first topic first.
pub fn topic_clusters(sessions: &[(&str, &[SessionTopic])]) -> Vec<TopicCluster> {
    let topic = |(session, place): (usize, usize)| &sessions[session].1[place];
    let tokens = |member: (usize, usize)| topic(member).turns.iter().map(|turn| turn.tokens).sum::<u64>();
    let mut members: Vec<(usize, usize)> = sessions
        .iter()
        .enumerate()
        .flat_map(|(session, (_, topics))| (0..topics.len()).map(move |place| (session, place)))
        .collect();
    members.sort_by_key(|member| (std::cmp::Reverse(tokens(*member)), sessions[member.0].0, member.1));
    let mut clusters: Vec<TopicCluster> = Vec::new();
    let mut leaders: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for member in members {
        let words = &topic(member).words;
        let mut common: BTreeMap<usize, usize> = BTreeMap::new();
        for cluster in words.iter().filter_map(|word| leaders.get(word.as_str())).flatten() {
            *common.entry(*cluster).or_default() += 1;
        }
        let agrees = |(cluster, common): (usize, usize)| {
            let smaller = words.len().min(topic(clusters[cluster].members[0]).words.len());
            let share = common as f64 / smaller.max(1) as f64;
            (common >= COMMON_WORDS.min(smaller) && share >= COMMON_SHARE).then_some((share, std::cmp::Reverse(cluster)))
        };
        let best = common.into_iter().filter_map(agrees).max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match best {
            Some((_, std::cmp::Reverse(cluster))) => clusters[cluster].members.push(member),
            None => {
                words.iter().for_each(|word| leaders.entry(word).or_default().push(clusters.len()));
                clusters.push(TopicCluster { label: String::new(), members: vec![member] });
            }
        }
    }
    for cluster in &mut clusters {
        cluster.label = shared_label(&cluster.members.iter().map(|member| topic(*member)).collect::<Vec<_>>());
    }
    clusters
}

/// Returns the label whose words most of the topics have; of several, the first one.
fn shared_label(topics: &[&SessionTopic]) -> String {
    let shared = |label: &str| {
        let words: Vec<String> = content_words(label).map(|word| stem(&word.to_lowercase()).to_owned()).collect();
        topics.iter().filter(|topic| words.iter().all(|word| topic.words.contains(word))).count() * usize::from(!words.is_empty())
    };
    let mut seen = FxHashSet::default();
    let labels = topics.iter().map(|topic| topic.label.as_str()).filter(|label| seen.insert(*label));
    let best = labels.map(|label| (shared(label), label)).reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map_or_else(String::new, |(_, label)| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn topic(label: &str, words: &str, tokens: u64) -> SessionTopic {
        let turns = vec![TopicTurn { number: 1, time: None, tokens, content: 0 }];
        SessionTopic { label: label.to_owned(), words: words.split(' ').map(str::to_owned).collect(), turns }
    }

    /// The clusters as sets of labels and session ids.
    fn found(sessions: &[(String, Vec<SessionTopic>)]) -> BTreeSet<(String, BTreeSet<(String, usize)>)> {
        let borrowed: Vec<(&str, &[SessionTopic])> = sessions.iter().map(|(id, topics)| (id.as_str(), &topics[..])).collect();
        let clusters = topic_clusters(&borrowed).into_iter();
        let member = |(session, place): (usize, usize)| (sessions[session].0.clone(), place);
        clusters.map(|cluster| (cluster.label, cluster.members.into_iter().map(member).collect())).collect()
    }

    #[test]
    fn topics_with_common_words_are_one_cluster() {
        let login = || topic("flaky login test", "flak login test retr", 10);
        let sessions = vec![
            ("a".to_owned(), vec![login(), topic("dark mode toggle", "dark mod toggl them", 5)]),
            ("b".to_owned(), vec![topic("login retries", "login test retr timeout", 4)]),
        ];
        let clusters = found(&sessions);
        assert_eq!(clusters.len(), 2);
        assert!(clusters.iter().any(|(_, members)| members.len() == 2));
    }

    fn sessions() -> impl Strategy<Value = Vec<(String, Vec<SessionTopic>)>> {
        let drawn = (prop::collection::btree_set("[a-h]", 1..6), 0_u64..9);
        let drawn = drawn.prop_map(|(words, tokens)| topic("", &words.into_iter().collect::<Vec<_>>().join(" "), tokens));
        prop::collection::vec(prop::collection::vec(drawn, 0..4), 0..6)
            .prop_map(|sessions| sessions.into_iter().enumerate().map(|(place, topics)| (format!("s{place}"), topics)).collect())
    }

    proptest! {
        #[test]
        fn clusters_partition_the_topics(sessions in sessions()) {
            let clusters = found(&sessions);
            let members: Vec<_> = clusters.iter().flat_map(|(_, members)| members).collect();
            prop_assert_eq!(members.len(), members.iter().collect::<BTreeSet<_>>().len());
            prop_assert_eq!(members.len(), sessions.iter().map(|(_, topics)| topics.len()).sum::<usize>());
        }

        #[test]
        fn the_order_of_the_sessions_changes_nothing(sessions in sessions()) {
            let reversed: Vec<_> = sessions.iter().rev().cloned().collect();
            prop_assert_eq!(found(&sessions), found(&reversed));
        }

        #[test]
        fn an_unrelated_session_changes_no_cluster(sessions in sessions(), tokens in 0_u64..9) {
            let mut more = sessions.clone();
            more.push(("x".to_owned(), vec![topic("other", "x y z", tokens)]));
            let mut clusters = found(&more);
            clusters.retain(|(_, members)| !members.contains(&("x".to_owned(), 0)));
            prop_assert_eq!(clusters, found(&sessions));
        }
    }
}
