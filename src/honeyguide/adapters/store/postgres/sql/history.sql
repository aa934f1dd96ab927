-- name: get
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest WHERE k.digest = $1;

-- name: get_many
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest WHERE k.digest IN (SELECT jsonb_array_elements_text($1::jsonb)::bigint);

-- name: put
INSERT INTO known VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36)
ON CONFLICT (digest) DO UPDATE SET url = excluded.url, visits = excluded.visits, visited_at = excluded.visited_at, changed_at = excluded.changed_at, changes = excluded.changes, failures = excluded.failures, status = excluded.status, content = excluded.content, relevance = excluded.relevance, depth = excluded.depth, hub_depth = excluded.hub_depth, is_hub = excluded.is_hub, links = excluded.links, new_links = excluded.new_links, etag = excluded.etag, last_modified = excluded.last_modified, first_seen = excluded.first_seen, seen_at = excluded.seen_at, run = excluded.run, body = excluded.body, kind = excluded.kind, link_share = excluded.link_share, arrived = excluded.arrived, is_moved = excluded.is_moved, unchanged = excluded.unchanged, exposure_h = excluded.exposure_h, rate_a = excluded.rate_a, rate_b = excluded.rate_b, found_a = excluded.found_a, found_b = excluded.found_b, hours = excluded.hours, latest_a = excluded.latest_a, latest_b = excluded.latest_b, doubt = excluded.doubt, forgot_at = excluded.forgot_at;

-- name: visit
INSERT INTO visit (run, digest, at, status, content, claim, entry, record) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: visits
SELECT run, at, status FROM visit WHERE digest = $1 ORDER BY id;

-- name: after
-- A few at a time, so that a reader never holds the database.
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest
WHERE k.digest > $1 ORDER BY k.digest LIMIT 1000;

-- name: after_alone
-- The same without what sitemaps and hubs say, for columns.
SELECT k.*, l.lastmod, b.at FROM known k WHERE k.digest > $1 ORDER BY k.digest LIMIT 1000;

-- name: unusual
-- Of most URLs nothing is known but visits, so the fields that are empty for them are read only of others.
SELECT k.*, l.lastmod, b.at FROM known k
LEFT JOIN listed l ON l.digest = k.digest LEFT JOIN born b ON b.digest = k.digest
WHERE k.digest > $1 AND (k.failures > 0 OR k.is_moved OR k.found_a IS NOT NULL OR k.hours IS NOT NULL
  OR k.changed_at > k.visited_at OR l.lastmod IS NOT NULL OR b.at IS NOT NULL)
ORDER BY k.digest LIMIT 1000;

-- name: list
WITH rows AS (SELECT DISTINCT ON ((v->>0)::bigint) (v->>0)::bigint AS digest, v->>1 AS lastmod
  FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY t (v, place) ORDER BY (v->>0)::bigint, place DESC)
INSERT INTO listed (digest, lastmod) SELECT digest, lastmod FROM rows ORDER BY digest
ON CONFLICT (digest) DO UPDATE SET lastmod = excluded.lastmod;

-- name: trust
SELECT source, hits, alarms, misses, silences FROM trust WHERE site = $1;

-- name: put_trust
INSERT INTO trust (site, source, hits, alarms, misses, silences) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (site, source) DO UPDATE SET hits = excluded.hits, alarms = excluded.alarms, misses = excluded.misses, silences = excluded.silences;

-- name: priors
SELECT kind, a, b FROM prior WHERE site = $1;

-- name: put_prior
INSERT INTO prior (site, kind, a, b) VALUES ($1, $2, $3, $4)
ON CONFLICT (site, kind) DO UPDATE SET a = excluded.a, b = excluded.b;

-- name: clock
SELECT first_day, found, expected FROM site_clock WHERE site = $1;

-- name: put_clock
INSERT INTO site_clock (site, first_day, found, expected) VALUES ($1, $2, $3, $4)
ON CONFLICT (site) DO UPDATE SET first_day = excluded.first_day, found = excluded.found, expected = excluded.expected;

-- name: bear
WITH rows AS (SELECT DISTINCT ON ((v->>0)::bigint) (v->>0)::bigint AS digest, (v->>1)::double precision AS at
  FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY t (v, place) ORDER BY (v->>0)::bigint, place)
INSERT INTO born (digest, at) SELECT digest, at FROM rows ORDER BY digest ON CONFLICT DO NOTHING;

-- name: ages
SELECT kind, site, found, expected FROM age WHERE site IN ('', $1);

-- name: put_age
INSERT INTO age (site, kind, found, expected) VALUES ($1, $2, $3, $4)
ON CONFLICT (site, kind) DO UPDATE SET found = excluded.found, expected = excluded.expected;

-- name: never_visited
-- Queued URLs among others, many at a time, because each call compares all identities of `entry` and `known`.
SELECT e.id FROM entry e
WHERE e.id > $1 AND NOT EXISTS (SELECT 1 FROM known k WHERE k.digest = e.digest) ORDER BY e.id LIMIT 2000000;

-- name: queued_among
-- Those of some entries that are queued, each in the newest run that has it so.
SELECT e.digest, e.url, e.score, e.hub_depth, b.at FROM entry e LEFT JOIN born b ON b.digest = e.digest
WHERE e.id IN (SELECT jsonb_array_elements_text($1::jsonb)::bigint) AND e.state = 0 AND e.site IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM run r JOIN entry n ON n.run = r.id AND n.digest = e.digest WHERE r.id > e.run AND n.state = 0)
ORDER BY e.id;

-- name: find_unvisited
SELECT e.digest, e.url, e.score, e.hub_depth, b.at FROM run r
JOIN entry e ON e.run = r.id AND e.digest = $1 LEFT JOIN born b ON b.digest = e.digest
WHERE e.state = 0 AND e.site IS NOT NULL ORDER BY r.id DESC LIMIT 1;

-- name: scheduled
-- What a plan has put into the queues and nobody has fetched yet: ranks below zero (core/crawl/placement.py).
SELECT digest FROM entry WHERE rank < 0 AND (state IN (0, 1) OR (state = 2 AND due_at IS NOT NULL));

-- name: latest_visits
-- Visits are numbered as they come.
SELECT at FROM visit WHERE digest IS NOT NULL ORDER BY id DESC LIMIT $1;

-- name: request
-- A row of `visit` without a page and without a record is a request.
INSERT INTO visit (run, at) VALUES (0, $1);

-- name: latest_requests
SELECT at FROM visit WHERE digest IS NULL AND claim IS NULL AND at IS NOT NULL ORDER BY id DESC LIMIT $1;

-- name: rates
SELECT url, kind, rate_a, rate_b FROM known WHERE rate_a BETWEEN 0 AND 1e9 AND rate_b BETWEEN 0 AND 1e12 ORDER BY digest LIMIT $1;

-- name: contents
-- What visits read of pages, oldest first, some at a time.
SELECT v.digest, v.id, k.url, k.relevance, k.kind, v.at, v.content
FROM visit v JOIN known k ON k.digest = v.digest
WHERE v.digest IS NOT NULL AND v.content IS NOT NULL AND (v.digest, v.id) > ($1, $2)
ORDER BY v.digest, v.id LIMIT 10000;
