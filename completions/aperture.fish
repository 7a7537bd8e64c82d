# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_aperture_global_optspecs
    string join \n s/session= json window= color= C/directory= no-cache no-pager h/help V/version
end

function __fish_aperture_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_aperture_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_aperture_using_subcommand
    set -l cmd (__fish_aperture_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c aperture -n "__fish_aperture_needs_command" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_needs_command" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_needs_command" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_needs_command" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_needs_command" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_needs_command" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_needs_command" -s V -l version -d 'Print version'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "status" -d 'Show one screen about a session: fullness, shares, stale blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "manifest" -d 'Show the context manifest: the window in a few hundred tokens'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "sessions" -d 'List the sessions on this machine'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "search" -d 'Find turns of all sessions by their words'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "topics" -d 'List the topics of all sessions, with their sessions'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "summary" -d 'Summarize a session and its turns: goal, story, state, next steps'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "pack" -d 'Print a session within a token budget, to continue from it'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "blocks" -d 'List blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "show" -d 'Show the content of blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "explain" -d 'Explain the state of a block: references to it, staleness, levels'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "transcript" -d 'Print the conversation as the model would see it'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "timeline" -d 'List the requests of a session: their windows, cache and cost'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "recall" -d 'Search archived, shortened and compacted content; optionally restore it'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "blame" -d 'Show which session, turn and prompt wrote the lines of a file'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "usage" -d 'Add up tokens and cost by day, week, month, session, project or model'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "compress" -d 'Shorten blocks: stale ones, selected ones, or down to a budget'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "expand" -d 'Restore shortened blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "archive" -d 'Take blocks out of the window; leaves a one-line marker for each'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "pin" -d 'Protect blocks from being shortened'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "unpin" -d 'Remove the protection of blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "focus" -d 'Mark blocks as relevant'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "unfocus" -d 'Clear the focus marks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "update" -d 'Replace the text of a block'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "create" -d 'Append a note to a session'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "redact" -d 'Replace credentials in a session with placeholders'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "repair" -d 'Repair damage that changes or blocks the next request'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "shrink" -d 'Make a session file smaller; the window stays the same'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "compact" -d 'Fold whole turns into one note'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "uncompact" -d 'Restore the messages hidden by the last compaction'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "preset" -d 'List and choose compression presets'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "undo" -d 'Undo an operation'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "redo" -d 'Redo an undone operation'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "log" -d 'List the operations on a session'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "diff" -d 'Show the changes to the window between two points of the log'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "snapshot" -d 'Name points in the log'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "restore" -d 'Restore a session to a point in its log'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "fork" -d 'Copy a session up to a turn or a block into a new one'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "convert" -d 'Write a session as a new one of another client'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "obey" -d 'Execute the @commands in the model\'s messages'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "inbox" -d 'List model commands awaiting your approval'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "approve" -d 'Execute pending model commands'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "deny" -d 'Reject pending model commands'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "housekeeping" -d 'Record the model\'s header and summary of a turn'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "mcp" -d 'Serve the commands as tools over the Model Context Protocol'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "memory" -d 'Manage memories learned from sessions'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "tui" -d 'Show and change a session on a screen'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "serve" -d 'Show and change sessions on a page in the browser'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "run" -d 'Run a client behind the proxy'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "proxy" -d 'Serve as a proxy between clients and their API'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "stage" -d 'Queue text for the next prompt of a proxied session'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "watch" -d 'Follow a session: a live screen, lines, or JSON'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "sidecar" -d 'Let a local model polish texts in the background'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "install" -d 'Install hooks and integrations for Claude Code or git'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "uninstall" -d 'Remove exactly the parts added by install'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "hook" -d 'Handle a Claude Code hook event (JSON on stdin)'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "statusline" -d 'Print the status line of Claude Code (JSON on stdin)'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "doctor" -d 'Examine the installation, the clients and the store'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "config" -d 'Print and change the settings'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "keep" -d 'Copy sessions before their client deletes them; restore them'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "check" -d 'Check sessions in scripts, git hooks and CI: credentials, damage, size'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "verify" -d 'Check stored originals and logs against the session files'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "gc" -d 'Delete unreferenced originals (dry run unless --yes)'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "store" -d 'Encrypt what is stored, or decrypt it'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "export" -d 'Write the originals and the log of a session to one file'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "import" -d 'Read the originals and the log of a session from such a file'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "report" -d 'Write one HTML file that shows a session, or the usage of many'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "completions" -d 'Print a shell completion script'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "help" -d 'Explain a command or a topic, such as `selectors`'
complete -c aperture -n "__fish_aperture_using_subcommand status" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand status" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand status" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand status" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand status" -l offers -d 'Print all suggested commands, not only the best one'
complete -c aperture -n "__fish_aperture_using_subcommand status" -l no-suggestions -d 'Suggest no command: the figures alone, without the plans that take longest'
complete -c aperture -n "__fish_aperture_using_subcommand status" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand status" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand status" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l tier -d 'Size: summary (at most 200 tokens), detailed (at most 500), full' -r -f -a "summary\t'At most 200 tokens: fill level, current task, the most important files, suggestions'
detailed\t'At most 500 tokens: rules of the user, files in work, zones, topics, the largest stale blocks'
full\t'Everything, without a limit'"
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l max-tokens -d 'Maximum size in tokens, instead of that of the tier; JSON is never truncated' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l since -d 'Only the differences since a point: an operation, a snapshot, or a turn such as turn:12' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l project -d 'Only sessions of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l client -d 'Only sessions of this client: claude-code, codex, opencode or gemini' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l model -d 'Only sessions whose model\'s name contains this' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l since -d 'Only sessions written to in this time, such as 12h, 7d or 8w' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l until -d 'Only sessions not written to in this time' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l larger -d 'Only files of at least this size, such as 500k or 2M bytes' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l fuller -d 'Only sessions whose window is full to at least this percentage' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l sort -d 'Sort key' -r -f -a "age\t'The newest first'
tokens\t'The largest window first'
full\t'The fullest window first'
size\t'The largest file first'
turns\t'The most turns first'"
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l limit -d 'Sessions to list; 0 lists all [default: 50; all with --json]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l open -d 'Only sessions that a running client has open'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l subagents -d 'Also the sessions of subagents'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l empty -d 'Also files without a single prompt or response'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l topics -d 'Show the topics of each session in place of its title; reads each session once'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l reverse -d 'Reverse the order'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l project -d 'Only sessions of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand search" -l since -d 'Only turns from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l until -d 'Only turns until this day, inclusive, written like that of --since' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l client -d 'Only sessions of this client: claude-code, codex, opencode or gemini' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l role -d 'Only what one of them said: user, agent or tool' -r -f -a "user\t''
agent\t''
tool\t''"
complete -c aperture -n "__fish_aperture_using_subcommand search" -l tool -d 'Only calls of this tool and their results' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l path -d 'Only calls on files whose path contains this, and texts that name it' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l kind -d 'Only texts of this kind: prompt, answer, call, result or summary' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l blocks -d 'Only blocks of the session named with -s, by a selector' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l sort -d 'Sort by: relevance or time, the newest first' -r -f -a "relevance\t'The best first'
time\t'The newest first'"
complete -c aperture -n "__fish_aperture_using_subcommand search" -l limit -d 'Sessions to print' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l max-tokens -d 'Maximum number of tokens printed' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand search" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand search" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand search" -l literal -d 'The words are one text, searched as it is'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l regex -d 'The words are one regular expression'
complete -c aperture -n "__fish_aperture_using_subcommand search" -s i -l ignore-case -d 'Without regard to case, with --literal or --regex'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l current -d 'Also the session that asks'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l json-lines -d 'One line of JSON for each session'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand search" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l project -d 'Only sessions of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l since -d 'Only turns from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)' -r
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l until -d 'Only turns until this day, inclusive, written like that of --since' -r
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l client -d 'Only sessions of this client: claude-code, codex, opencode or gemini' -r
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l sort -d 'Sort by: tokens, sessions or time, the largest or newest first' -r -f -a "tokens\t'The most tokens first'
sessions\t'The most sessions first'
time\t'The newest first'"
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l limit -d 'Topics to print; 0 prints all' -r
complete -c aperture -n "__fish_aperture_using_subcommand topics" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand topics" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand topics" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand topics" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l turns -d 'Only these turns, such as 3,7..9 or 3..' -r
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l turn -d 'Only this turn' -r
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l format -d 'Output format' -r -f -a "text\t'For a terminal'
markdown\t'Markdown, to keep or to hand on'
json\t'JSON, as with --json'"
complete -c aperture -n "__fish_aperture_using_subcommand summary" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand summary" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l full -d 'Also all texts and tool calls of the turn'
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand summary" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand summary" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l budget -d 'Maximum number of tokens' -r
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l query -d 'Words whose lines come first, as in search' -r
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l turns -d 'Turns that come first: 3,7..9' -r
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l as -d 'Form of these turns [default: mixed: summaries, then full texts]' -r -f -a "header\t''
summary\t''
full\t''
mixed\t''"
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l seed -d 'Order of lines of equal value' -r
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l format -d 'Output format' -r -f -a "text\t'The text for a model'
json\t'JSON, as with --json'
messages\t'A JSON array of messages for an API: system prompt, context, user input'"
complete -c aperture -n "__fish_aperture_using_subcommand pack" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand pack" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l across -d 'Include the other sessions of the project: their titles, and summaries of the newest'
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l explain -d 'Print the parts with their lines and tokens instead of the text'
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand pack" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand pack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l sort -d 'Sort key' -r -f -a "number\t'File order'
tokens\t'The most expensive first'
age\t'The oldest first'
heat\t'The hottest first'
references\t'The most referenced first'
stale\t'The longest unused first'"
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l reverse -d 'Reverse the order'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l tree -d 'Show the blocks under their turns'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand show" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand show" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand show" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand show" -l raw -d 'Print only the content as sent to the model, including credentials and control characters'
complete -c aperture -n "__fish_aperture_using_subcommand show" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand show" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand show" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand explain" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand explain" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand explain" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand explain" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand explain" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand explain" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand explain" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l headers -d 'Print a header for each message and part'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l raw -d 'Print only the content exactly as sent, including credentials and control characters'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l client-texts -d 'Also texts that the client adds: reminders, lists of skills and agents'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -l limit -d 'Requests to print, the newest; 0 prints all' -r
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand timeline" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l max-tokens -d 'Maximum number of tokens printed' -r
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l project -d 'In every session of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l turns -d 'Turns, such as 3,7..9 or 3.., in the window or not' -r
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l as -d 'Form of the turns: header, summary, full or mixed [default: mixed]' -r -f -a "header\t''
summary\t''
full\t''
mixed\t''"
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l priority -d 'Turns that get the budget first: recent, relevant to the query, or specific (as listed)' -r -f -a "recent\t''
relevant\t''
specific\t''"
complete -c aperture -n "__fish_aperture_using_subcommand recall" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand recall" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l all -d 'In every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l memory -d 'In the memories and in all sessions of this project, archived or not'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l restore -d 'Restore the blocks in place'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l inject -d 'Add the matches as a note at the end of the session'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand recall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand blame" -s L -l lines -d 'Only these lines, from 1' -r
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l rev -d 'The file in this commit [default: the working tree]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blame" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand blame" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l note -d 'Add a git note (refs/notes/aperture) to each commit that introduced such lines'
complete -c aperture -n "__fish_aperture_using_subcommand blame" -s n -l dry-run -d 'Print the notes without writing them'
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand blame" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand blame" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l by -d 'Group by day, week (from Monday on), month, session (its subagents included), project or model' -r -f -a "day\t''
week\t''
month\t''
session\t''
project\t''
model\t''"
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l since -d 'Only responses from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)' -r
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l until -d 'Only responses until this day, inclusive, written like that of --since' -r
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l project -d 'Only sessions of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l client -d 'Only sessions of this client: claude-code, codex, opencode or gemini' -r
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l model -d 'Only responses of models whose name contains this' -r
complete -c aperture -n "__fish_aperture_using_subcommand usage" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand usage" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand usage" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand usage" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l budget -d 'Like --over-budget, with this budget: tokens, or a share of the window\'s size such as 50%' -r
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l level -d 'Level of the result [default: by a rule, or summarized]' -r -f -a "trimmed\t''
summarized\t''
minimal\t''"
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l preset -d 'Old blocks, stale or not, at this strength: lossless, light, balanced, aggressive, layers or handoff; with --stale, only stale ones' -r -f -a "lossless\t''
light\t''
balanced\t''
aggressive\t''
layers\t''
handoff\t''"
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l keep-from -d 'Do not change this block and later ones' -r
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l keep-turns -d 'Do not change the blocks of the last N turns [default: setting protect.turns, unless blocks are selected]' -r
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand compress" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand compress" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l stale -d 'Stale blocks only: those that aperture blocks stale lists'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l over-budget -d 'The least useful blocks, until the window is within its budget'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l force -d 'Also make a change that saves under 1 % of the window'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand compress" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l level -d 'Level of the result: trimmed or summarized [default: the original]' -r -f -a "trimmed\t''
summarized\t''
minimal\t''"
complete -c aperture -n "__fish_aperture_using_subcommand expand" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand expand" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand expand" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand expand" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l reason -d 'Reason, for the remaining line and for the log' -r
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand archive" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand archive" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand archive" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand archive" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand pin" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l top -d 'Restore it at the beginning of the window'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l bottom -d 'Restore it at the end of the window'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l always -d 'In every session: path(GLOB), tool(GLOB) or contains(TEXT) goes into the settings'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l in-project -d 'With --always: in the settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand pin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l always -d 'A pin of --always: removes it from the settings'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l in-project -d 'With --always: in the settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand unpin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand focus" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l add -d 'Keep the current focus marks'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand focus" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand unfocus" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand update" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand update" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand update" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand update" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand update" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand update" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand create" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand create" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand create" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand create" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand create" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand create" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l text -d 'Texts of your own instead of credentials, one on each line: @- reads standard input, @FILE a file' -r
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand redact" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand redact" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l whole-file -d 'All texts in the file, including those outside blocks'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l all-sessions -d 'The earlier name of `--all`; with it, `--all` is the earlier name of `--whole-file`'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l forget -d 'Also remove them from the stored originals and the caches: no undo restores them'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l yes -d 'Apply --forget, which is a dry run otherwise'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand redact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand repair" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand repair" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand repair" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand shrink" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l summary -d 'Text of the note [default: prompts, tools and answers of the turns]; - reads standard input' -r
complete -c aperture -n "__fish_aperture_using_subcommand compact" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand compact" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand compact" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uncompact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -f -a "list" -d 'List the presets'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -f -a "show" -d 'Show one preset, by default the one in use with the settings applied'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and not __fish_seen_subcommand_from list show use" -f -a "use" -d 'Use a preset in this project: set it in aperture.toml'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand preset; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand undo" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand undo" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand undo" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand redo" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand redo" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand redo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand log" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand log" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand log" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand log" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand log" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand log" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand log" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand diff" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l stat -d 'One line per block'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l full -d 'Show whole texts, even if most of a text was removed'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l exit-code -d 'Exit with 1 if there is a difference'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -f -a "save" -d 'Name the current point'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -f -a "list" -d 'List the names'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -f -a "show" -d 'List the operations since'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and not __fish_seen_subcommand_from save list show delete" -f -a "delete" -d 'Delete a name; nothing else changes'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l force -d 'Move an existing name to the current point'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand snapshot; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand restore" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand restore" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand fork" -l at -d 'Copy up to this block (the last match of a selector) [default: the end]' -r
complete -c aperture -n "__fish_aperture_using_subcommand fork" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand fork" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand fork" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand fork" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand fork" -s n -l dry-run -d 'Report the fork, without writing it'
complete -c aperture -n "__fish_aperture_using_subcommand fork" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand fork" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand fork" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand fork" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand convert" -l to -d 'Client that continues it' -r -f -a "claude-code\t''
codex\t''"
complete -c aperture -n "__fish_aperture_using_subcommand convert" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand convert" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand convert" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand convert" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand convert" -s n -l dry-run -d 'Report the new session, without writing it'
complete -c aperture -n "__fish_aperture_using_subcommand convert" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand convert" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand convert" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand obey" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand obey" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand obey" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand obey" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand obey" -s n -l dry-run -d 'Dry run: show the result; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand obey" -l tell -d 'Print the results that the model has not received yet, each once'
complete -c aperture -n "__fish_aperture_using_subcommand obey" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand obey" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand obey" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand obey" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -l all -d 'In every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand inbox" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand approve" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l pending -d 'All pending ones of this session'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -s n -l dry-run -d 'Dry run: show the result; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand approve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l reason -d 'Reason, for the model' -r
complete -c aperture -n "__fish_aperture_using_subcommand deny" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand deny" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l pending -d 'All pending ones of this session'
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand deny" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand deny" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l turn -d 'The turn [default: the last one]' -r
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -s n -l dry-run -d 'Dry run: show the changes and their cost; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l stat -d 'In a dry run, show one line for each block, the largest first'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l full -d 'In a dry run, show all changed lines'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l live -d 'Also change a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l keep-thinking -d 'Keep the thinking after the first change; rejected for models that sign thinking over preceding content'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand housekeeping" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "list" -d 'List entries'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "show" -d 'Show entries or a file, with the metadata'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "search" -d 'Search the entries, and all sessions of the project'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "add" -d 'Add an entry'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "edit" -d 'Replace the text of an entry; without TEXT, opens the editor'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "forget" -d 'Delete entries; they are not learned again'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "pin" -d 'Put an entry into every composed text, before all others: at most 150 tokens'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "why" -d 'Print the evidence of an entry: quotes from its sessions'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "learn" -d 'Learn from sessions: those of the project, one (-s), or all'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "compose" -d 'Print the memory text for a new session, within a token budget'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "review" -d 'Ask about pending entries and contradictions, list them, or decide about them'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "stats" -d 'Count entries, sightings and tokens'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "export" -d 'Write the active entries as a section of an instruction file, or print it'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "init" -d 'Create the tree of the project'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "move" -d 'Take over the entries of the directory that the project had before it was moved or renamed'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "log" -d 'List the operations'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "diff" -d 'Show the file changes made by an operation'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and not __fish_seen_subcommand_from list show search add edit forget pin why learn compose review stats export init move log diff undo" -f -a "undo" -d 'Undo an operation'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l state -d 'Only entries in this state [default: pending and active]' -r -f -a "pending\t''
active\t''
superseded\t''
archived\t''"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l kind -d 'Only entries of this kind' -r -f -a "correction\t''
preference\t''
fact\t''
resolution\t''
environment\t''
discovery\t''
procedure\t''
context\t''
entity\t''
capability\t''
mistake\t''
performance\t''"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l file -d 'Only entries of this file, such as gotchas' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l retired -d 'Also list superseded and archived entries'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l json-lines -d 'Print one JSON object per line'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l prompt-file -d 'A file with the text; - reads standard input' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -s n -l limit -d 'Number of places in sessions' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l retired -d 'Also search superseded and archived entries'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l json-lines -d 'Print one JSON object per line'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l file -d 'The file, such as gotchas or release-workflow [default: by kind]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l kind -d 'Kind [default: by file, else fact]' -r -f -a "correction\t''
preference\t''
fact\t''
resolution\t''
environment\t''
discovery\t''
procedure\t''
context\t''
entity\t''
capability\t''
mistake\t''
performance\t''"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l user -d 'Into the tree of the user, for all projects'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l file -d 'Move it to another file' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l everything -d 'All entries of the project; with --user, of the user'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l user -d 'With --everything: the tree of the user'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l off -d 'Unpin it'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from pin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l all -d 'Learn from the sessions of all projects, each into its own tree'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -s n -l dry-run -d 'Print the changes and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from learn" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l prompt -d 'The prompt: memories about it come first' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l prompt-file -d 'A file with the prompt; - reads standard input' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l budget -d 'Maximum size in tokens (o200k)' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from compose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l accept -d 'Make an entry active; an entry that it contradicts is superseded' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l reject -d 'Archive an entry for good; an entry that it superseded is active again' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l merge -d 'Merge the second entry into the first' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l accept-tree -d 'Accept the tree in .aperture/memory/ of this repository as yours'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from review" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l format -d 'The client whose instruction file it is for' -r -f -a "agents-md\t''
claude-md\t''"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -s o -l output -d 'The file; only the section of aperture in it is replaced' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -s n -l dry-run -d 'Print the section and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l in-project -d 'In the project, for version control, instead of the data of aperture'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from move" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -s n -l limit -d 'Number of operations' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l project -d 'Project directory, or a folder of sessions of a client [default: the project of this directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l user -d 'The newest of the user\'s tree'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -s n -l dry-run -d 'Print the change and write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand memory; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand tui" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand tui" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand tui" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand tui" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand tui" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand tui" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand tui" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand tui" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l listen -d 'Address to listen on, of this machine; port 0 chooses a free one' -r
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l allow-host -d 'Also answer requests to this host, such as the near end of a tunnel' -r
complete -c aperture -n "__fish_aperture_using_subcommand serve" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand serve" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l open -d 'Open the page in the browser'
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand serve" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand run" -l budget -d 'Keep the window below this size: older blocks are shortened when it exceeds it' -r
complete -c aperture -n "__fish_aperture_using_subcommand run" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand run" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand run" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand run" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand run" -l observe -d 'Log requests without modifying them'
complete -c aperture -n "__fish_aperture_using_subcommand run" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand run" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand run" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l listen -d 'Address to listen on; port 0 chooses a free one' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l upstream -d 'Base URL of the API [default: by the request]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l record -d 'Write the bodies of requests and responses to this directory, with credentials masked' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l observe -d 'Log requests without modifying them'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l allow-remote -d 'Allow other machines to connect: requests need the token of APERTURE_PROXY_TOKEN in the header x-aperture-token'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -f -a "status" -d 'Show the address and the totals of the running proxy'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -f -a "requests" -d 'List the newest requests, also those of earlier proxies'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -f -a "explain" -d 'Explain a request: what each stage did to it, and why'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and not __fish_seen_subcommand_from status requests explain stop" -f -a "stop" -d 'Stop the running proxy; open streams may finish'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -s n -l limit -d 'List only this number of requests' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from requests" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand proxy; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand stage" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand stage" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand stage" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand stage" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand stage" -l clear -d 'Discard queued texts'
complete -c aperture -n "__fish_aperture_using_subcommand stage" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand stage" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand stage" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand stage" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l project -d 'Also show every session of the project in this directory, a line each [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l for -d 'End after this number of seconds' -r
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l until-idle -d 'End after this number of seconds without an event' -r
complete -c aperture -n "__fish_aperture_using_subcommand watch" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand watch" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l apply-policy -d 'Apply the rules of the settings while the session is idle'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l live -d 'Also apply them to a session that a client has open; type /resume in the client afterwards'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l lines -d 'Print lines, even on a terminal'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l beside -d 'End with the process that started it'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -f -a "run" -d 'Work on the queue until it is stopped'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -f -a "status" -d 'Show the server, the model, its answers and refusals'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -f -a "queue" -d 'List the tasks in the queue'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -f -a "drain" -d 'Work on the queue until it is empty'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -f -a "clear" -d 'Delete the queue'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and not __fish_seen_subcommand_from run status queue drain clear eval" -f -a "eval" -d 'Measure on your own sessions if vectors improve search, and use them only then'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l allow-remote -d 'Allow a server on another machine'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l again -d 'Start a stopped model again, and retry tasks that were set aside'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l beside -d 'End with the process that started this one'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -s n -l limit -d 'List only this number of tasks' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -l add -d 'Queue all contents of the session that have no answer yet'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from queue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l allow-remote -d 'Allow a server on another machine'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l again -d 'Start a stopped model again, and retry tasks that were set aside'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l beside -d 'End with the process that started this one'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from drain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -l answers -d 'Also the answers and the counts of models'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l allow-remote -d 'Allow a server on another machine'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l again -d 'Start a stopped model again, and retry tasks that were set aside'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l beside -d 'End with the process that started this one'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sidecar; and __fish_seen_subcommand_from eval" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "claude-code" -d 'Hooks, status line, MCP server and slash commands of Claude Code'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "codex" -d 'Hooks and MCP server of Codex'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "cursor" -d 'MCP server of Cursor'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "vscode" -d 'MCP server of Visual Studio Code'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "gemini" -d 'MCP server of Gemini CLI'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "opencode" -d 'MCP server of opencode'
complete -c aperture -n "__fish_aperture_using_subcommand install; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "git-hook" -d 'Hooks of git in this repository'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l scope -d 'Where, in the words of Claude Code' -r -f -a "user\t'All projects of the user: in ~/.claude'
project\t'All users of this project: in .claude and .mcp.json'
local\t'This user in this project: hooks and status line in .claude/settings.local.json'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from claude-code" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from codex" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from cursor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from vscode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from gemini" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from opencode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l pre-commit -d 'Before a commit: refuse staged sessions with credentials'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l post-commit -d 'After a commit: add a git note about the session of this project'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l pre-push -d 'Before a push: refuse commits that contain sessions with credentials'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -s n -l dry-run -d 'Dry run: show the result; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l check -d 'Write nothing; exit with 1 if parts are missing'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand install; and __fish_seen_subcommand_from git-hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "claude-code" -d 'Hooks, status line, MCP server and slash commands of Claude Code'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "codex" -d 'Hooks and MCP server of Codex'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "cursor" -d 'MCP server of Cursor'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "vscode" -d 'MCP server of Visual Studio Code'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "gemini" -d 'MCP server of Gemini CLI'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "opencode" -d 'MCP server of opencode'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and not __fish_seen_subcommand_from claude-code codex cursor vscode gemini opencode git-hook" -f -a "git-hook" -d 'Hooks of git in this repository'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -l scope -d 'Where, in the words of Claude Code' -r -f -a "user\t'All projects of the user: in ~/.claude'
project\t'All users of this project: in .claude and .mcp.json'
local\t'This user in this project: hooks and status line in .claude/settings.local.json'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from claude-code" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from codex" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from cursor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from vscode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from gemini" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -l in-project -d 'In the settings of this project, for all its users'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -s n -l dry-run -d 'Show the difference; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from opencode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l pre-commit -d 'Before a commit: refuse staged sessions with credentials'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l post-commit -d 'After a commit: add a git note about the session of this project'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l pre-push -d 'Before a push: refuse commits that contain sessions with credentials'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -s n -l dry-run -d 'Dry run: show the result; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand uninstall; and __fish_seen_subcommand_from git-hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand hook" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand hook" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand hook" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand hook" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand hook" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand hook" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand hook" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand statusline" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "list" -d 'List what is set, and the stages of the proxy'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "get" -d 'Print a value'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "set" -d 'Set a value'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "unset" -d 'Remove a setting'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "add" -d 'Add a value to a list'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "remove" -d 'Remove a value from a list'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "path" -d 'Print the path of the settings file'
complete -c aperture -n "__fish_aperture_using_subcommand config; and not __fish_seen_subcommand_from list get set unset add remove path edit" -f -a "edit" -d 'Open the settings in the editor'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -l in-project -d 'In the settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -l in-project -d 'In the settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -l in-project -d 'In the settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -l in-project -d 'In the settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -l in-project -d 'That of the project'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -l in-project -d 'The settings of the project'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand config; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l project -d 'Every session of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -s n -l dry-run -d 'Count the sessions; copy nothing'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -a "status" -d 'List the sessions that clients will delete, and when'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -a "list" -d 'List the copies'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -a "restore" -d 'Write a session and the files beside it back to their places'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and not __fish_seen_subcommand_from status list restore forget" -a "forget" -d 'Delete the copies of a session (dry run unless --yes)'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l to -d 'Write only the session, to this file' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l older -d 'The older copy with this number; 1 is the newest of them' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l force -d 'Replace files that have another content; they are copied first'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -s n -l dry-run -d 'List the files; write nothing'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -l yes -d 'Delete them'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand keep; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand check" -l max-tokens -d 'Maximum size of the window, in tokens' -r
complete -c aperture -n "__fish_aperture_using_subcommand check" -l max-percent -d 'Maximum fill level of the window, in percent' -r
complete -c aperture -n "__fish_aperture_using_subcommand check" -l max-stale -d 'Maximum size of all stale blocks, in tokens' -r
complete -c aperture -n "__fish_aperture_using_subcommand check" -l format -d 'Output format' -r -f -a "text\t'For people'
json\t'As JSON'
junit\t'As JUnit XML'
github\t'As annotations of GitHub Actions'"
complete -c aperture -n "__fish_aperture_using_subcommand check" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand check" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand check" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand check" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand check" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l no-secrets -d 'Report credentials in the file'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l no-damage -d 'Report rows that the client loses, contents that the API refuses, identities that are not unique'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand check" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand verify" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand verify" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand verify" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l older-than -d 'Minimum age of the last operation of a session, in hours, days or weeks' -r
complete -c aperture -n "__fish_aperture_using_subcommand gc" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand gc" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l gone -d 'Also sessions whose file no longer exists'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -s n -l dry-run -d 'Only list; the default without --yes'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l yes -d 'Delete the listed sessions and originals'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand gc" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -f -a "status" -d 'Show whether the store is sealed, what it holds, and what stays clear'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -f -a "encrypt" -d 'Seal everything that is stored'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -f -a "decrypt" -d 'Open everything that is sealed'
complete -c aperture -n "__fish_aperture_using_subcommand store; and not __fish_seen_subcommand_from status encrypt decrypt rekey" -f -a "rekey" -d 'Replace the passphrase or the key; with --data, seal everything again with a new data key'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l key-file -d 'A file that only you can read, which is created if it does not exist: for hooks and services' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l passphrase -d 'A passphrase; the default'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l keyring -d 'The keyring of the system'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -s n -l dry-run -d 'List what would be sealed; change nothing'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from encrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -s n -l dry-run -d 'List what would be opened; change nothing'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from decrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l key-file -d 'A file that only you can read, which is created if it does not exist: for hooks and services' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l passphrase -d 'A passphrase; the default'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l keyring -d 'The keyring of the system'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l data -d 'Seal everything again with a new data key'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -s n -l dry-run -d 'List what would be done; change nothing'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand store; and __fish_seen_subcommand_from rekey" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand export" -s o -l output -d 'File to write; with --all or --project, the directory of the files' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand export" -l format -d 'Form of the file' -r -f -a "aperture\t'Originals and log, for import'
markdown\t'Conversation to read, calls of tools folded'
html\t'Page in one file, as of report'
atif\t'Trajectory (ATIF)'
otlp-json\t'OpenTelemetry trace, without any text'"
complete -c aperture -n "__fish_aperture_using_subcommand export" -l to -d 'Encrypt it for a person, with age: a recipient such as age1…' -r
complete -c aperture -n "__fish_aperture_using_subcommand export" -l project -d 'Every session of the project in this directory, including those of subagents [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand export" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand export" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand export" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand export" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand export" -l force -d 'Replace the file if it exists'
complete -c aperture -n "__fish_aperture_using_subcommand export" -l all -d 'Every session on this machine'
complete -c aperture -n "__fish_aperture_using_subcommand export" -l allow-empty -d 'Succeed if there are no sessions, instead of exit code 1'
complete -c aperture -n "__fish_aperture_using_subcommand export" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand export" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand export" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand import" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand import" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand import" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand import" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand import" -l force -d 'Replace another log, or import one that does not match the session'
complete -c aperture -n "__fish_aperture_using_subcommand import" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand import" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand import" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand report" -l html -d 'File to write' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand report" -l project -d 'The usage of the project in this directory [default: the current directory]' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand report" -l since -d 'The usage from this day on: 2026-11-01, today, yesterday, 7d or 2w (days or weeks ago)' -r
complete -c aperture -n "__fish_aperture_using_subcommand report" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand report" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand report" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand report" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand report" -l force -d 'Replace the file if it exists'
complete -c aperture -n "__fish_aperture_using_subcommand report" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand report" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand report" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand completions" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand help" -s s -l session -d 'Session: a path, an id or an id prefix [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand help" -l window -d 'Size of the context window in tokens, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand help" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand help" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand help" -l json -d 'Print JSON'
complete -c aperture -n "__fish_aperture_using_subcommand help" -l no-cache -d 'Do not read or write the cache'
complete -c aperture -n "__fish_aperture_using_subcommand help" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'

function __aperture_values
    aperture complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c aperture -k -a "(__aperture_values)"
complete -c aperture -s s -l session -x -k -a "(__aperture_values)"
complete -c aperture -n "__fish_seen_subcommand_from fork" -l at -x -k -a "(__aperture_values)"
