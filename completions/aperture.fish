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

complete -c aperture -n "__fish_aperture_needs_command" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_needs_command" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_needs_command" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_needs_command" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_needs_command" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_needs_command" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_needs_command" -s V -l version -d 'Print version'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "manifest" -d 'Show the context manifest: what the window holds, in a few hundred tokens'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "sessions" -d 'List the sessions on this machine'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "status" -d 'Show one screen about a session: fullness, shares, what is stale'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "blocks" -d 'List blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "show" -d 'Show the content of blocks'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "transcript" -d 'Write the conversation as the model would see it'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "help" -d 'Explain a command or a topic, such as `selectors`'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c aperture -n "__fish_aperture_needs_command" -f -a "util" -d 'Tools for developers of aperture'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l tier -d 'How much it says: summary (at most 200 tokens), detailed (at most 500), full' -r -f -a "summary\t'At most 200 tokens: what is full, what is going on, what could go'
detailed\t'At most 500 tokens: zones, topics, the largest stale blocks'
full\t'Everything, without a limit'"
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l max-tokens -d 'Tokens that the text may take, in place of what the tier allows; JSON is never cut' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand manifest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l project -d 'Only sessions of the project in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l model -d 'Only sessions whose model\'s name contains this' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l sort -d 'What to sort by' -r -f -a "age\t'The newest first'
tokens\t'The largest window first'
full\t'The fullest window first'
size\t'The largest file first'
turns\t'The most turns first'"
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l limit -d 'Sessions to list; 0 lists all [default: 50; all with --json]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l open -d 'Only sessions that a running client has open'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l subagents -d 'Also the sessions of subagents'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l all -d 'Also files without a single prompt or response'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l reverse -d 'Sort the other way round'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand sessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand status" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand status" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand status" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand status" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand status" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand status" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand status" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l sort -d 'What to sort by' -r -f -a "number\t'File order'
tokens\t'The most expensive first'
age\t'The oldest first'
heat\t'The hottest first'
references\t'The most referenced first'
stale\t'The longest unused first'"
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l reverse -d 'Sort the other way round'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l tree -d 'Show the blocks under their turns'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand blocks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand show" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand show" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand show" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand show" -l raw -d 'Write the content as it is sent to the model, and nothing else'
complete -c aperture -n "__fish_aperture_using_subcommand show" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand show" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand show" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l headers -d 'Write the in-band header of each message and part'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l raw -d 'Write the content alone, exactly as it is sent'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand transcript" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand help" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand help" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand help" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand help" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand help" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand help" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand help" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand completions" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c aperture -n "__fish_aperture_using_subcommand util; and not __fish_seen_subcommand_from accuracy" -f -a "accuracy" -d 'Compare token estimates with the bills of sessions'
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -s s -l session -d 'Session: a path, an id or the beginning of one [default: the newest of this project]' -r
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -l window -d 'Tokens that the model\'s window holds, such as 200k [default: by model]' -r
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -s C -l directory -d 'Run as if started in this directory' -r -F
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -l json -d 'Write JSON'
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -l no-cache -d 'Read everything anew, and remember nothing'
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -l no-pager -d 'Do not use a pager'
complete -c aperture -n "__fish_aperture_using_subcommand util; and __fish_seen_subcommand_from accuracy" -s h -l help -d 'Print help (see more with \'--help\')'
