-- name: get
SELECT * FROM known WHERE digest = ?;

-- name: put
INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: visit
INSERT INTO visit (digest, run, at, status, content, elapsed_s) VALUES (?, ?, ?, ?, ?, ?);

-- name: visits
SELECT run, at, status FROM visit WHERE digest = ? ORDER BY id;

-- name: after
-- A few at a time, so that a reader never holds the database.
SELECT * FROM known WHERE digest > ? ORDER BY digest LIMIT 1000;
