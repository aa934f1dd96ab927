-- name: fetched
SELECT fetched FROM run WHERE id = ?;

-- name: budget
-- And whether anything is to be queued again: what others held for too long, what is due.
SELECT fetched, leased, claims,
  EXISTS (SELECT 1 FROM entry e WHERE e.run = run.id AND e.state = 1 AND e.lease_until <= ?)
  OR EXISTS (SELECT 1 FROM entry e WHERE e.run = run.id AND e.due_at <= ? AND e.state IN (0, 2))
FROM run WHERE id = ?;

-- name: external_budget
SELECT coalesce(sum(fetched + leased), 0) FROM site WHERE run = ? AND is_external = 1;

-- name: sites_by_head
-- Sites with something queued, the one whose best entry is best first; resting ones are told apart by the caller.
-- Ranks below zero are what was scheduled (core/frontier.py), here and in what follows.
SELECT id, name, is_external, blocked_until, fetched, leased, head_rank, head_entry
FROM site WHERE run = ? AND head_entry IS NOT NULL AND head_rank < ? ORDER BY head_rank, head_entry;

-- name: entry_to_lease
SELECT e.url, e.digest, s.name, p.url, e.is_seed, s.is_external, e.visits, e.attempts,
  e.depth, e.lane, e.priority, e.score, e.weak_pages, e.hub_depth
FROM entry e JOIN site s ON s.id = e.site LEFT JOIN entry p ON p.id = e.parent WHERE e.id = ?;

-- name: lease
UPDATE entry SET state = 1, claim = ?, owner = ?, lease_until = ?, attempts = attempts + 1 WHERE id = ?;

-- name: count
UPDATE run SET fetched = fetched + ?, leased = leased + ?, claims = claims + ? WHERE id = ?;

-- name: refresh
-- The index entry_ready gives the best entry in one step.
UPDATE site SET leased = leased + ?, fetched = fetched + ?, (head_rank, head_entry) =
  (SELECT e.rank, e.id FROM entry e WHERE e.site = site.id AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1)
WHERE id = ?;

-- name: count_site
UPDATE site SET leased = leased + ?, fetched = fetched + ? WHERE id = ?;

-- name: expired
SELECT id, site, owner FROM entry WHERE run = ? AND state = 1 AND lease_until <= ?;

-- name: leased
SELECT id, site, owner, lease_until, digest, claim FROM entry WHERE run = ? AND state = 1 ORDER BY claim;

-- name: take_over
UPDATE entry SET owner = ?, lease_until = ? WHERE id = ?;

-- name: give_back
UPDATE entry SET state = 0, owner = NULL, lease_until = NULL WHERE id = ? AND state = 1;

-- name: due
SELECT id, site FROM entry WHERE run = ? AND due_at <= ? AND state IN (0, 2);

-- name: make_ready
UPDATE entry SET due_at = NULL, state = 0, attempts = CASE state WHEN 2 THEN 0 ELSE attempts END WHERE id = ?;

-- name: next_due
-- When the next retry of each site may be. What is scheduled for some day is not waited for.
SELECT s.name, min(e.due_at), s.fetched + s.leased, s.is_external FROM entry e JOIN site s ON s.id = e.site
WHERE e.run = ? AND e.due_at IS NOT NULL AND e.state = 0 AND (e.rank < 0) = ? GROUP BY s.id;

-- name: next_expiry
SELECT min(lease_until) FROM entry WHERE run = ? AND state = 1 AND owner != ?;

-- name: renew
UPDATE entry SET lease_until = max(lease_until, ?) WHERE run = ? AND state = 1 AND owner = ?;

-- name: release
UPDATE entry SET lease_until = 0 WHERE run = ? AND state = 1 AND owner = ?;

-- name: holds
SELECT 1 FROM entry WHERE id = ? AND state = 1 AND owner = ? AND claim = ?;

