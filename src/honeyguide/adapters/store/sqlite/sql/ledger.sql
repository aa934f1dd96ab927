-- name: fetched
SELECT fetched FROM run WHERE id = ?;

-- name: known
SELECT e.digest, e.state, e.rank, e.seen, e.rule, e.url LIKE 'https:%', e.depth
FROM json_each(?) j CROSS JOIN entry e ON e.run = ? AND e.digest = j.value; -- CROSS: the list first, then the index

-- name: inside
SELECT name FROM site WHERE run = ? AND is_inside = 1;

-- name: site_learnt
SELECT l.name, l.n, l.a, l.b FROM learnt l JOIN site s ON s.id = l.site WHERE s.run = ? AND s.name = ? ORDER BY l.name;

-- name: urls_per_host
SELECT name, urls FROM site WHERE run = ? AND urls > 0;

-- name: seeds
SELECT url FROM entry WHERE run = ? AND is_seed = 1 ORDER BY id;

-- name: count_states
SELECT state, count(*) FROM entry WHERE run = ? GROUP BY state;

-- name: count_released
-- A lease that nobody has is queued, for whoever comes next.
SELECT lane, count(*) FROM entry WHERE run = ? AND state = 1 AND worker IS NULL GROUP BY lane;

-- name: count_due
-- What was refused for its address stays due: it is visited when that is allowed.
SELECT count(*) FROM entry WHERE run = ? AND rank < 0 AND (state < 2 OR (state = 2 AND due_at IS NOT NULL)
  OR (state = 3 AND rule = 'address-refused'));

-- name: count_lanes
SELECT lane, count(*) FROM entry WHERE run = ? AND state = 0 GROUP BY lane;

-- name: count_out
SELECT rule, count(*) FROM entry WHERE run = ? AND rule IS NOT NULL AND state = 3 GROUP BY rule;

-- name: count_skipped
SELECT rule, n FROM tally WHERE run = ?;

-- name: rows
-- The plus keeps the planner from another index: entries are in the order of discovery as they lie.
SELECT e.id, e.url, iif(e.state = 1 AND e.worker IS NULL, 0, e.state), e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why,
  (SELECT w.said FROM worth w WHERE w.entry = e.id)
FROM entry e LEFT JOIN entry p ON p.id = e.parent
WHERE +e.run = ? AND e.id > ? ORDER BY e.id LIMIT 1000;

-- name: rows_out
SELECT e.id, e.url, iif(e.state = 1 AND e.worker IS NULL, 0, e.state), e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why,
  (SELECT w.said FROM worth w WHERE w.entry = e.id)
FROM entry e LEFT JOIN entry p ON p.id = e.parent
WHERE e.run = ? AND e.id > ? AND e.rule = ? ORDER BY e.id LIMIT 1000;

-- name: row
SELECT e.id, e.url, iif(e.state = 1 AND e.worker IS NULL, 0, e.state), e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why,
  (SELECT w.said FROM worth w WHERE w.entry = e.id)
FROM entry e LEFT JOIN entry p ON p.id = e.parent WHERE e.run = ? AND e.digest = ?;

-- name: sightings
SELECT p.url, s.anchor, s.position, s.score, s.points, s.lane
FROM sighting s LEFT JOIN entry p ON p.id = s.parent WHERE s.run = ? AND s.digest = ? ORDER BY s.nth;

-- name: pages
SELECT claim, record FROM visit WHERE run = ? AND claim > ? ORDER BY claim LIMIT 1000;

-- name: now_internal
-- Of a link to another site, `why` is that site's name.
SELECT e.digest FROM entry e JOIN site s ON s.run = e.run AND s.name = e.why AND s.is_inside = 1
WHERE e.run = ? AND e.rule = 'other-site' AND e.state = 3 ORDER BY e.id;

-- name: shapes
SELECT name, admitted, alike, recent FROM (SELECT * FROM shape WHERE run = ? ORDER BY id DESC LIMIT ?) ORDER BY id;
