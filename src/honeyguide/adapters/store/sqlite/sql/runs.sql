-- name: latest
-- The run that a command goes on with: the newest of its key.
SELECT * FROM run WHERE key = ? ORDER BY id DESC LIMIT 1;

-- name: create
INSERT INTO run (key, command, topic, profile, profile_hash, request, started_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: resume
-- Times only grow, whatever the clock says.
UPDATE run SET stopped = NULL, request = coalesce(?, request), updated_at = max(updated_at, ?) WHERE id = ?;

-- name: end
UPDATE run SET stopped = ?, updated_at = max(updated_at, ?) WHERE id = ?;

-- name: all
SELECT * FROM run ORDER BY id;

-- name: own
INSERT INTO owner (host, pid, token) VALUES (?, ?, ?);

-- name: owned
SELECT id FROM owner WHERE token = ?;

-- name: disown
DELETE FROM owner WHERE id = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE state = 1 AND owner = owner.id);

-- name: owners
SELECT id, host, pid, token FROM owner;
