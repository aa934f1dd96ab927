-- name: get
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest WHERE k.digest = ?;

-- name: get_many
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest WHERE k.digest IN (SELECT value FROM json_each(?));

-- name: put
INSERT OR REPLACE INTO known VALUES
  (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: visit
INSERT INTO visit (run, digest, at, status, content, claim, entry, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: visits
SELECT run, at, status FROM visit WHERE digest = ? ORDER BY id;

-- name: after
-- A few at a time, so that a reader never holds the database.
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest
WHERE k.digest > ? ORDER BY k.digest LIMIT 1000;

-- name: after_alone
-- The same without what sitemaps and hubs say, for columns.
SELECT k.*, l.lastmod, b.at FROM known k WHERE k.digest > ? ORDER BY k.digest LIMIT 1000;

-- name: unusual
-- Of most URLs nothing is known but visits, so the fields that are empty for them are read only of others.
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest
WHERE k.digest > ? AND (k.failures > 0 OR k.is_moved = 1 OR k.found_a IS NOT NULL OR k.hours IS NOT NULL
  OR k.changed_at > k.visited_at OR l.lastmod IS NOT NULL OR b.at IS NOT NULL)
ORDER BY k.digest LIMIT 1000;

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

-- name: never_visited
-- Queued URLs among others, many at a time, because each call compares all identities of `entry` and `known`. That is done in
-- the order of both, which is much faster than one by one.
SELECT i.id FROM entry i INDEXED BY entry_identity
WHERE i.run > 0 AND i.id > ? AND NOT EXISTS (SELECT 1 FROM known k WHERE k.digest = i.digest) ORDER BY i.id LIMIT 2000000;

-- name: queued_among
-- Those of some entries that are queued, each in the newest run that has it so. CROSS JOIN: runs are few, so they come first.
SELECT e.digest, e.url, e.score, e.hub_depth, b.at FROM entry e LEFT JOIN born b ON b.digest = e.digest
WHERE e.id IN (SELECT value FROM json_each(?)) AND e.state = 0 AND e.site IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM run r CROSS JOIN entry n ON n.run = r.id AND n.digest = e.digest WHERE r.id > e.run AND n.state = 0)
ORDER BY e.id;

-- name: find_unvisited
SELECT e.digest, e.url, e.score, e.hub_depth, b.at FROM run r
CROSS JOIN entry e ON e.run = r.id AND e.digest = ? LEFT JOIN born b ON b.digest = e.digest
WHERE e.state = 0 AND e.site IS NOT NULL ORDER BY r.id DESC LIMIT 1;

-- name: scheduled
-- What a plan has put into the queues and nobody has fetched yet: ranks below zero (core/crawl/placement.py).
SELECT digest FROM entry WHERE rank < 0 AND (state IN (0, 1) OR (state = 2 AND due_at IS NOT NULL));

-- name: latest_visits
-- Visits are numbered as they come.
SELECT at FROM visit WHERE digest IS NOT NULL ORDER BY id DESC LIMIT ?;

-- name: request
-- A row of `visit` without a page and without a record is a request.
INSERT INTO visit (run, at) VALUES (0, ?);

-- name: latest_requests
SELECT at FROM visit WHERE digest IS NULL AND claim IS NULL AND at IS NOT NULL ORDER BY id DESC LIMIT ?;

-- name: rates
SELECT url, kind, rate_a, rate_b FROM known WHERE rate_a BETWEEN 0 AND 1e9 AND rate_b BETWEEN 0 AND 1e12 ORDER BY digest LIMIT ?;

-- name: contents
-- What visits read of pages, oldest first, some at a time.
SELECT v.digest, v.id, k.url, k.relevance, k.kind, v.at, v.content
FROM visit v JOIN known k ON k.digest = v.digest
WHERE v.digest IS NOT NULL AND v.content IS NOT NULL AND (v.digest, v.id) > (?, ?)
ORDER BY v.digest, v.id LIMIT 10000;
