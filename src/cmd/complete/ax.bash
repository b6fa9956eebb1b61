_ax() {
    local line value IFS=$'\n'
    COMPREPLY=()
    while read -r line; do
        value=${line%%$'\t'*}
        case $value in
        :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$2")) ;;
        :dirs) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$2")) ;;
        :commands) COMPREPLY+=($(compgen -c -- "$2") $(compgen -f -- "$2")) ;;
        *) printf -v value %q "$value"; COMPREPLY+=("$value") ;;
        esac
    done < <("$1" __complete "$COMP_CWORD" -- "${COMP_WORDS[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _ax ax 2>/dev/null || complete -F _ax ax