-- name: finish
-- Changes nothing if the lease is no longer ours. A retry goes after all others (`rank_again` of core/ranks.py).
UPDATE entry SET state = ?, rank = iif(?, iif(rank < 0, -(1 << 61), 5 << 52) + (rank & ((1 << 52) - 1)), rank), due_at = ?, rule = ?, why = ?, visits = visits + ?, owner = NULL, lease_until = NULL
WHERE id = ? AND state = 1 AND owner = ? AND claim = ?;

-- name: insert
INSERT OR IGNORE INTO entry (run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth,
  parent, is_seed, rule, why, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: improve
-- Better evidence: a queued entry moves up, one that was put out for lack of it comes back; https wins (URL-7). What
-- another process has had, or tries again, in the meantime stays as it is (`Standing.is_settled` of core/frontier.py).
UPDATE entry SET
  state = 0, rule = NULL, why = NULL, seen = seen + 1,
  rank = iif(state = 0, min(rank, better.rank_), better.rank_),
  lane = iif(state = 0 AND rank <= better.rank_, lane, better.lane_),
  priority = iif(state = 0 AND rank <= better.rank_, priority, better.priority_),
  score = iif(state = 0 AND rank <= better.rank_, score, better.score_),
  depth = iif(state = 0 AND rank <= better.rank_, depth, better.depth_),
  weak_pages = iif(state = 0 AND rank <= better.rank_, weak_pages, better.weak_pages_),
  hub_depth = iif(state = 0 AND rank <= better.rank_, hub_depth, better.hub_depth_),
  parent = iif(state = 0 AND rank <= better.rank_, parent, better.parent_),
  site = coalesce(site, better.site_),
  url = iif(better.url_ LIKE 'https:%' AND url LIKE 'http:%', better.url_, url)
FROM (SELECT ? AS rank_, ? AS lane_, ? AS priority_, ? AS score_, ? AS depth_, ? AS weak_pages_, ? AS hub_depth_,
  ? AS parent_, ? AS site_, ? AS url_) AS better
WHERE run = ? AND digest = ?
AND ((state = 0 AND rule IS NULL) OR (state = 3 AND rule IN ('irrelevant', 'pruned', 'tunnel-end', 'max-depth')));

-- name: seen
UPDATE entry SET seen = seen + ? WHERE run = ? AND digest = ?;

-- name: sighting
INSERT OR IGNORE INTO sighting (run, digest, parent, anchor, position, score, points, lane, nth)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(nth), 0) + 1 FROM sighting WHERE run = ? AND digest = ?));

-- name: first_sighting
INSERT OR IGNORE INTO sighting (run, digest, nth, parent, anchor, position, score, points, lane)
VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?);

-- name: page
INSERT OR REPLACE INTO page (run, claim, entry, content, record) VALUES (?, ?, ?, ?, ?);

-- name: tally
INSERT INTO tally (run, rule, n) VALUES (?, ?, ?) ON CONFLICT (run, rule) DO UPDATE SET n = n + excluded.n;

-- name: arrive
-- The target of a redirect needs no visit of its own, and none again.
INSERT INTO entry (run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth, parent, is_seed,
  seen, rule, why)
SELECT run, ?, ?, ?, 2, rank, lane, priority, score, depth, weak_pages, hub_depth, id, 0, 0, 'redirected', ?
FROM entry WHERE id = ?
ON CONFLICT (run, digest) DO UPDATE SET state = 2, site = excluded.site, rule = 'redirected', why = excluded.why, due_at = NULL
WHERE state IN (0, 3);

-- name: known
SELECT e.digest, e.state, e.rank, e.seen, e.rule, e.url LIKE 'https:%'
FROM json_each(?) j CROSS JOIN entry e ON e.run = ? AND e.digest = j.value; -- CROSS: the list first, then the index

-- name: said
-- The planner would rather walk through all pages in claim order.
SELECT e.url FROM page p INDEXED BY page_content JOIN entry e ON e.id = p.entry
WHERE p.run = ? AND p.content = ? ORDER BY p.claim LIMIT ?;

