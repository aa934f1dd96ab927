-- name: waiting
-- Queued URLs that were never visited, in the newest run that has them queued; a few at a time.
SELECT e.id, e.run, e.digest, e.url, e.score, e.depth, e.hub_depth, b.at FROM entry e
LEFT JOIN born b ON b.digest = e.digest
WHERE e.id > ? AND e.state = 0 AND e.site IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM known k WHERE k.digest = e.digest)
AND NOT EXISTS (SELECT 1 FROM run r JOIN entry n ON n.run = r.id AND n.digest = e.digest WHERE r.id > e.run AND n.state = 0)
ORDER BY e.id LIMIT 1000;

-- name: waiting_one
SELECT e.id, e.run, e.digest, e.url, e.score, e.depth, e.hub_depth, b.at FROM run r
JOIN entry e ON e.run = r.id AND e.digest = ? LEFT JOIN born b ON b.digest = e.digest
WHERE e.state = 0 AND e.site IS NOT NULL ORDER BY r.id DESC LIMIT 1;

-- name: scheduled
-- What a plan has put into the queues and nobody has fetched yet: ranks below zero (core/frontier.py).
SELECT digest FROM entry WHERE rank < 0 AND (state IN (0, 1) OR (state = 2 AND due_at IS NOT NULL));

-- name: due_runs
-- Runs with something that may be fetched now, or was being fetched by a process that is gone.
SELECT id FROM run r WHERE EXISTS (SELECT 1 FROM site s WHERE s.run = r.id AND s.head_rank < 0)
OR EXISTS (SELECT 1 FROM entry e WHERE e.run = r.id AND e.due_at <= ? AND e.rank < 0 AND e.state IN (0, 2))
OR EXISTS (SELECT 1 FROM entry e WHERE e.run = r.id AND e.state = 1 AND e.rank < 0)
ORDER BY id DESC;

-- name: latest_visits
-- Visits are numbered as they come.
SELECT at FROM visit ORDER BY id DESC LIMIT ?;

-- name: rates
SELECT url, kind, rate_a, rate_b FROM known WHERE rate_a > 0 AND rate_b > 0 ORDER BY digest LIMIT ?;
