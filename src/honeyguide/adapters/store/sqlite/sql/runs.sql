-- name: identity
-- One statement, because another process may make the tables between two.
SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema)
FROM pragma_application_id, pragma_user_version;

-- name: add_log
INSERT INTO log (has_more) VALUES (0);

-- name: add_kept
INSERT INTO kept (bytes) VALUES (0);

-- name: has_more
SELECT has_more FROM log;

-- name: set_more
UPDATE log SET has_more = ?;

-- name: latest
-- The run that a command resumes: the newest of its key.
SELECT * FROM run WHERE key = ? ORDER BY id DESC LIMIT 1;

-- name: create
INSERT INTO run (key, command, topic, profile, profile_hash, request, started_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id;

-- name: resume
-- Times only grow, whatever the clock says.
UPDATE run SET stopped = NULL, request = coalesce(?, request), updated_at = max(updated_at, ?) WHERE id = ?;

-- name: end
UPDATE run SET stopped = ?, updated_at = max(updated_at, ?) WHERE id = ?;

-- name: all
SELECT * FROM run ORDER BY id;

-- name: is_worked_on
SELECT EXISTS (SELECT 1 FROM worker WHERE id != ? AND expires_at > ?);

-- name: delete
-- What is known of a URL goes with the last run that has visited or met it.
CREATE TEMP TABLE gone AS
SELECT digest FROM (SELECT digest FROM visit WHERE run = :run UNION SELECT digest FROM entry WHERE run = :run)
EXCEPT SELECT digest FROM visit WHERE run != :run EXCEPT SELECT digest FROM entry WHERE run != :run;
DELETE FROM known WHERE digest IN (SELECT digest FROM gone);
DELETE FROM listed WHERE digest IN (SELECT digest FROM gone);
DELETE FROM born WHERE digest IN (SELECT digest FROM gone);
DROP TABLE gone;
UPDATE known SET run = NULL WHERE run = :run;
DELETE FROM visit WHERE run = :run;
DELETE FROM reading WHERE run = :run;
DELETE FROM body WHERE digest NOT IN (SELECT body FROM reading);
DELETE FROM sighting WHERE run = :run;
DELETE FROM tally WHERE run = :run;
DELETE FROM shape WHERE run = :run;
DELETE FROM worth WHERE entry IN (SELECT id FROM entry WHERE run = :run);
DELETE FROM entry WHERE run = :run;
DELETE FROM link_group WHERE site IN (SELECT id FROM site WHERE run = :run);
DELETE FROM learnt WHERE site IN (SELECT id FROM site WHERE run = :run);
DELETE FROM site WHERE run = :run;
DELETE FROM run WHERE id = :run;

-- name: due
-- Runs with something scheduled that may be fetched now, or was being fetched by a worker that is gone.
SELECT id FROM run r WHERE EXISTS (SELECT 1 FROM site s WHERE s.run = r.id AND s.head_rank < 0)
OR EXISTS (SELECT 1 FROM entry e WHERE e.run = r.id AND e.due_at <= ? AND e.rank < 0 AND e.state IN (0, 2))
OR EXISTS (SELECT 1 FROM entry e WHERE e.run = r.id AND e.state = 1 AND e.rank < 0)
ORDER BY id DESC;

-- name: register
INSERT INTO worker (host, pid, token, seen_at, expires_at, started_at, run) VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?6) RETURNING id;

-- name: registered
SELECT id FROM worker WHERE token = ?;

-- name: heartbeat
UPDATE worker SET seen_at = max(seen_at, ?), expires_at = max(expires_at, ?), run = ?, pages = ? WHERE id = ? RETURNING is_stopping;

-- name: progress
UPDATE run SET updated_at = max(updated_at, ?) WHERE id = ?;

-- name: expire
DELETE FROM worker WHERE expires_at <= ? AND id != ? RETURNING id;

-- name: list_workers
SELECT id, host, pid, run, started_at, seen_at, pages, is_stopping, token FROM worker WHERE expires_at > ? ORDER BY id;

-- name: stop_workers
-- All of the store, or those of a run.
UPDATE worker SET is_stopping = 1 WHERE (?1 IS NULL OR run = ?1) AND expires_at > ?2 RETURNING id;

-- name: workers
SELECT id, host, pid, token FROM worker WHERE id != ?;

-- name: dismiss
DELETE FROM worker WHERE id = ?;
