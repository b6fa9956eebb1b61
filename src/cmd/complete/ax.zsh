#compdef ax

_ax() {
    local line value
    local -a values shown open
    for line in "${(@f)$("${words[1]}" __complete $((CURRENT - 1)) -- "${(@)words[1,CURRENT]}" 2>/dev/null)}"; do
        value=${line%%$'\t'*}
        case $value in
        '') ;;
        :files) _files ;;
        :dirs) _files -/ ;;
        :commands) _command_names -e; _files ;;
        *:) open+=("$value") ;;
        *)
            values+=("$value")
            if [[ $line == *$'\t'* ]]; then
                shown+=("$value  -- ${line#*$'\t'}")
            else
                shown+=("$value")
            fi
            ;;
        esac
    done
    (( ${#values} )) && compadd -V ax -l -d shown -- "${values[@]}"
    (( ${#open} )) && compadd -S '' -- "${open[@]}"
}

if [[ $funcstack[1] == _ax ]]; then
    _ax "$@"
else
    compdef _ax ax
fi
