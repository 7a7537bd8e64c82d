
function __aperture_values
    aperture complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c aperture -k -a "(__aperture_values)"
complete -c aperture -s s -l session -x -k -a "(__aperture_values)"
complete -c aperture -n "__fish_seen_subcommand_from fork" -l at -x -k -a "(__aperture_values)"
