-- name: get
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest WHERE k.digest = ?;

-- name: put
INSERT OR REPLACE INTO known VALUES
  (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: visit
INSERT INTO visit (digest, run, at, status, content, elapsed_s) VALUES (?, ?, ?, ?, ?, ?);

-- name: visits
SELECT run, at, status FROM visit WHERE digest = ? ORDER BY id;

-- name: after
-- A few at a time, so that a reader never holds the database.
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest
WHERE k.digest > ? ORDER BY k.digest LIMIT 1000;

-- name: list
INSERT OR REPLACE INTO listed (digest, lastmod) VALUES (?, ?);

-- name: trust
SELECT source, hits, alarms, misses, silences FROM trust WHERE site = ?;

-- name: put_trust
INSERT OR REPLACE INTO trust (site, source, hits, alarms, misses, silences) VALUES (?, ?, ?, ?, ?, ?);

-- name: priors
SELECT kind, a, b FROM prior WHERE site = ?;

-- name: put_prior
INSERT OR REPLACE INTO prior (site, kind, a, b) VALUES (?, ?, ?, ?);

-- name: clock
SELECT first_day, found, expected FROM site_clock WHERE site = ?;

-- name: put_clock
INSERT OR REPLACE INTO site_clock (site, first_day, found, expected) VALUES (?, ?, ?, ?);

-- name: bear
INSERT OR IGNORE INTO born (digest, at) VALUES (?, ?);

-- name: ages
SELECT kind, site, found, expected FROM age WHERE site IN ('', ?);

-- name: put_age
INSERT OR REPLACE INTO age (site, kind, found, expected) VALUES (?, ?, ?, ?);
