
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
            [CompletionResult]::new('blocks', 'blocks', [CompletionResultType]::ParameterValue, 'List blocks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the content of blocks')
            [CompletionResult]::new('transcript', 'transcript', [CompletionResultType]::ParameterValue, 'Write the conversation as the model would see it')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Explain a command or a topic, such as `selectors`')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('util', 'util', [CompletionResultType]::ParameterValue, 'Tools for developers of aperture')
            break
        }
        'aperture;manifest' {
            [CompletionResult]::new('--tier', '--tier', [CompletionResultType]::ParameterName, 'How much it says: summary (at most 200 tokens), detailed (at most 500), full')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Tokens that the text may take, in place of what the tier allows; JSON is never cut')
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
        'aperture;transcript' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Session: a path, an id or the beginning of one [default: the newest of this project]')
            [CompletionResult]::new('--window', '--window', [CompletionResultType]::ParameterName, 'Tokens that the model''s window holds, such as 200k [default: by model]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'Run as if started in this directory')
            [CompletionResult]::new('--headers', '--headers', [CompletionResultType]::ParameterName, 'Write the in-band header of each message and part')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Write the content alone, exactly as it is sent')
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
