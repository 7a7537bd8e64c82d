
_aperture_values() {
    local -a lines values
    lines=("${(@f)$(aperture complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$lines[1]" ]]; then
        values=("${(@)lines%%$'\t'*}")
        lines=("${(@)lines//$'\t'/  }")
        compadd -l -d lines -a values
    else
        _aperture "$@"
    fi
}
