-- name: look
-- How much is kept, and whether a body is known.
SELECT bytes, EXISTS (SELECT 1 FROM body WHERE digest = ?) FROM kept;

-- name: kept
SELECT bytes FROM kept;

-- name: add_body
INSERT INTO body (digest, codec, size, data) VALUES (?, ?, ?, ?);

-- name: add_reading
INSERT OR REPLACE INTO reading (run, claim, body, url, content_type) VALUES (?, ?, ?, ?, ?);

-- name: get
SELECT b.digest, r.url, r.content_type, b.codec, b.size, b.data
FROM reading r JOIN body b ON b.digest = r.body WHERE r.run = ? AND r.claim = ?;

-- name: drop_oldest
DELETE FROM body WHERE id = (SELECT min(id) FROM body);
