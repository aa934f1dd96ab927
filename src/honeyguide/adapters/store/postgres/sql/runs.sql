-- name: has_tables
-- From the tables of the server itself: to_regclass may answer from memory what was true before another worker made them.
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'honeyguide' AND c.relname = 'meta');

-- name: version
SELECT version FROM honeyguide.meta;

-- name: now
-- The time of all workers. Not clock_timestamp(), which keeps indexes from being used.
SELECT extract(epoch FROM statement_timestamp())::double precision;

-- name: lock
-- Until the commit; by a name, because what it stands for may have no row yet.
SELECT pg_advisory_xact_lock(hashtextextended('honeyguide ' || $1, 0));

-- name: latest
SELECT id, key, command, topic, profile, profile_hash, request, started_at, updated_at, 0,
  (SELECT coalesce(sum(n), 0)::bigint FROM counter c WHERE c.run = run.id AND c.name = 'fetched'), 0, 0, stopped
FROM run WHERE key = $1 ORDER BY id DESC LIMIT 1;

-- name: create
INSERT INTO run (key, command, topic, profile, profile_hash, request, started_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id;

-- name: resume
UPDATE run SET stopped = NULL, request = coalesce($1, request), updated_at = greatest(updated_at, $2) WHERE id = $3;

-- name: end
UPDATE run SET stopped = $1, updated_at = greatest(updated_at, $2) WHERE id = $3;

-- name: all
SELECT id, key, command, topic, profile, profile_hash, request, started_at, updated_at, 0,
  (SELECT coalesce(sum(n), 0)::bigint FROM counter c WHERE c.run = run.id AND c.name = 'fetched'), 0, 0, stopped
FROM run ORDER BY id;

-- name: is_worked_on
SELECT EXISTS (SELECT 1 FROM worker WHERE id <> $1 AND expires_at > $2);

-- name: delete
-- What is known of a URL goes with the last run that has visited or met it.
CREATE TEMP TABLE gone ON COMMIT DROP AS
SELECT digest FROM (SELECT digest FROM visit WHERE run = $1::bigint UNION SELECT digest FROM entry WHERE run = $1::bigint) met
EXCEPT SELECT digest FROM visit WHERE run <> $1::bigint EXCEPT SELECT digest FROM entry WHERE run <> $1::bigint;
DELETE FROM known WHERE digest IN (SELECT digest FROM gone);
DELETE FROM listed WHERE digest IN (SELECT digest FROM gone);
DELETE FROM born WHERE digest IN (SELECT digest FROM gone);
UPDATE known SET run = NULL WHERE run = $1;
DELETE FROM visit WHERE run = $1;
DELETE FROM reading WHERE run = $1;
DELETE FROM body WHERE digest NOT IN (SELECT body FROM reading);
DELETE FROM sighting WHERE run = $1;
DELETE FROM tally WHERE run = $1;
DELETE FROM counter WHERE run = $1;
DELETE FROM shape WHERE run = $1;
DELETE FROM worth WHERE entry IN (SELECT id FROM entry WHERE run = $1);
DELETE FROM entry WHERE run = $1;
DELETE FROM link_group WHERE site IN (SELECT id FROM site WHERE run = $1);
DELETE FROM learnt WHERE site IN (SELECT id FROM site WHERE run = $1);
DELETE FROM site WHERE run = $1;
DELETE FROM run WHERE id = $1;

-- name: size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'honeyguide' AND c.relkind = 'r';

-- name: due
-- Runs with something scheduled that may be fetched now, or was being fetched by a worker that is gone.
SELECT id FROM run r WHERE EXISTS (SELECT 1 FROM site s WHERE s.run = r.id AND s.head_rank < 0)
OR EXISTS (SELECT 1 FROM entry e WHERE e.run = r.id AND e.due_at <= $1 AND e.rank < 0 AND e.state IN (0, 2))
OR EXISTS (SELECT 1 FROM entry e WHERE e.run = r.id AND e.state = 1 AND e.rank < 0)
ORDER BY id DESC;

-- name: register
INSERT INTO worker (host, pid, token, seen_at, expires_at, started_at, run) VALUES ($1, $2, $3, $4, $5, $4, $6) RETURNING id;

-- name: registered
SELECT id FROM worker WHERE token = $1;

-- name: heartbeat
UPDATE worker SET seen_at = greatest(seen_at, $1), expires_at = greatest(expires_at, $2), run = $3, pages = $4 WHERE id = $5 RETURNING is_stopping;

-- name: progress
UPDATE run SET updated_at = greatest(updated_at, $1) WHERE id = $2;

-- name: expire
-- Whoever is silent for too long is gone: from here on its heartbeats and its claims find no row.
DELETE FROM worker WHERE expires_at <= $1 AND id <> $2 RETURNING id;

-- name: list_workers
SELECT id, host, pid, run, started_at, seen_at, pages, is_stopping, token FROM worker WHERE expires_at > $1 ORDER BY id;

-- name: stop_workers
-- All of the store, or those of a run.
UPDATE worker SET is_stopping = true WHERE ($1::bigint IS NULL OR run = $1) AND expires_at > $2 RETURNING id;

-- name: workers
SELECT id, host, pid, token FROM worker WHERE id <> $1;

-- name: dismiss
DELETE FROM worker WHERE id = $1;