-- name: schedule
-- What was dropped is tried again if it was ever fetched; links that a rule put out stay out.
UPDATE entry SET due_at = ?, rank = ?, attempts = 0, state = iif(state = 2, 2, 0), rule = NULL, why = NULL
WHERE run = ? AND digest = ? AND (state IN (0, 2) OR (state = 3 AND claim IS NOT NULL)) RETURNING site;

-- name: reopen
UPDATE entry SET state = 0, rule = NULL, why = NULL, attempts = 0
WHERE run = ? AND rule = ? AND state = 3 AND depth <= ?;

-- name: put_out_deep
UPDATE entry SET state = 3, rule = 'max-depth', why = printf(?, depth, ?), due_at = NULL
WHERE run = ? AND state = 0 AND rank >= 0 AND depth > ?;

-- name: strays
-- Of a link to another site, `why` is that site's name.
SELECT e.digest FROM entry e JOIN site s ON s.run = e.run AND s.name = e.why AND s.is_inside = 1
WHERE e.run = ? AND e.rule = 'other-site' AND e.state = 3 ORDER BY e.id;

-- name: bring_back
-- A seed is asked for as it is written by now, http or https.
UPDATE entry SET state = ?, site = ?, rank = ?, lane = ?, priority = ?, score = ?, weak_pages = ?, rule = ?, why = ?, url = coalesce(?, url), due_at = NULL, attempts = 0
WHERE run = ? AND digest = ? AND (state = 3 OR (state = 0 AND due_at IS NOT NULL));

-- name: rescore
UPDATE sighting SET score = ?, points = ?, lane = ? WHERE run = ? AND digest = ? AND nth = 1;

-- name: block
-- Without a time its pause ends.
UPDATE site SET blocked_until = coalesce(max(blocked_until, ?), 0) WHERE run = ? AND name = ?;

-- name: site
SELECT id FROM site WHERE run = ? AND name = ?;

-- name: add_site
INSERT INTO site (run, name, is_external) VALUES (?, ?, ?);

-- name: enter
UPDATE site SET is_inside = 1, is_external = 0 WHERE id = ?;

-- name: inside
SELECT name FROM site WHERE run = ? AND is_inside = 1;

-- name: crowd
SELECT coalesce(s.name, ''), count(*) FROM entry e LEFT JOIN site s ON s.id = e.site WHERE e.run = ? GROUP BY e.site;

-- name: all_sites
SELECT id FROM site WHERE run = ?;

-- name: count_states
SELECT state, count(*) FROM entry WHERE run = ? GROUP BY state;

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
SELECT e.id, e.url, e.state, e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why
FROM entry e LEFT JOIN entry p ON p.id = e.parent
WHERE +e.run = ? AND e.id > ? ORDER BY e.id LIMIT 1000;

-- name: rows_out
SELECT e.id, e.url, e.state, e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why
FROM entry e LEFT JOIN entry p ON p.id = e.parent
WHERE e.run = ? AND e.id > ? AND e.rule = ? ORDER BY e.id LIMIT 1000;

-- name: seeds
SELECT url FROM entry WHERE run = ? AND is_seed = 1 ORDER BY id;

-- name: row
SELECT e.id, e.url, e.state, e.lane, e.priority, e.score, e.depth, p.url, e.seen, e.attempts, e.claim, e.due_at, e.rule, e.why
FROM entry e LEFT JOIN entry p ON p.id = e.parent WHERE e.run = ? AND e.digest = ?;

-- name: sightings
SELECT p.url, s.anchor, s.position, s.score, s.points, s.lane
FROM sighting s LEFT JOIN entry p ON p.id = s.parent WHERE s.run = ? AND s.digest = ? ORDER BY s.nth;

-- name: pages
SELECT claim, record FROM page WHERE run = ? AND claim > ? ORDER BY claim LIMIT 1000;

-- name: families
SELECT name, admitted, alike, recent FROM family WHERE run = ? ORDER BY id;

-- name: put_family
INSERT INTO family (run, name, admitted, alike, recent) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, name) DO UPDATE SET admitted = excluded.admitted, alike = excluded.alike, recent = excluded.recent;

-- name: drop_family
DELETE FROM family WHERE run = ? AND name = ?;
