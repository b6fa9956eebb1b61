function __ax_complete
    set -l words (commandline --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    for line in ($words[1] __complete (count $words) -- $words $current 2>/dev/null)
        set -l value (string split --max 1 \t -- $line)[1]
        switch $value
            case :files
                __fish_complete_path $current
            case :dirs
                __fish_complete_directories $current
            case :commands
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end

complete --command ax --no-files --keep-order --arguments '(__ax_complete)'
