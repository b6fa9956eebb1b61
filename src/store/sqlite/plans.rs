//! Which index each statement of a turn uses. A turn must stay as fast with a
//! million jobs that wait or have ended as with none.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, StatementStatus};

use super::{
    add, cancel, chain, claim, counts, edges, failures, gates, glance, groups, hints, hooks, judge,
    open, overdue, prune, query, runner, schedule, schema,
};
use crate::job::{FlowRunId, State};
use crate::store::{Order, Query};

/// An empty database of the current schema.
fn database() -> Connection {
    let mut connection = Connection::open_in_memory().expect("memory");
    schema::migrate(&mut connection).expect("the schema");
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_TRIGGER_EQP, true)
        .expect("plans of triggers can be asked for");
    open::plan_by_text(&connection).expect("it can be asked for");
    connection
}

/// What the engine would do, a step a line.
fn plan(sql: &str) -> String {
    let connection = database();
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let mut statement = connection.prepare(&explain).expect("a statement of the store");
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().expect("a plan") {
        steps.push(row.get::<_, String>("detail").expect("a step"));
    }
    steps.join("\n")
}

/// Asserts that jobs are found by this index and no table is read from end to end.
fn assert_uses(sql: &str, index: &str) {
    let plan = plan(sql);
    let uses = |step: &str| step.contains(&format!("INDEX {index} ")) || step.ends_with(index);
    assert!(plan.lines().any(uses), "{index} is not used:\n{plan}");
    assert_no_full_scan(&plan);
    assert_keeps(sql);
}

/// Asserts that the statement is not prepared anew when it is run with other values.
fn assert_keeps(sql: &str) {
    let connection = database();
    let mut statement = connection.prepare(sql).expect("a statement of the store");
    for value in 1..=2 {
        for parameter in 1..=statement.parameter_count() {
            statement.raw_bind_parameter(parameter, value).expect("it can be bound");
        }
        let mut rows = statement.raw_query();
        while matches!(rows.next(), Ok(Some(_))) {}
    }
    let again = statement.get_status(StatementStatus::RePrepare);
    assert_eq!(again, 0, "prepared anew:\n{sql}");
}

fn assert_no_full_scan(plan: &str) {
    let full = |step: &str| step.starts_with("SCAN ax_") && !step.contains("INDEX");
    let excused = |step: &str| step == "SCAN ax_judge";
    let bad: Vec<_> = plan.lines().filter(|step| full(step) && !excused(step)).collect();
    assert!(bad.is_empty(), "{bad:?} in:\n{plan}");
}

