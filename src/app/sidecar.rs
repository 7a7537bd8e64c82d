//! The texts that a local model made in the background, as commands read them: from its answers, without any wait.

use super::Env;
use super::files::make_private;
use crate::engine::sidecar::{
    AnswerTexts, SidecarTask, SubjectPlace, block_address, boundary_subjects, duplicate_subjects, echo_subjects, topic_subjects,
};
use crate::model::{Key, request_id};
use crate::store::{NewTask, SIDECAR_FILE, SidecarResult, SidecarStore};
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The answers about one session. Contents without an answer are queued when this is dropped.
pub struct SidecarTexts {
    store: Mutex<SidecarStore>,
    model: String,
    embedding_model: String,
    session: PathBuf,
    missing: Mutex<Vec<NewTask>>,
}

impl Env {
    /// Returns the answers about a session; `None` if no server is configured, or the queue can be neither read nor made.
    pub fn sidecar_texts(&self, session: &Path) -> Option<SidecarTexts> {
        if !self.sidecar.is_on() {
            return None;
        }
        let known = SidecarStore::open_existing(&self.store_directory().ok()?, &self.keys.seal().ok()?).ok()?;
        // The first command makes the queue, so that the first worker finds its contents.
        let store = known.or_else(|| self.sidecar_store().ok())?;
        Some(SidecarTexts {
            store: Mutex::new(store),
            model: self.sidecar.model.clone(),
            embedding_model: self.sidecar.embedding_model.clone().unwrap_or_default(),
            session: session.to_owned(),
            missing: Mutex::default(),
        })
    }

    /// Opens the database of the sidecar, and creates it if necessary.
    /// Errors: it cannot be created or opened.
    pub fn sidecar_store(&self) -> Result<SidecarStore, super::CommandError> {
        let directory = self.store_directory()?;
        make_private(&directory, SIDECAR_FILE).map_err(|error| {
            super::CommandError::of_disk(error, format!("cannot create {SIDECAR_FILE} in {}", directory.display()))
        })?;
        Ok(SidecarStore::open(&directory, &self.keys.seal()?)?)
    }

    /// Writes the answers of a model into a session: labels of its topics beside those by rules, the places where a
    /// task begins, and repetitions and uses that the rules do not see.
    pub(super) fn use_answers(&self, workspace: &mut Workspace<'_>) {
        if workspace.reading.turns.is_empty() {
            return;
        }
        let Some(texts) = self.sidecar_texts(&workspace.path) else { return };
        let reading = &mut workspace.reading;
        for subject in topic_subjects(reading) {
            if let SubjectPlace::Topic(index) = subject.place
                && let Some(mut answer) = texts.of(subject.task, subject.address)
                && let (Some(topic), Some(label)) = (reading.topics.get_mut(index), answer.remove("label"))
            {
                topic.written = label;
            }
        }
        for subject in boundary_subjects(reading) {
            if let SubjectPlace::Turn(number) = subject.place
                && texts
                    .of(subject.task, subject.address)
                    .is_some_and(|answer| answer.get("task").is_some_and(|task| task == "new"))
                && let Some(turn) = reading.turns.iter_mut().find(|turn| turn.number == number)
            {
                turn.begins_task = true;
            }
        }
        for subject in duplicate_subjects(reading) {
            if let [older, newer] = subject.blocks[..]
                && texts.of(subject.task, subject.address).is_some_and(|answer| answer.get("lost").is_some_and(String::is_empty))
            {
                reading.mark_alike(older, newer);
            }
        }
        for subject in echo_subjects(reading) {
            let Some(numbers) = texts.of(subject.task, subject.address).and_then(|mut answer| answer.remove("texts")) else {
                continue;
            };
            let [by, results @ ..] = subject.blocks.as_slice() else { continue };
            for place in numbers.split(',').filter_map(|number| number.parse::<usize>().ok()?.checked_sub(1)) {
                if let Some(result) = results.get(place) {
                    reading.add_echo(*result, *by);
                }
            }
        }
    }
}

impl SidecarTexts {
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the texts of the answer about a content; `None` if there is none, or it was refused.
    pub fn of(&self, task: SidecarTask, address: Key) -> Option<AnswerTexts> {
        let value = self.value(task, address, &self.session)?;
        serde_json::from_slice(&value).ok()
    }

    /// Returns the text of a block and the name of its model, by the hash of the original.
    pub fn summarized(&self, original: Key) -> Option<(String, String)> {
        let text = self.of(SidecarTask::Block, block_address(original))?.remove("summary")?;
        Some((text, self.model.clone()))
    }

    /// Returns true if the vectors improved search on the user's own sessions.
    pub fn improves_search(&self) -> bool {
        self.store.lock().is_ok_and(|store| store.improves(&self.embedding_model).unwrap_or_default())
    }

    /// Returns the vector of a turn of a session, by its content in the index.
    pub fn vector(&self, address: Key, session: &Path) -> Option<Vec<f32>> {
        let value = self.value(SidecarTask::Embedding, address, session)?;
        Some(value.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn value(&self, task: SidecarTask, address: Key, session: &Path) -> Option<Vec<u8>> {
        let model = if task == SidecarTask::Embedding { &self.embedding_model } else { &self.model };
        match self.store.lock().ok()?.result(task, address, model) {
            Ok(Some(SidecarResult::Value(value))) => Some(value),
            Ok(Some(SidecarResult::Refused(_))) | Err(_) => None,
            Ok(None) => {
                let new = NewTask { task, address, session: session.to_owned(), model: model.clone() };
                self.missing.lock().ok()?.push(new);
                None
            }
        }
    }
}

impl Drop for SidecarTexts {
    fn drop(&mut self) {
        let (Ok(missing), Ok(store)) = (self.missing.get_mut(), self.store.lock()) else { return };
        // A worker in another process cannot read a session that only a proxy has.
        missing.retain(|new| request_id(&new.session).is_none());
        // A queue that another process writes for long receives them another time.
        let _ = store.enqueue(missing);
    }
}
