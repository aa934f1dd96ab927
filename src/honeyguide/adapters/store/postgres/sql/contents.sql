-- name: look
-- How much is kept, and whether a body is known.
SELECT bytes, EXISTS (SELECT 1 FROM body WHERE digest = $1) FROM kept;

-- name: kept
SELECT bytes FROM kept;

-- name: add_body
-- Another worker may have read the same bytes.
INSERT INTO body (digest, codec, size, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: add_reading
INSERT INTO reading (run, claim, body, url, content_type) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (run, claim) DO UPDATE SET body = excluded.body, url = excluded.url, content_type = excluded.content_type;

-- name: get
SELECT b.digest, r.url, r.content_type, b.codec, b.size, b.data
FROM reading r JOIN body b ON b.digest = r.body WHERE r.run = $1 AND r.claim = $2;

-- name: drop_oldest
DELETE FROM body WHERE id = (SELECT min(id) FROM body);
