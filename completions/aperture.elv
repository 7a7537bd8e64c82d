
use builtin;
use str;

set edit:completion:arg-completer[aperture] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'aperture'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'aperture'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand manifest 'Show the context manifest: what the window holds, in a few hundred tokens'
            cand sessions 'List the sessions on this machine'
            cand status 'Show one screen about a session: fullness, shares, what is stale'
            cand blocks 'List blocks'
            cand show 'Show the content of blocks'
            cand transcript 'Write the conversation as the model would see it'
            cand help 'Explain a command or a topic, such as `selectors`'
            cand completions 'Print the completion script of a shell'
            cand util 'Tools for developers of aperture'
        }
        &'aperture;manifest'= {
            cand --tier 'How much it says: summary (at most 200 tokens), detailed (at most 500), full'
            cand --max-tokens 'Tokens that the text may take, in place of what the tier allows; JSON is never cut'
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;sessions'= {
            cand --project 'Only sessions of the project in this directory'
            cand --model 'Only sessions whose model''s name contains this'
            cand --sort 'What to sort by'
            cand --limit 'Sessions to list; 0 lists all [default: 50; all with --json]'
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --open 'Only sessions that a running client has open'
            cand --subagents 'Also the sessions of subagents'
            cand --all 'Also files without a single prompt or response'
            cand --reverse 'Sort the other way round'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;status'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;blocks'= {
            cand --sort 'What to sort by'
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --reverse 'Sort the other way round'
            cand --tree 'Show the blocks under their turns'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;show'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --raw 'Write the content as it is sent to the model, and nothing else'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;transcript'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --headers 'Write the in-band header of each message and part'
            cand --raw 'Write the content alone, exactly as it is sent'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;help'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;completions'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'aperture;util'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand accuracy 'Compare token estimates with the bills of sessions'
        }
        &'aperture;util;accuracy'= {
            cand -s 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --session 'Session: a path, an id or the beginning of one [default: the newest of this project]'
            cand --window 'Tokens that the model''s window holds, such as 200k [default: by model]'
            cand --color 'When to use colours'
            cand -C 'Run as if started in this directory'
            cand --directory 'Run as if started in this directory'
            cand --json 'Write JSON'
            cand --no-cache 'Read everything anew, and remember nothing'
            cand --no-pager 'Do not use a pager'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
    ]
    $completions[$command]
}
