-- name: fetched
SELECT coalesce(sum(n), 0)::bigint FROM counter WHERE run = $1 AND name = 'fetched';

-- name: known
SELECT e.digest, e.state, e.rank, e.seen, e.rule, e.url LIKE 'https:%', e.depth
FROM jsonb_array_elements_text($1::jsonb) j CROSS JOIN LATERAL (SELECT * FROM entry WHERE run = $2 AND digest = j::bigint LIMIT 1) e;

-- name: inside
SELECT name FROM site WHERE run = $1 AND is_inside;

-- name: site_learnt
SELECT l.name, l.n, l.a, l.b FROM learnt l JOIN site s ON s.id = l.site WHERE s.run = $1 AND s.name = $2 ORDER BY l.name COLLATE "C";

-- name: urls_per_host
SELECT name, urls FROM site WHERE run = $1 AND urls > 0
UNION ALL SELECT '', n FROM (SELECT sum(n)::bigint AS n FROM counter WHERE run = $1 AND name = 'outside') c WHERE n > 0;

-- name: seeds
SELECT url FROM entry WHERE run = $1 AND is_seed ORDER BY id;

-- name: count_states
SELECT state, count(*) FROM entry WHERE run = $1 GROUP BY state;

-- name: count_released
-- A lease that nobody has is queued, for whoever comes next.
SELECT lane, count(*) FROM entry WHERE run = $1 AND state = 1 AND worker IS NULL GROUP BY lane ORDER BY lane COLLATE "C";

-- name: count_due
-- What was refused for its address stays due: it is visited when that is allowed.
SELECT count(*) FROM entry WHERE run = $1 AND rank < 0 AND (state < 2 OR (state = 2 AND due_at IS NOT NULL)
  OR (state = 3 AND rule = 'address-refused'));

-- name: count_lanes
SELECT lane, count(*) FROM entry WHERE run = $1 AND state = 0 GROUP BY lane ORDER BY lane COLLATE "C";

-- name: count_out
SELECT rule, count(*) FROM entry WHERE run = $1 AND rule IS NOT NULL AND state = 3 GROUP BY rule ORDER BY rule COLLATE "C";

-- name: count_skipped
SELECT rule, sum(n)::bigint FROM tally WHERE run = $1 GROUP BY rule ORDER BY rule COLLATE "C";

-- name: rows
SELECT e.id, e.url, CASE WHEN e.state = 1 AND e.worker IS NULL THEN 0 ELSE e.state END, e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why,
  (SELECT w.said FROM worth w WHERE w.entry = e.id)
FROM entry e LEFT JOIN entry p ON p.id = e.parent
WHERE e.run = $1 AND e.id > $2 ORDER BY e.id LIMIT 1000;

-- name: rows_out
SELECT e.id, e.url, CASE WHEN e.state = 1 AND e.worker IS NULL THEN 0 ELSE e.state END, e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why,
  (SELECT w.said FROM worth w WHERE w.entry = e.id)
FROM entry e LEFT JOIN entry p ON p.id = e.parent
WHERE e.run = $1 AND e.id > $2 AND e.rule = $3 ORDER BY e.id LIMIT 1000;

-- name: row
SELECT e.id, e.url, CASE WHEN e.state = 1 AND e.worker IS NULL THEN 0 ELSE e.state END, e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why,
  (SELECT w.said FROM worth w WHERE w.entry = e.id)
FROM entry e LEFT JOIN entry p ON p.id = e.parent WHERE e.run = $1 AND e.digest = $2;

-- name: sightings
SELECT p.url, s.anchor, s.position, s.score, s.points, s.lane
FROM sighting s LEFT JOIN entry p ON p.id = s.parent WHERE s.run = $1 AND s.digest = $2 ORDER BY s.nth;

-- name: pages
SELECT claim, record FROM visit WHERE run = $1 AND claim > $2 ORDER BY claim LIMIT 1000;

-- name: now_internal
-- Of a link to another site, `why` is that site's name.
SELECT e.digest FROM site s JOIN entry e ON e.run = s.run AND e.why = s.name
WHERE s.run = $1 AND s.is_inside AND e.rule = 'other-site' AND e.state = 3 ORDER BY e.id;

-- name: shapes
SELECT name, admitted, alike, recent FROM (SELECT * FROM shape WHERE run = $1 ORDER BY id DESC LIMIT $2) newest ORDER BY id;
