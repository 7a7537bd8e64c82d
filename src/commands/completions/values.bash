
_aperture_values() {
    local line values=()
    while IFS= read -r line; do
        values+=("${line%%$'\t'*}")
    done < <(aperture complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${#values[@]} -gt 0 ]]; then
        COMPREPLY=("${values[@]}")
        # Quotes parentheses and spaces.
        compopt -o filenames 2>/dev/null
    else
        _aperture "$@"
    fi
}

complete -F _aperture_values -o bashdefault -o default aperture
