-- name: groups
SELECT name, id FROM link_group WHERE site = ?;

-- name: add_group
-- Another worker may have been faster.
INSERT INTO link_group (site, name) VALUES (?, ?) ON CONFLICT (site, name) DO UPDATE SET name = excluded.name RETURNING id;

-- name: group_head
SELECT e.rank, e.id FROM entry e WHERE e.site = ? AND e.link_group = ? AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1;

-- name: groups_of
SELECT DISTINCT e.site, e.link_group FROM json_each(?) j CROSS JOIN entry e ON e.run = ? AND e.digest = j.value;

-- name: stale_sites
SELECT id FROM site WHERE run = ? AND is_stale = 1;

-- name: set_head
UPDATE site SET head_rank = ?, head_entry = ?, is_stale = 0 WHERE id = ?;

-- name: note
INSERT OR REPLACE INTO worth (entry, said) VALUES (?, ?);

-- name: learnt
SELECT name, n, a, b FROM learnt WHERE site = ?;

-- name: learn
-- `Tally.plus` of core/crawl/learner.py; a lesson is its name, two numbers, and how much is kept of what was there.
INSERT INTO learnt (site, n, name, a, b, keep) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (site, name) DO UPDATE SET n = n * excluded.keep / 100 + excluded.n, a = a * excluded.keep / 100 + excluded.a,
  b = b * excluded.keep / 100 + excluded.b;
