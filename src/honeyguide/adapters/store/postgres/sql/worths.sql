-- name: groups
SELECT name, id FROM link_group WHERE site = $1;

-- name: add_group
-- Another worker may have been faster.
INSERT INTO link_group (site, name) VALUES ($1, $2) ON CONFLICT (site, name) DO UPDATE SET name = excluded.name RETURNING id;

-- name: group_head
SELECT e.rank, e.id FROM entry e WHERE e.site = $1 AND e.link_group = $2 AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1;

-- name: groups_of
SELECT DISTINCT e.site, e.link_group FROM jsonb_array_elements_text($1::jsonb) j CROSS JOIN LATERAL (SELECT * FROM entry WHERE run = $2 AND digest = j::bigint LIMIT 1) e;

-- name: stale_sites
-- Those that others change just now are settled by their next claim.
SELECT id FROM site WHERE run = $1 AND is_stale ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED;

-- name: set_head
UPDATE site SET head_rank = $1, head_entry = $2, is_stale = false WHERE id = $3;

-- name: note
INSERT INTO worth (entry, said) VALUES ($1, $2) ON CONFLICT (entry) DO UPDATE SET said = excluded.said;

-- name: learnt
SELECT name, n, a, b FROM learnt WHERE site = $1;

-- name: learn
-- `Tally.plus` of core/crawl/learner.py; a lesson is its name, two numbers, and how much is kept of what was there.
INSERT INTO learnt (site, n, name, a, b, keep) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (site, name) DO UPDATE SET n = learnt.n * excluded.keep / 100 + excluded.n, a = learnt.a * excluded.keep / 100 + excluded.a,
  b = learnt.b * excluded.keep / 100 + excluded.b;
