//! Installation, hooks and settings.

use super::Number;
use super::words::GitHook;
use crate::output;
use serde_json::Value;

json_objects! {
    /// The installation into another program, its removal, or its dry run.
    Install from report: output::InstallReport {
        /// Action: `install` or `uninstall`.
        verb: String = report.verb,
        /// Other program.
        into: String = report.into,
        /// Scope: `user`, `project` or `local`.
        scope: String = report.scope,
        /// True if nothing was written.
        dry_run: bool = report.dry_run,
        /// True if the installation was only checked.
        check: bool = report.check,
        /// Files.
        files: Vec<FileChange> = report.files,
    }

    /// A change of a file.
    FileChange from file: output::FileChange {
        /// File.
        path: String = file.path.display().to_string(),
        /// Action: `create`, `change`, `delete` or `keep`.
        action: String = file.action,
        /// Entries of other programs that were kept in place of aperture's own.
        taken: Vec<String> = file.taken,
        /// Unified diff, with credentials masked.
        difference: String = file.difference,
    }

    /// The installation of git hooks, their removal, or its dry run.
    GitHooks from report: output::GitHooksReport {
        /// Git hooks.
        hooks: Vec<InstalledHook> = report.hooks,
        /// True if nothing was written.
        dry_run: bool = report.dry_run,
        /// True if the installation was only checked.
        check: bool = report.check,
    }

    /// A git hook.
    InstalledHook from hook: output::InstalledHook {
        /// Hook.
        hook: GitHook = hook.hook,
        /// Script.
        path: String = hook.path,
        /// True if it is installed.
        installed: bool = hook.installed,
        /// True if it was, or would be, changed.
        changed: bool = hook.changed,
    }

    /// The answer to an event of an agent program.
    Hook from report: output::HookReport {
        /// Event.
        event: String = report.event,
        /// Additional context for the model.
        context: Option<String> = report.context,
        /// Replacement of the result of a tool, in the form of that tool.
        output: Option<Value> = report.output,
        /// Text for the person, which the model does not receive.
        message: Option<String> = report.message,
    }

    /// The presets.
    Presets from report: output::PresetReport {
        /// Presets, the mildest first.
        presets: Vec<Preset> = report.presets,
    }

    /// A preset.
    Preset from preset: output::PresetRow {
        /// Name.
        name: String = preset.name,
        /// Description.
        description: String = preset.description,
        /// Measured share of what the agent needed later that is left; null if the settings override the preset.
        keeps_percent: Option<u32> ["percent"] = preset.measured.map(|(kept, _)| kept),
        /// Measured share of the old content that is removed; null as above.
        frees_percent: Option<u32> ["percent"] = preset.measured.map(|(_, freed)| freed),
        /// Minimum usefulness per byte: the chance that the agent needs the content.
        worth_millionths: Number ["parts per million"] = preset.worth_millionths,
        /// Newest part of the window that is kept almost unchanged, as a share of its tokens.
        newest_percent: Number ["percent"] = preset.newest_percent,
        /// True if the preset is in use.
        used: bool = preset.used,
    }
}
