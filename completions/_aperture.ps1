
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'aperture' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'aperture'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'aperture' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('manifest', 'manifest', [CompletionResultType]::ParameterValue, 'Show the context manifest: what the window holds, in a few hundred tokens')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'List the sessions on this machine')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show one screen about a session: fullness, shares, what is stale')
            [CompletionResult]::new('summary', 'summary', [CompletionResultType]::ParameterValue, 'Show a session and its turns in short: goal, story, state, what is next')
            [CompletionResult]::new('blocks', 'blocks', [CompletionResultType]::ParameterValue, 'List blocks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the content of blocks')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a block: why it is stale or in use, what refers to it, what would be left of it')
            [CompletionResult]::new('transcript', 'transcript', [CompletionResultType]::ParameterValue, 'Write the conversation as the model would see it')
            [CompletionResult]::new('compress', 'compress', [CompletionResultType]::ParameterValue, 'Shorten blocks: what is stale, what is named, or until a budget is met')
            [CompletionResult]::new('expand', 'expand', [CompletionResultType]::ParameterValue, 'Bring shortened blocks back')
            [CompletionResult]::new('archive', 'archive', [CompletionResultType]::ParameterValue, 'Move blocks to cold storage; a line stays in their place')
            [CompletionResult]::new('recall', 'recall', [CompletionResultType]::ParameterValue, 'Search what left the model''s sight, and bring it back')
            [CompletionResult]::new('pin', 'pin', [CompletionResultType]::ParameterValue, 'Protect blocks from being shortened')
            [CompletionResult]::new('unpin', 'unpin', [CompletionResultType]::ParameterValue, 'No longer protect blocks')
            [CompletionResult]::new('focus', 'focus', [CompletionResultType]::ParameterValue, 'Select the blocks that matter now')
            [CompletionResult]::new('unfocus', 'unfocus', [CompletionResultType]::ParameterValue, 'Let selected blocks go')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Put another text in the place of a block')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Add a note at the end of a session')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Fold whole turns into one note')
            [CompletionResult]::new('uncompact', 'uncompact', [CompletionResultType]::ParameterValue, 'Show again what a compaction of the client hid')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show what the model sees differently')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'List what was done to a session')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'Name points in the log')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Bring a session back to a point in its log')
            [CompletionResult]::new('preset', 'preset', [CompletionResultType]::ParameterValue, 'List and choose how short stale blocks get')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Take an operation back')
            [CompletionResult]::new('redo', 'redo', [CompletionResultType]::ParameterValue, 'Take an undo back')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Hold the store and the sessions against each other')
            [CompletionResult]::new('gc', 'gc', [CompletionResultType]::ParameterValue, 'Forget what nobody needs any more, if asked twice')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write the originals and the log of a session into one file')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Take the originals and the log of a session from such a file')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve these commands to a model, over the Model Context Protocol')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Explain a command or a topic, such as `selectors`')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('util', 'util', [CompletionResultType]::ParameterValue, 'Tools for developers of aperture')
            break
        }
        'aperture;manifest' {
            [CompletionResult]::new('--tier', '--tier', [CompletionResultType]::ParameterName, 'How much it says: summary (at most 200 tokens), detailed (at most 500), full')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Tokens that the text may take, in place of what the tier allows; JSON is never cut')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only what is different since then: an operation, a snapshot, or a turn such as turn:12')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;sessions' {
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'Only sessions of the project in this directory')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only sessions whose model''s name contains this')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'What to sort by')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Sessions to list; 0 lists all [default: 50; all with --json]')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Only sessions that a running client has open')
            [CompletionResult]::new('--subagents', '--subagents', [CompletionResultType]::ParameterName, 'Also the sessions of subagents')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Also files without a single prompt or response')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'Sort the other way round')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;status' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;summary' {
            [CompletionResult]::new('--turns', '--turns', [CompletionResultType]::ParameterName, 'Only these turns, such as 3..5, 3.. or ..5')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'Only this turn')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How it is written')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Also all that was said and done in the turn')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;blocks' {
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'What to sort by')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'Sort the other way round')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Show the blocks under their turns')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;show' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Write the content as it is sent to the model, and nothing else')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;explain' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;transcript' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--headers', '--headers', [CompletionResultType]::ParameterName, 'Write the in-band header of each message and part')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Write the content alone, exactly as it is sent')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'Also what the client adds in the system''s name: reminders, lists of skills and agents')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Also what the client adds in the system''s name: reminders, lists of skills and agents')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;compress' {
            [CompletionResult]::new('--budget', '--budget', [CompletionResultType]::ParameterName, 'The same, with this budget: tokens, or a share of the window''s size such as 50%')
            [CompletionResult]::new('--level', '--level', [CompletionResultType]::ParameterName, 'How much is left [default: by a rule, or summarized]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'How much of what is old stays: lossless, light, balanced, aggressive or handoff')
            [CompletionResult]::new('--keep-from', '--keep-from', [CompletionResultType]::ParameterName, 'Leave everything from this block on as it is')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--stale', '--stale', [CompletionResultType]::ParameterName, 'What is old and will hardly be needed again')
            [CompletionResult]::new('--over-budget', '--over-budget', [CompletionResultType]::ParameterName, 'What will be missed least, until the window fits its budget')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;expand' {
            [CompletionResult]::new('--level', '--level', [CompletionResultType]::ParameterName, 'How much is left: trimmed or summarized [default: all of it]')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;archive' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for the line that stays and for the log')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;recall' {
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Tokens that are printed, at most')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'In every session of this project, also those whose file is gone')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'In every session, also those whose file is gone')
            [CompletionResult]::new('--restore', '--restore', [CompletionResultType]::ParameterName, 'Put the blocks back in their place')
            [CompletionResult]::new('--inject', '--inject', [CompletionResultType]::ParameterName, 'Add what is found as a note at the end of the session')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;pin' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--top', '--top', [CompletionResultType]::ParameterName, 'It belongs at the beginning')
            [CompletionResult]::new('--bottom', '--bottom', [CompletionResultType]::ParameterName, 'It belongs at the end')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;unpin' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;focus' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'Keep what is selected already')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;unfocus' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;update' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;create' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;compact' {
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'What the note says [default: prompts, tools and answers of the turns]; - reads standard input')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;uncompact' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;diff' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--stat', '--stat', [CompletionResultType]::ParameterName, 'One line a block')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Show whole texts, also where most of one is gone')
            [CompletionResult]::new('--exit-code', '--exit-code', [CompletionResultType]::ParameterName, 'Exit with 1 when something is different')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;log' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;snapshot' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('save', 'save', [CompletionResultType]::ParameterValue, 'Name the point where the session is now')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the names')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what was done since')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Take a name away; nothing else is lost')
            break
        }
        'aperture;snapshot;save' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;snapshot;list' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;snapshot;show' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;snapshot;delete' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;restore' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;preset' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the presets')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one preset, by default the one in use with the settings over it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Use a preset in this project: sets it in aperture.toml')
            break
        }
        'aperture;preset;list' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;preset;show' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;preset;use' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;undo' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;redo' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change and what it costs; write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Also change a session that a client has open; type /resume in the client afterwards')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;verify' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every session in the store')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;gc' {
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'How old the last operation of a session has to be: hours, days or weeks')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--gone', '--gone', [CompletionResultType]::ParameterName, 'Also sessions whose file is gone')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only list, which is also what happens without --yes')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only list, which is also what happens without --yes')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Delete what is listed')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;export' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'File to write')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'File to write')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace the file if it exists')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;import' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace another log, or take one that does not fit the session')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;mcp' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;help' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;completions' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'aperture;util' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('accuracy', 'accuracy', [CompletionResultType]::ParameterValue, 'Compare token estimates with the bills of sessions')
            break
        }
        'aperture;util;accuracy' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Write JSON')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Read everything anew, and remember nothing')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Do not use a pager')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
