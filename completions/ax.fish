# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ax_global_optspecs
    string join \n db= color= h/help V/version
end

function __fish_ax_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ax_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ax_using_subcommand
    set -l cmd (__fish_ax_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ax -n "__fish_ax_needs_command" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_needs_command" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_needs_command" -s V -l version -d 'Print version'
complete -c ax -n "__fish_ax_needs_command" -f -a "add" -d 'Put a job in'
complete -c ax -n "__fish_ax_needs_command" -f -a "deps" -d 'Show or change what a job waits for'
complete -c ax -n "__fish_ax_needs_command" -f -a "run" -d 'Run what is due, or a flow file'
complete -c ax -n "__fish_ax_needs_command" -f -a "apply" -d 'Put a flow in: one run of it, or its schedule'
complete -c ax -n "__fish_ax_needs_command" -f -a "list" -d 'Show jobs'
complete -c ax -n "__fish_ax_needs_command" -f -a "ls" -d 'Show jobs'
complete -c ax -n "__fish_ax_needs_command" -f -a "failures" -d 'Show what failed, by its causes'
complete -c ax -n "__fish_ax_needs_command" -f -a "overdue" -d 'Show what is due and has not been started; exit 1 if there is something'
complete -c ax -n "__fish_ax_needs_command" -f -a "diff" -d 'Compare the last attempt that went well with the last that did not'
complete -c ax -n "__fish_ax_needs_command" -f -a "retry" -d 'Bring failed jobs back, and what was skipped because of them'
complete -c ax -n "__fish_ax_needs_command" -f -a "recover" -d 'Settle attempts whose outcome nobody knows'
complete -c ax -n "__fish_ax_needs_command" -f -a "doctor" -d 'Look for what is wrong, and say how to cure it'
complete -c ax -n "__fish_ax_needs_command" -f -a "show" -d 'Show everything about a job, and why it is not running'
complete -c ax -n "__fish_ax_needs_command" -f -a "logs" -d 'Show the output of a job'
complete -c ax -n "__fish_ax_needs_command" -f -a "log" -d 'Show the output of a job'
complete -c ax -n "__fish_ax_needs_command" -f -a "cancel" -d 'End jobs; what runs is stopped with everything it started'
complete -c ax -n "__fish_ax_needs_command" -f -a "edit" -d 'Change a job that waits'
complete -c ax -n "__fish_ax_needs_command" -f -a "wait" -d 'Wait until jobs have ended'
complete -c ax -n "__fish_ax_needs_command" -f -a "hold" -d 'Stop jobs that have not started from starting'
complete -c ax -n "__fish_ax_needs_command" -f -a "release" -d 'Let held jobs go on'
complete -c ax -n "__fish_ax_needs_command" -f -a "schedule" -d 'Start jobs again and again, and show when'
complete -c ax -n "__fish_ax_needs_command" -f -a "snooze" -d 'In a job: come again later, if this attempt does not fail'
complete -c ax -n "__fish_ax_needs_command" -f -a "progress" -d 'In a job: say how far it is'
complete -c ax -n "__fish_ax_needs_command" -f -a "group" -d 'Limit, pause and show groups of jobs'
complete -c ax -n "__fish_ax_needs_command" -f -a "prune" -d 'Delete jobs that ended long ago, with their output'
complete -c ax -n "__fish_ax_needs_command" -f -a "status" -d 'Show counts by state, and the runners that are alive'
complete -c ax -n "__fish_ax_needs_command" -f -a "st" -d 'Show counts by state, and the runners that are alive'
complete -c ax -n "__fish_ax_needs_command" -f -a "top" -d 'Watch what runs, what waits and what fails, on the whole screen'
complete -c ax -n "__fish_ax_needs_command" -f -a "bench" -d 'Measure what this machine gives, and how much of it ax reaches'
complete -c ax -n "__fish_ax_needs_command" -f -a "config" -d 'Show what is configured, and where'
complete -c ax -n "__fish_ax_needs_command" -f -a "help" -d 'Show the help of a command, or of a topic'
complete -c ax -n "__fish_ax_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c ax -n "__fish_ax_using_subcommand add" -s n -l name -d 'What people call the job' -r
complete -c ax -n "__fish_ax_using_subcommand add" -s a -l after -d 'Run after these jobs ended with success' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l on-failure -d 'Run if one of these jobs is dead' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l after-any -d 'Run after these jobs ended, whatever the end' -r
complete -c ax -n "__fish_ax_using_subcommand add" -s d -l delay -d 'Run this much later: 90 (seconds), 10m, 1h30m, 2d' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l at -d 'Run then: 2026-12-01 02:00, 02:00, tomorrow 02:00, fri 22:30, or RFC 3339' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l cron -d 'Run again and again, whenever this cron expression comes: `0 2 * * *`, @daily' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l tz -d 'By the clock of this time zone [default: `$TZ`, else that of the machine]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l catch-up -d 'About starts that came due while no runner was there [default: one]' -r -f -a "none\t'They are skipped'
one\t'One start stands for all of them'
all\t'Each is made up for, the last 100 at most'"
complete -c ax -n "__fish_ax_using_subcommand add" -l overlap -d 'About a start while the one before it has not ended [default: skip]' -r -f -a "skip\t'It is skipped'
queue\t'It waits, and 100 at most do'
allow\t'Both run'"
complete -c ax -n "__fish_ax_using_subcommand add" -s p -l priority -d 'Higher runs first; a point is worth an hour of waiting, so that none waits for ever [default: `$AX_DEFAULT_PRIORITY`, else 5]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -s t -l timeout -d 'The longest an attempt may run, or `none` [default: `$AX_DEFAULT_TIMEOUT`, else 60s]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -s k -l kill-after -d 'Between TERM and KILL when an attempt is stopped [default: 10s]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -s r -l max-retries -l retries -d 'Failures after which another attempt is made [default: `$AX_DEFAULT_MAX_RETRIES`, else 3]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l retry-delay -d 'The wait before the first retry [default: `$AX_DEFAULT_RETRY_DELAY`, else 5s]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l retry-backoff -d 'By what each further wait is longer (1 or more) [default: 2]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l retry-max-delay -d 'The longest wait between attempts [default: 1h]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l retry-on -d 'Try again only after these exit codes: 1,2,10-20' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l no-retry-on -d 'Do not try again after these exit codes' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l on-lost -d 'When an outcome is unknown [default: requeue if the job has retries, else hold]' -r -f -a "requeue\t'Start it again, like after a failure; held after 3 losses'
hold\t'Stop and let a person decide'
fail\t'Count it as failed for good'"
complete -c ax -n "__fish_ax_using_subcommand add" -s g -l group -d 'Run no more jobs of this group at once than `ax group set` says' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l mutex -d 'Never run two jobs with the same key at once, over all runners' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l on-end -d 'Run this shell text once when the job has ended; `ax help hooks` says what it sees' -r -f -a "(__fish_complete_command)"
complete -c ax -n "__fish_ax_using_subcommand add" -l on-end-timeout -d 'The longest that may run [default: `$AX_DEFAULT_ON_END_TIMEOUT`, else 60s]' -r
complete -c ax -n "__fish_ax_using_subcommand add" -s C -l cwd -d 'Run in this directory [default: this one]' -r -f -a "(__fish_complete_directories)"
complete -c ax -n "__fish_ax_using_subcommand add" -s e -l env -d 'Set a variable for the job' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l key -d 'A name that at most one unfinished job has' -r
complete -c ax -n "__fish_ax_using_subcommand add" -l if-exists -d 'What to do when the key exists' -r -f -a "skip\t'Print the id of the job that has it'
replace\t'Cancel that job, if it has not started, and add this one'
error\t'Refuse, with exit 4'"
complete -c ax -n "__fish_ax_using_subcommand add" -l from -d 'Add many jobs, one JSON object a line (`-` is standard input), all or none' -r -F
complete -c ax -n "__fish_ax_using_subcommand add" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand add" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand add" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand add" -l no-on-end -d 'Run nothing when the job has ended'
complete -c ax -n "__fish_ax_using_subcommand add" -l clean-env -d 'Start from an empty environment, but for HOME, PATH, USER, LOGNAME and SHELL'
complete -c ax -n "__fish_ax_using_subcommand add" -l hold -d 'Wait for `ax release` before the first start'
complete -c ax -n "__fish_ax_using_subcommand add" -l wait -d 'Wait until the job has ended, and exit with its exit code'
complete -c ax -n "__fish_ax_using_subcommand add" -l follow -d 'Show what the job prints until it has ended, and exit with its exit code'
complete -c ax -n "__fish_ax_using_subcommand add" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'
tree\t'A tree (`ax deps`)'
dot\t'A graph for Graphviz (`ax deps`)'"
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -a "add" -d 'Let a job that has not started wait for other jobs'
complete -c ax -n "__fish_ax_using_subcommand deps; and not __fish_seen_subcommand_from add remove" -a "remove" -d 'Stop a job from waiting for others'
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from add" -s a -l after -d 'Run after these jobs ended with success' -r
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from add" -l on-failure -d 'Run if one of these jobs is dead' -r
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from add" -l after-any -d 'Run after these jobs ended, whatever the end' -r
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from add" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from add" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from remove" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from remove" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand deps; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand run" -s w -l workers -d 'How many jobs run at once [default: the cores]' -r
complete -c ax -n "__fish_ax_using_subcommand run" -l poll-interval -d 'The longest sleep between two looks at the database [default: 1s]' -r
complete -c ax -n "__fish_ax_using_subcommand run" -l queue-size -d 'How many jobs are claimed ahead [default: 4 × workers]' -r
complete -c ax -n "__fish_ax_using_subcommand run" -l grace -d 'How long running jobs may go on after the first signal [default: without limit]' -r
complete -c ax -n "__fish_ax_using_subcommand run" -l on-stop -d 'What happens to running jobs at the first signal [default: wait]' -r -f -a "wait\t'They may end'
detach\t'They run on under their supervisors, which record the result'
kill\t'They are stopped and go back to the queue'"
complete -c ax -n "__fish_ax_using_subcommand run" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand run" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand run" -l once -d 'Run what is due now and what that releases, then end'
complete -c ax -n "__fish_ax_using_subcommand run" -l until-idle -d 'Also wait for retries and later times, then end'
complete -c ax -n "__fish_ax_using_subcommand run" -l json -d 'Print the events as JSON lines on stdout'
complete -c ax -n "__fish_ax_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand apply" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand apply" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand apply" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand apply" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand list" -l status -d 'In one of these states' -r -f -a "pending\t''
ready\t''
dispatched\t''
running\t''
success\t''
failed\t''
dead\t''
held\t''
cancelled\t''
skipped\t''"
complete -c ax -n "__fish_ax_using_subcommand list" -l cause -d 'That failed of these causes; the beginning of an id of `ax failures` is enough' -r
complete -c ax -n "__fish_ax_using_subcommand list" -l name -d 'Whose name matches this glob' -r
complete -c ax -n "__fish_ax_using_subcommand list" -l since -d 'That were added, started or ended within this time: 2h, 1d, or a time' -r
complete -c ax -n "__fish_ax_using_subcommand list" -l sort -d 'In this order' -r -f -a "id\t''
name\t''
status\t''
priority\t''
scheduled\t''
started\t''
finished\t''"
complete -c ax -n "__fish_ax_using_subcommand list" -l columns -d 'Show these columns (names as in the JSON)' -r
complete -c ax -n "__fish_ax_using_subcommand list" -s n -l limit -d 'Show the last so many' -r
complete -c ax -n "__fish_ax_using_subcommand list" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand list" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand list" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand list" -l failed -d 'That are failed, dead or held, with the reason'
complete -c ax -n "__fish_ax_using_subcommand list" -s q -l quiet -d 'Show the ids only'
complete -c ax -n "__fish_ax_using_subcommand list" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand ls" -l status -d 'In one of these states' -r -f -a "pending\t''
ready\t''
dispatched\t''
running\t''
success\t''
failed\t''
dead\t''
held\t''
cancelled\t''
skipped\t''"
complete -c ax -n "__fish_ax_using_subcommand ls" -l cause -d 'That failed of these causes; the beginning of an id of `ax failures` is enough' -r
complete -c ax -n "__fish_ax_using_subcommand ls" -l name -d 'Whose name matches this glob' -r
complete -c ax -n "__fish_ax_using_subcommand ls" -l since -d 'That were added, started or ended within this time: 2h, 1d, or a time' -r
complete -c ax -n "__fish_ax_using_subcommand ls" -l sort -d 'In this order' -r -f -a "id\t''
name\t''
status\t''
priority\t''
scheduled\t''
started\t''
finished\t''"
complete -c ax -n "__fish_ax_using_subcommand ls" -l columns -d 'Show these columns (names as in the JSON)' -r
complete -c ax -n "__fish_ax_using_subcommand ls" -s n -l limit -d 'Show the last so many' -r
complete -c ax -n "__fish_ax_using_subcommand ls" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand ls" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand ls" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand ls" -l failed -d 'That are failed, dead or held, with the reason'
complete -c ax -n "__fish_ax_using_subcommand ls" -s q -l quiet -d 'Show the ids only'
complete -c ax -n "__fish_ax_using_subcommand ls" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand failures" -l name -d 'Of jobs whose name matches this glob' -r
complete -c ax -n "__fish_ax_using_subcommand failures" -l since -d 'Of jobs that were added, started or ended within this time: 2h, 1d, or a time' -r
complete -c ax -n "__fish_ax_using_subcommand failures" -s n -l limit -d 'Show the so many causes of most jobs' -r
complete -c ax -n "__fish_ax_using_subcommand failures" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand failures" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand failures" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand failures" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand failures" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand overdue" -l grace -d 'How late is not yet overdue' -r
complete -c ax -n "__fish_ax_using_subcommand overdue" -s n -l limit -d 'Show the so many latest [default: 20 in a table, else all]' -r
complete -c ax -n "__fish_ax_using_subcommand overdue" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand overdue" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand overdue" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand overdue" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand overdue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand diff" -s n -l lines -d 'Show so many lines around the first that differs' -r
complete -c ax -n "__fish_ax_using_subcommand diff" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand diff" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand diff" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand diff" -l exact -d 'Let every byte of the outputs count'
complete -c ax -n "__fish_ax_using_subcommand diff" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand retry" -l cause -d 'Every job that failed of these causes; the beginning of an id of `ax failures` is enough' -r
complete -c ax -n "__fish_ax_using_subcommand retry" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand retry" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand retry" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand retry" -l failed -d 'Every job that is failed, dead or held'
complete -c ax -n "__fish_ax_using_subcommand retry" -l downstream -d 'Also run everything after them again'
complete -c ax -n "__fish_ax_using_subcommand retry" -l force -d 'Also jobs that ended with success'
complete -c ax -n "__fish_ax_using_subcommand retry" -l dry-run -d 'Say what would be done, and do nothing'
complete -c ax -n "__fish_ax_using_subcommand retry" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand retry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand recover" -l as -d 'How the attempt really ended, as you found out; `retry` starts the job again' -r -f -a "success\t'It had ended well'
failed\t'It had failed for good'
retry\t'Start it again'"
complete -c ax -n "__fish_ax_using_subcommand recover" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand recover" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand recover" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand recover" -l dry-run -d 'Say what would be done, and do nothing'
complete -c ax -n "__fish_ax_using_subcommand recover" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand recover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand doctor" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand doctor" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand doctor" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand doctor" -l fix -d 'Repair what has one right repair, and say what was done'
complete -c ax -n "__fish_ax_using_subcommand doctor" -l dry-run -d 'With --fix: say what would be done, and do nothing'
complete -c ax -n "__fish_ax_using_subcommand doctor" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand show" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand show" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand show" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand show" -l env -d 'Show the environment too; it may contain secrets'
complete -c ax -n "__fish_ax_using_subcommand show" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand logs" -s n -l lines -d 'Only the last so many lines, of each job' -r
complete -c ax -n "__fish_ax_using_subcommand logs" -l attempt -d 'Of this attempt of one job [default: the last one]' -r
complete -c ax -n "__fish_ax_using_subcommand logs" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand logs" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand logs" -s f -l follow -d 'Go on until the jobs have ended, or the attempt of --attempt'
complete -c ax -n "__fish_ax_using_subcommand logs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand log" -s n -l lines -d 'Only the last so many lines, of each job' -r
complete -c ax -n "__fish_ax_using_subcommand log" -l attempt -d 'Of this attempt of one job [default: the last one]' -r
complete -c ax -n "__fish_ax_using_subcommand log" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand log" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand log" -s f -l follow -d 'Go on until the jobs have ended, or the attempt of --attempt'
complete -c ax -n "__fish_ax_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand cancel" -l reason -d 'Why; it is shown with the job' -r
complete -c ax -n "__fish_ax_using_subcommand cancel" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand cancel" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand cancel" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand cancel" -l downstream -d 'Also everything after them'
complete -c ax -n "__fish_ax_using_subcommand cancel" -l dry-run -d 'Say what would be done, and do nothing'
complete -c ax -n "__fish_ax_using_subcommand cancel" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand edit" -s n -l name -d 'What people call the job' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -s d -l delay -d 'Run this much later than now: 90 (seconds), 10m, 1h30m, 2d' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l at -d 'Run then: 2026-12-01 02:00, 02:00, tomorrow 02:00, fri 22:30, or RFC 3339' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -s p -l priority -d 'Higher runs first; a point is worth an hour of waiting, so that none waits for ever' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -s t -l timeout -d 'The longest an attempt may run, or `none`' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -s k -l kill-after -d 'Between TERM and KILL when an attempt is stopped' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -s r -l max-retries -l retries -d 'Failures after which another attempt is made' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l retry-delay -d 'The wait before the first retry' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l retry-backoff -d 'By what each further wait is longer (1 or more)' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l retry-max-delay -d 'The longest wait between attempts' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l retry-on -d 'Try again only after these exit codes: 1,2,10-20' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l no-retry-on -d 'Do not try again after these exit codes' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l on-lost -d 'When an outcome is unknown' -r -f -a "requeue\t'Start it again, like after a failure; held after 3 losses'
hold\t'Stop and let a person decide'
fail\t'Count it as failed for good'"
complete -c ax -n "__fish_ax_using_subcommand edit" -s g -l group -d 'Run no more jobs of this group at once than `ax group set` says' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l mutex -d 'Never run two jobs with the same key at once, over all runners' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -l on-end -d 'Run this shell text once when the job has ended; `ax help hooks` says what it sees' -r -f -a "(__fish_complete_command)"
complete -c ax -n "__fish_ax_using_subcommand edit" -l on-end-timeout -d 'The longest that may run' -r
complete -c ax -n "__fish_ax_using_subcommand edit" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand edit" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand edit" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand edit" -l no-on-end -d 'Run nothing when the job has ended'
complete -c ax -n "__fish_ax_using_subcommand edit" -l no-group -d 'Take the job out of its group'
complete -c ax -n "__fish_ax_using_subcommand edit" -l no-mutex -d 'Let the job run whoever has its mutex'
complete -c ax -n "__fish_ax_using_subcommand edit" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand wait" -s t -l timeout -d 'Wait no longer than this' -r
complete -c ax -n "__fish_ax_using_subcommand wait" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand wait" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand wait" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand wait" -l exit-code -d 'Exit with the code of the job; of several, of the first that did not succeed'
complete -c ax -n "__fish_ax_using_subcommand wait" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand wait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand hold" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand hold" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand hold" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand hold" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand hold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand release" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand release" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand release" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand release" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand release" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "add" -d 'Start a job again and again, whenever a cron expression comes'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "import" -d 'Make a schedule of each line of a crontab, all or none'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "list" -d 'Show the schedules'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "ls" -d 'Show the schedules'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "next" -d 'Show the next starts, with the days on which the clock is changed'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "pause" -d 'Take the next start back, and put no others in'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "resume" -d 'Let paused schedules go on with their next start'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "remove" -d 'Remove schedules; what has begun goes on'
complete -c ax -n "__fish_ax_using_subcommand schedule; and not __fish_seen_subcommand_from add import list ls next pause resume remove rm" -f -a "rm" -d 'Remove schedules; what has begun goes on'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l cron -d 'When: minute, hour, day of the month, month, day of the week; or @daily and its like' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l tz -d 'By the clock of this time zone [default: `$TZ`, else that of the machine]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l catch-up -d 'About starts that came due while no runner was there [default: one]' -r -f -a "none\t'They are skipped'
one\t'One start stands for all of them'
all\t'Each is made up for, the last 100 at most'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l overlap -d 'About a start while the one before it has not ended [default: skip]' -r -f -a "skip\t'It is skipped'
queue\t'It waits, and 100 at most do'
allow\t'Both run'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s p -l priority -d 'Higher runs first; a point is worth an hour of waiting, so that none waits for ever [default: `$AX_DEFAULT_PRIORITY`, else 5]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s t -l timeout -d 'The longest an attempt may run, or `none` [default: `$AX_DEFAULT_TIMEOUT`, else 60s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s k -l kill-after -d 'Between TERM and KILL when an attempt is stopped [default: 10s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s r -l max-retries -l retries -d 'Failures after which another attempt is made [default: `$AX_DEFAULT_MAX_RETRIES`, else 3]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l retry-delay -d 'The wait before the first retry [default: `$AX_DEFAULT_RETRY_DELAY`, else 5s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l retry-backoff -d 'By what each further wait is longer (1 or more) [default: 2]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l retry-max-delay -d 'The longest wait between attempts [default: 1h]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l retry-on -d 'Try again only after these exit codes: 1,2,10-20' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l no-retry-on -d 'Do not try again after these exit codes' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l on-lost -d 'When an outcome is unknown [default: requeue if the job has retries, else hold]' -r -f -a "requeue\t'Start it again, like after a failure; held after 3 losses'
hold\t'Stop and let a person decide'
fail\t'Count it as failed for good'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s g -l group -d 'Run no more jobs of this group at once than `ax group set` says' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l mutex -d 'Never run two jobs with the same key at once, over all runners' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l on-end -d 'Run this shell text once when the job has ended; `ax help hooks` says what it sees' -r -f -a "(__fish_complete_command)"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l on-end-timeout -d 'The longest that may run [default: `$AX_DEFAULT_ON_END_TIMEOUT`, else 60s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s C -l cwd -d 'Run in this directory [default: this one]' -r -f -a "(__fish_complete_directories)"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s e -l env -d 'Set a variable for the job' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l replace -d 'Take the place of the schedule that has the name'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l no-on-end -d 'Run nothing when the job has ended'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l clean-env -d 'Start from an empty environment, but for HOME, PATH, USER, LOGNAME and SHELL'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l tz -d 'By the clock of this time zone [default: `$TZ`, else that of the machine]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l catch-up -d 'About starts that came due while no runner was there [default: one]' -r -f -a "none\t'They are skipped'
one\t'One start stands for all of them'
all\t'Each is made up for, the last 100 at most'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l overlap -d 'About a start while the one before it has not ended [default: skip]' -r -f -a "skip\t'It is skipped'
queue\t'It waits, and 100 at most do'
allow\t'Both run'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s p -l priority -d 'Higher runs first; a point is worth an hour of waiting, so that none waits for ever [default: `$AX_DEFAULT_PRIORITY`, else 5]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s t -l timeout -d 'The longest an attempt may run, or `none` [default: `$AX_DEFAULT_TIMEOUT`, else 60s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s k -l kill-after -d 'Between TERM and KILL when an attempt is stopped [default: 10s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s r -l max-retries -l retries -d 'Failures after which another attempt is made [default: `$AX_DEFAULT_MAX_RETRIES`, else 3]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l retry-delay -d 'The wait before the first retry [default: `$AX_DEFAULT_RETRY_DELAY`, else 5s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l retry-backoff -d 'By what each further wait is longer (1 or more) [default: 2]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l retry-max-delay -d 'The longest wait between attempts [default: 1h]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l retry-on -d 'Try again only after these exit codes: 1,2,10-20' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l no-retry-on -d 'Do not try again after these exit codes' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l on-lost -d 'When an outcome is unknown [default: requeue if the job has retries, else hold]' -r -f -a "requeue\t'Start it again, like after a failure; held after 3 losses'
hold\t'Stop and let a person decide'
fail\t'Count it as failed for good'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s g -l group -d 'Run no more jobs of this group at once than `ax group set` says' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l mutex -d 'Never run two jobs with the same key at once, over all runners' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l on-end -d 'Run this shell text once when the job has ended; `ax help hooks` says what it sees' -r -f -a "(__fish_complete_command)"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l on-end-timeout -d 'The longest that may run [default: `$AX_DEFAULT_ON_END_TIMEOUT`, else 60s]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s C -l cwd -d 'Run in this directory [default: this one]' -r -f -a "(__fish_complete_directories)"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s e -l env -d 'Set a variable for the job' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l dry-run -d 'Show what would be made, and make nothing'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l replace -d 'Take the place of the schedules that have the names'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l system -d 'Read a crontab of the system, with a user before each command'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l no-on-end -d 'Run nothing when the job has ended'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l clean-env -d 'Start from an empty environment, but for HOME, PATH, USER, LOGNAME and SHELL'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from list" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from list" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from list" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from list" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from ls" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from ls" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from ls" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from ls" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -l cron -d 'Of this expression: minute, hour, day of the month, month, day of the week; or @daily and its like' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -l tz -d 'By the clock of this time zone [default: `$TZ`, else that of the machine]' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -s n -l limit -d 'How many' -r
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from next" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from pause" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from pause" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from pause" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from pause" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from resume" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from resume" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from resume" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from resume" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from remove" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from remove" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from remove" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from remove" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from rm" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from rm" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from rm" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from rm" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand schedule; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand snooze" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand snooze" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand snooze" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand progress" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand progress" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand progress" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -f -a "set" -d 'Say how many jobs of a group run at once'
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -f -a "list" -d 'Show the groups that have a limit, are paused, or have unfinished jobs'
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -f -a "pause" -d 'Start no more jobs of a group; what runs goes on'
complete -c ax -n "__fish_ax_using_subcommand group; and not __fish_seen_subcommand_from set list pause resume" -f -a "resume" -d 'Let a paused group go on'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from set" -s p -l parallel -d 'So many, or `none` for any number' -r
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from set" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from set" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from set" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from set" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from list" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from list" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from list" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from list" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from pause" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from pause" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from pause" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from pause" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from resume" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from resume" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from resume" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from resume" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand group; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand prune" -l older-than -d 'What ended so long ago or longer: 30d, 12h; 0 is everything that has ended' -r
complete -c ax -n "__fish_ax_using_subcommand prune" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand prune" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand prune" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand prune" -l dry-run -d 'Say what would be done, and do nothing'
complete -c ax -n "__fish_ax_using_subcommand prune" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand status" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand status" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand status" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand status" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand st" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand st" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand st" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand st" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand st" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand top" -s i -l interval -d 'How often to look' -r
complete -c ax -n "__fish_ax_using_subcommand top" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand top" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand top" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand top" -l once -d 'Print what is so now, and end'
complete -c ax -n "__fish_ax_using_subcommand top" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand bench" -s j -l jobs -d 'How many jobs are drained [default: as many as start bare in 2 s, 200 to 5000]' -r
complete -c ax -n "__fish_ax_using_subcommand bench" -s w -l workers -d 'How many workers drain them [default: twice the cores]' -r
complete -c ax -n "__fish_ax_using_subcommand bench" -l rounds -d 'How often each is repeated' -r
complete -c ax -n "__fish_ax_using_subcommand bench" -l dir -d 'Where the temporary directory is made [default: where the database is]' -r -f -a "(__fish_complete_directories)"
complete -c ax -n "__fish_ax_using_subcommand bench" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand bench" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand bench" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand bench" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand config" -s o -l format -d 'How to show the answer' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
ids\t'The bare ids, one a line'"
complete -c ax -n "__fish_ax_using_subcommand config" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand config" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand config" -l path -d 'Print where the file is'
complete -c ax -n "__fish_ax_using_subcommand config" -l json -d 'The same as --format json'
complete -c ax -n "__fish_ax_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand help" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand help" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ax -n "__fish_ax_using_subcommand completions" -l db -d 'The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]' -r -F
complete -c ax -n "__fish_ax_using_subcommand completions" -l color -d 'When to use colours [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c ax -n "__fish_ax_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