#[test]
fn the_next_jobs_are_read_in_the_order_of_their_index() {
    assert_uses(claim::READY, "ax_jobs_ready");
    let plan = plan(claim::READY);
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn a_point_of_priority_is_worth_what_the_rules_say() {
    let millis = crate::job::settings::POINT.as_millis();
    assert!(turn_of_a_job!().contains(&format!("- {millis} * priority")));
}

#[test]
fn the_next_jobs_of_a_run_are_found_by_the_run() {
    assert_uses(claim::READY_IN_SCOPE, "ax_jobs_flow_run");
}

#[test]
fn what_is_due_is_found_by_its_time() {
    for sql in [claim::DUE, claim::RELEASE, claim::NEXT_DUE] {
        assert_uses(sql, "ax_jobs_due");
    }
    let plan = plan(claim::RELEASE);
    assert!(plan.contains("ax_jobs_due (<expr><?)"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn a_start_whose_time_has_come_is_found_by_it() {
    assert_uses(schedule::IS_DUE, "ax_schedules_next");
    assert_uses(schedule::IS_DUE, "ax_schedules_updated");
    assert_uses(schedule::SET_BACK, "ax_schedules_updated");
    assert_uses(schedule::DUE, "ax_schedules_next");
    assert_uses(schedule::ENDED, "ax_schedules_next");
    assert_uses(schedule::ENDED, "ax_jobs_flow_run");
    for sql in [claim::NEXT_DUE, claim::NEXT_DUE_IN_SCOPE] {
        assert_uses(sql, "ax_schedules_next");
    }
    assert!(!plan(schedule::DUE).contains("TEMP B-TREE"));
}

#[test]
fn the_start_before_another_is_found_without_those_before_it() {
    assert_uses(schedule::LATEST, "ax_flow_runs_start");
    assert_uses(schedule::IS_STARTED, "ax_flow_runs_start");
    assert_uses(schedule::LATEST, "ax_jobs_flow_run");
    assert_uses(schedule::RUN_JOBS, "ax_jobs_flow_run");
    assert_uses(schedule::OPEN_JOBS, "ax_jobs_flow_run");
}

#[test]
fn a_broken_run_is_found_without_those_that_are_whole() {
    for sql in [chain::IS_BROKEN, chain::BROKEN] {
        assert_uses(sql, "ax_flow_runs_broken");
        assert_uses(sql, "ax_jobs_owned");
    }
    assert_uses(chain::HALT, "ax_jobs_flow_run");
    assert_no_full_scan(&plan(judge::WAITING));
}

#[test]
fn what_is_overdue_is_found_without_what_is_not() {
    for index in ["ax_jobs_due", "ax_jobs_ready", "ax_jobs_limited", "ax_jobs_owned"] {
        assert_uses(overdue::OVERDUE, index);
    }
}

#[test]
fn what_ended_last_is_found_by_its_end() {
    let all = State::ALL.into_iter().filter(|state| state.is_final());
    let last = Query {
        states: all.collect(),
        order: Order::Finished,
        limit: Some(20),
        ..Query::default()
    };
    assert_uses(&query::list_sql(&last, &query::Condition::of(&last)), "ax_jobs_ended");
}

#[test]
fn the_last_that_failed_are_found_by_their_state() {
    let indexes = ["ax_jobs_failed", "ax_jobs_dead", "ax_jobs_held"];
    for (state, index) in State::FAILED.into_iter().zip(indexes) {
        let last = Query { states: vec![state], limit: Some(1_000), ..Query::default() };
        let sql = query::list_sql(&last, &query::Condition::of(&last));
        assert_uses(&sql, index);
        assert!(!plan(&sql).contains("TEMP B-TREE"), "{}", plan(&sql));
    }
}

#[test]
fn what_is_beyond_its_limits_is_found_among_what_the_runner_owns() {
    assert_uses(gates::BEYOND, "ax_jobs_owned");
    assert_uses(gates::BEYOND, "ax_jobs_group_held");
}

#[test]
fn who_waits_for_a_job_is_found_by_it() {
    assert_no_full_scan(&plan(edges::WAITING));
    assert_keeps(edges::WAITING);
}

#[test]
fn what_failed_is_found_without_what_did_not() {
    let sql = failures::sql(&query::states(&State::FAILED));
    for index in ["ax_jobs_dead", "ax_jobs_failed", "ax_jobs_held"] {
        assert_uses(&sql, index);
    }
}

#[test]
fn what_failed_later_than_now_is_found_by_its_end() {
    for sql in [claim::SET_BACK, claim::FOLLOW] {
        assert_uses(sql, "ax_jobs_tried");
    }
}

#[test]
fn the_next_time_of_a_run_is_found_by_the_run() {
    assert_uses(claim::NEXT_DUE_IN_SCOPE, "ax_jobs_flow_run");
}

#[test]
fn what_a_runner_owns_is_found_by_its_owner() {
    assert_uses(claim::OWNED, "ax_jobs_owned");
    assert_uses(runner::DISCHARGE, "ax_jobs_owned");
}

#[test]
fn what_a_person_wants_ended_is_found_by_its_owner() {
    assert_uses(cancel::MARKED, "ax_jobs_cancelling");
}

#[test]
fn what_ended_long_ago_is_read_in_the_order_of_its_end() {
    assert_uses(prune::OLD, "ax_jobs_ended");
    let plan = plan(prune::OLD);
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn the_next_job_behind_a_limit_is_found_by_the_limit() {
    for (sql, index) in [
        (gates::MUTEX_HOLDER, "ax_jobs_mutex_held"),
        (gates::MUTEX_NEXT, "ax_jobs_mutex_next"),
        (gates::MUTEX_NEXT_GROUP, "ax_jobs_mutex_next"),
        (gates::MUTEX_ADMITTED, "ax_jobs_mutex_admitted"),
        (gates::GROUP, "ax_jobs_group_held"),
        (gates::GROUP_NEXT, "ax_jobs_group_next"),
        (gates::GROUP_BACK, "ax_jobs_group_admitted"),
    ] {
        assert_uses(sql, index);
        let plan = plan(sql);
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
    assert_eq!(plan(gates::TOUCHED), "SCAN ax_gates");
}

#[test]
fn the_jobs_of_groups_are_counted_by_index_and_joined_with_nothing() {
    use groups::{PARTS, Which, count_sql, is_in_sql, limits_sql};
    let indexes = ["group_held", "group_next", "mutex_next", "waiting", "due", "failed", "held"];
    for ((_, part), index) in PARTS.into_iter().zip(indexes) {
        let statements =
            [count_sql(part, Which::All), count_sql(part, Which::One("a")), is_in_sql(part)];
        for sql in statements {
            assert_uses(&sql, &format!("ax_jobs_{index}"));
            let tables = plan(&sql).matches("ax_jobs ").count();
            assert_eq!(tables, 1, "{}", plan(&sql));
        }
    }
    assert_eq!(plan(&limits_sql(Which::All)), "SCAN ax_groups");
    assert_eq!(plan(&limits_sql(Which::One("a"))), "SEARCH ax_groups USING PRIMARY KEY (name=?)");
}

#[test]
fn the_next_hooks_are_found_without_those_that_have_ended() {
    assert_uses(hooks::OWED, "ax_hooks_owed");
    assert_uses(hooks::OWED_IN_SCOPE, "ax_hooks_owed_of_run");
    for sql in [hooks::OPEN, hooks::TAKEN] {
        assert_uses(sql, "ax_hooks_open");
    }
    assert_uses(hooks::OF_JOB, "ax_hooks_job");
    for sql in [hooks::OWED, hooks::OWED_IN_SCOPE] {
        assert!(!plan(sql).contains("TEMP B-TREE"));
    }
}

#[test]
fn names_to_complete_are_read_from_the_last_jobs_alone() {
    let plan = plan(hints::JOBS);
    assert_eq!(plan, "SCAN ax_jobs", "by its id, backwards, and no further than asked");
}

#[test]
fn the_last_job_of_a_run_is_seen_by_what_is_left_of_it() {
    let plan = plan(judge::CHANGE);
    assert!(plan.contains("SEARCH other USING INDEX ax_jobs_ends_run (flow_run=?)"), "{plan}");
}

#[test]
fn an_unfinished_job_is_found_by_its_key() {
    assert_uses(add::UNFINISHED_WITH_KEY, "ax_jobs_open_key");
}

#[test]
fn what_is_to_be_judged_is_read_in_order_and_no_further_than_asked() {
    assert_eq!(plan(judge::NEXT), "SCAN ax_judge");
}

#[test]
fn the_parents_of_a_job_are_found_by_the_job() {
    let plan = plan(edges::OF);
    assert!(plan.contains("SEARCH edge USING PRIMARY KEY (job_id=?)"), "{plan}");
    assert!(plan.contains("SEARCH parent USING INTEGER PRIMARY KEY (rowid=?)"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn a_job_that_moves_finds_its_children_by_the_parent() {
    let plan = plan(judge::CHANGE);
    assert!(plan.contains("ax_deps_children (depends_on=?)"), "{plan}");
    assert!(plan.contains("SEARCH child USING INTEGER PRIMARY KEY (rowid=?)"), "{plan}");
    assert!(!plan.contains("SCAN"), "{plan}");
}

#[test]
fn the_outlook_is_counted_by_index() {
    let indexes = ["ax_jobs_owned", "ax_jobs_ready", "ax_jobs_due"];
    for (sql, index) in counts::counts_of(None).iter().zip(indexes) {
        assert_uses(sql, index);
    }
    for sql in counts::counts_of(Some(FlowRunId(1))) {
        assert_uses(&sql, "ax_jobs_flow_run");
    }
}

#[test]
fn jobs_are_counted_by_index_and_no_table_is_read() {
    let indexes = [
        "ax_jobs_waiting",
        "ax_jobs_due",
        "ax_jobs_failed",
        "ax_jobs_failed",
        "ax_jobs_ready",
        "ax_jobs_limited",
        "ax_jobs_owned",
        "ax_jobs_owned",
        "ax_jobs_ended",
        "ax_jobs_dead",
        "ax_jobs_held",
        "ax_jobs_dropped",
    ];
    for ((_, condition), index) in counts::PARTS.into_iter().zip(indexes) {
        assert_uses(&format!("SELECT count(*) FROM ax_jobs WHERE {condition}"), index);
    }
    assert_no_full_scan(&plan(&counts::counts_sql()));
}

#[test]
fn the_first_unfinished_jobs_are_read_in_the_order_of_their_indexes() {
    for index in ["owned", "failed", "held", "ready", "limited", "due", "waiting"] {
        assert_uses(query::UNFINISHED, &format!("ax_jobs_{index}"));
    }
    let plan = plan(query::UNFINISHED);
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn jobs_of_rare_states_are_found_by_the_states() {
    let sql = format!("SELECT * FROM ax_jobs WHERE {} ORDER BY id", query::states(&State::FAILED));
    for index in ["ax_jobs_failed", "ax_jobs_dead", "ax_jobs_held"] {
        assert_uses(&sql, index);
    }
}

#[test]
fn who_looks_reads_by_index() {
    let [dead, failed, held] = glance::failed();
    for (sql, index) in [
        (&glance::running(), "ax_jobs_owned"),
        (&dead, "ax_jobs_dead"),
        (&failed, "ax_jobs_failed"),
        (&held, "ax_jobs_held"),
        (&glance::starts(), "ax_schedules_next"),
        (&glance::ENDED.to_owned(), "ax_jobs_ended"),
    ] {
        assert_uses(sql, index);
        let sorts = plan(sql).contains("TEMP B-TREE");
        assert_eq!(sorts, index == "ax_jobs_owned", "only what runs is sorted: {}", plan(sql));
    }
    let indexes = [
        "ax_jobs_ready",
        "ax_jobs_limited",
        "ax_jobs_owned",
        "ax_jobs_due",
        "ax_jobs_failed",
        "ax_jobs_waiting",
        "ax_jobs_held",
        "ax_jobs_dead",
    ];
    for (sql, index) in glance::counts().iter().zip(indexes) {
        assert_uses(sql, index);
    }
}

#[test]
fn what_a_job_usually_takes_is_found_by_its_schedule_or_among_what_ended_last() {
    assert_uses(glance::USUAL_OF_SCHEDULE, "ax_flow_runs_start");
    assert_uses(glance::USUAL_OF_SCHEDULE, "ax_jobs_flow_run");
    assert_uses(glance::USUAL, "ax_jobs_ended");
    assert!(!plan(glance::USUAL).contains("TEMP B-TREE"), "{}", plan(glance::USUAL));
}
