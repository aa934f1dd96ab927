-- name: look
-- What is known of links, who said the same, whether the lease is ours and its page was ever visited, and whether others have written.
-- CROSS: the list first, then the index. INDEXED BY: the planner would rather walk through all pages in claim order.
SELECT 0, e.digest, e.state, e.rank, e.seen, e.rule, e.url LIKE 'https:%', e.depth
FROM json_each(?2) j CROSS JOIN entry e ON e.run = ?1 AND e.digest = j.value
UNION ALL SELECT 1, NULL, NULL, NULL, NULL, e.url, NULL, NULL FROM (SELECT p.entry FROM visit p INDEXED BY visit_content
  WHERE p.run = ?1 AND p.content = ?3 AND p.claim IS NOT NULL ORDER BY p.claim LIMIT ?4) t CROSS JOIN entry e ON e.id = t.entry
UNION ALL SELECT 2, e.digest, NULL, NULL, NULL, NULL, EXISTS (SELECT 1 FROM known k WHERE k.digest = e.digest), NULL
FROM entry e WHERE e.id = ?5 AND e.state = 1 AND e.worker = ?6 AND e.claim = ?7
UNION ALL SELECT 3, data_version, NULL, NULL, NULL, NULL, NULL, NULL FROM pragma_data_version;

-- name: external_pages
SELECT coalesce(sum(fetched + leased), 0) FROM site WHERE run = ? AND is_external = 1;

-- name: budget
-- And whether something is to be queued again: leases of workers that are gone, and what is due.
SELECT fetched, leased,
  EXISTS (SELECT 1 FROM entry e WHERE e.run = ?1 AND e.state = 1
    AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w WHERE w.expires_at > ?2 OR w.id = ?3)))
  OR EXISTS (SELECT 1 FROM entry e WHERE e.run = ?1 AND e.due_at <= ?2 AND e.state IN (0, 2))
FROM run WHERE id = ?1;

-- name: late_at
-- When something is to be queued again: what is due, or what a worker holds that is gone by then. Null if never.
SELECT min(at) FROM (
  SELECT min(e.due_at) AS at FROM entry e WHERE e.run = ?1 AND e.due_at IS NOT NULL AND e.state IN (0, 2)
  UNION ALL SELECT coalesce(w.expires_at, 0) FROM entry e LEFT JOIN worker w ON w.id = e.worker
  WHERE e.run = ?1 AND e.state = 1 AND e.worker IS NOT ?2);

-- name: sites_by_head
-- Sites with something queued, the one whose best entry is best first; resting ones are told apart by the caller.
-- Ranks below zero are what was scheduled (core/crawl/placement.py), here and in what follows.
SELECT s.id, s.name, s.is_external, s.blocked_until, s.fetched, s.leased, s.head_entry, s.worker,
  EXISTS (SELECT 1 FROM worker w WHERE w.id = s.worker AND w.expires_at > ?3), s.next_at, s.delay_s,
  r.fetched, r.leased, r.claims,
  (EXISTS (SELECT 1 FROM entry e WHERE e.run = ?1 AND e.state = 1
    AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w WHERE w.expires_at > ?3 OR w.id = ?4)))
  OR EXISTS (SELECT 1 FROM entry e WHERE e.run = ?1 AND e.due_at <= ?3 AND e.state IN (0, 2))), s.head_rank
FROM site s JOIN run r ON r.id = s.run
WHERE s.run = ?1 AND s.head_entry IS NOT NULL AND s.head_rank < ?2 ORDER BY s.head_rank, s.head_entry;

-- name: lease
-- The last columns are the group of the entry, and the next entry of that group.
UPDATE entry SET state = 1, claim = ?, worker = ?, attempts = attempts + 1, priority = coalesce(?, priority) WHERE id = ?
RETURNING url, digest, is_seed, visits, attempts, depth, lane, priority, score, weak_pages, hub_depth,
  (SELECT p.url FROM entry p WHERE p.id = entry.parent), EXISTS (SELECT 1 FROM known k WHERE k.digest = entry.digest),
  rank, (SELECT g.name FROM link_group g WHERE g.id = entry.link_group), link_group,
  (SELECT e.rank FROM entry e WHERE e.site = entry.site AND e.link_group = entry.link_group AND e.state = 0 AND e.due_at IS NULL
    AND e.id != entry.id ORDER BY e.rank, e.id LIMIT 1),
  (SELECT e.id FROM entry e WHERE e.site = entry.site AND e.link_group = entry.link_group AND e.state = 0 AND e.due_at IS NULL
    AND e.id != entry.id ORDER BY e.rank, e.id LIMIT 1);

-- name: take_over
UPDATE entry SET worker = ? WHERE id = ?
RETURNING url, digest, is_seed, visits, attempts, depth, lane, priority, score, weak_pages, hub_depth,
  (SELECT p.url FROM entry p WHERE p.id = entry.parent), EXISTS (SELECT 1 FROM known k WHERE k.digest = entry.digest),
  rank, (SELECT g.name FROM link_group g WHERE g.id = entry.link_group);

-- name: refresh
-- Find the best entry of a site again: the index entry_ready gives it in one step. Those of link groups: worths.sql.
UPDATE site SET (head_rank, head_entry) =
  (SELECT e.rank, e.id FROM entry e WHERE e.site = site.id AND e.link_group = 0 AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1),
  is_stale = 1
WHERE id = ?;

-- name: hold_site
-- Whether a site needs no pause is known only after robots.txt: see `pace`.
UPDATE site SET next_at = max(next_at, ?), delay_s = coalesce(delay_s, nullif(?, 0.0)), worker = ? WHERE id = ?;

-- name: pace
-- And whoever has no lease of a site any more leaves it to others.
UPDATE site SET next_at = max(next_at, ?), delay_s = ?, worker = nullif(worker, ?) WHERE id = ?;

-- name: move_fetch
-- A redirect led to another site: its page counts there.
UPDATE site SET fetched = fetched + iif(id = ?1, 1, -1) WHERE id IN (?1, ?2);

-- name: leased
SELECT e.id, e.site, e.digest, e.claim, s.name, s.is_external, s.worker, EXISTS (SELECT 1 FROM worker w WHERE w.id = s.worker AND w.expires_at > ?2),
  s.next_at, s.delay_s, e.rank
FROM entry e JOIN site s ON s.id = e.site
WHERE e.run = ?1 AND e.state = 1
AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w WHERE w.expires_at > ?2 OR w.id = ?3)) ORDER BY e.claim;

-- name: give_back
UPDATE entry SET state = 0, worker = NULL WHERE id = ? AND state = 1;

-- name: due
UPDATE entry SET due_at = NULL, state = 0, attempts = iif(state = 2, 0, attempts)
WHERE run = ? AND due_at <= ? AND state IN (0, 2) RETURNING site;

-- name: next_due
-- When the next retry of each site may be. What is scheduled for some day is not waited for.
SELECT s.name, min(e.due_at), s.fetched + s.leased, s.is_external FROM entry e JOIN site s ON s.id = e.site
WHERE e.run = ? AND e.due_at IS NOT NULL AND e.state = 0 AND (e.rank < 0) = ? GROUP BY s.id;

-- name: next_expiry
SELECT min(w.expires_at) FROM worker w
WHERE w.id != ?2 AND EXISTS (SELECT 1 FROM entry e WHERE e.run = ?1 AND e.state = 1 AND e.worker = w.id);

-- name: release
UPDATE entry SET worker = NULL WHERE run = ? AND state = 1 AND worker = ?;

-- name: release_sites
UPDATE site SET worker = NULL, next_at = max(next_at, ? + coalesce(delay_s, 0)) WHERE run = ? AND worker = ?;

-- name: finish
-- A retry goes after all others (`rank_again` of core/crawl/placement.py), and belongs to no link group any more.
UPDATE entry SET state = ?1, rank = iif(?2, iif(rank < 0, -(1 << 61), 5 << 52) + (rank & ((1 << 52) - 1)), rank),
  link_group = iif(?2, 0, link_group), due_at = ?3, rule = ?4, why = ?5, visits = visits + ?6, fetches = fetches + ?7, worker = NULL
WHERE id = ?8 AND state = 1 AND worker = ?9 AND claim = ?10;

-- name: count_urls
INSERT INTO site (run, name, is_external, urls)
SELECT ?1, json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]'), json_extract(j.value, '$[2]') FROM json_each(?2) j WHERE true
ON CONFLICT (run, name) DO UPDATE SET urls = urls + excluded.urls RETURNING id, name, urls;

-- name: count_hosts
UPDATE run SET hosts = hosts + ? WHERE id = ? RETURNING hosts;

-- name: uncount_urls
UPDATE site SET urls = urls - ? WHERE id = ?;

-- name: insert
INSERT OR IGNORE INTO entry (run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth,
  parent, is_seed, rule, why, seen, link_group) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: improve
-- Better evidence: a queued entry moves up, one that was rejected for lack of it comes back; https wins (URL-7). What
-- another worker has fetched, or tries again, in the meantime stays as it is (`KnownState.is_settled`).
UPDATE entry SET
  state = 0, rule = NULL, why = NULL, seen = seen + 1,
  rank = iif(state = 0, min(rank, better.rank_), better.rank_),
  lane = iif(state = 0 AND rank <= better.rank_, lane, better.lane_),
  priority = iif(state = 0 AND rank <= better.rank_, priority, better.priority_),
  score = iif(state = 0 AND rank <= better.rank_, score, better.score_),
  depth = min(depth, better.depth_), -- the shortest way that is known, whichever led to its place
  weak_pages = iif(state = 0 AND rank <= better.rank_, weak_pages, better.weak_pages_),
  hub_depth = iif(state = 0 AND rank <= better.rank_, hub_depth, better.hub_depth_),
  parent = iif(state = 0 AND rank <= better.rank_, parent, better.parent_),
  link_group = iif(state = 0 AND rank <= better.rank_, link_group, better.group_),
  site = coalesce(site, better.site_),
  url = iif(better.url_ LIKE 'https:%' AND url LIKE 'http:%', better.url_, url)
FROM (SELECT ? AS rank_, ? AS lane_, ? AS priority_, ? AS score_, ? AS depth_, ? AS weak_pages_, ? AS hub_depth_,
  ? AS parent_, ? AS site_, ? AS url_, ? AS group_) AS better
WHERE run = ? AND digest = ?
AND ((state = 0 AND rule IS NULL) OR (state = 3 AND rule IN ('irrelevant', 'pruned', 'tunnel-end', 'max-depth')));

-- name: seen
UPDATE entry SET seen = seen + ? WHERE run = ? AND digest = ?;

-- name: sighting
-- Of a new link the first; of others the next.
INSERT OR IGNORE INTO sighting (run, digest, parent, anchor, position, score, points, lane, nth)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, coalesce(?9, (SELECT coalesce(max(nth), 0) + 1 FROM sighting WHERE run = ?1 AND digest = ?2)));

-- name: tally
INSERT INTO tally (n, run, rule) VALUES (?, ?, ?) ON CONFLICT (run, rule) DO UPDATE SET n = n + excluded.n;

-- name: arrive
-- The target of a redirect needs no visit of its own, and none again.
INSERT INTO entry (run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth, parent, is_seed,
  seen, rule, why)
SELECT run, ?, ?, ?, 2, rank, lane, priority, score, depth, weak_pages, hub_depth, id, 0, 0, 'redirected', ?
FROM entry WHERE id = ?
ON CONFLICT (run, digest) DO UPDATE SET state = 2, site = excluded.site, rule = 'redirected', why = excluded.why, due_at = NULL
WHERE state IN (0, 3);

-- name: schedule
-- What failed is tried again if it was ever fetched; links that a rule rejected stay so.
UPDATE entry SET due_at = ?, rank = ?, link_group = 0, attempts = 0, state = iif(state = 2, 2, 0), rule = NULL, why = NULL
WHERE run = ? AND digest = ? AND (state IN (0, 2) OR (state = 3 AND claim IS NOT NULL)) RETURNING site;

-- name: reopen
UPDATE entry SET state = 0, rule = NULL, why = NULL, attempts = 0
WHERE run = ? AND rule = ? AND state = 3 AND depth <= ?;

-- name: drop_deep
UPDATE entry SET state = 3, rule = 'max-depth', why = printf(?, depth, ?), due_at = NULL
WHERE run = ? AND state = 0 AND rank >= 0 AND depth > ?;

-- name: requeue
-- A seed is asked for as it is written by now, http or https.
UPDATE entry SET state = ?, site = ?, rank = ?, lane = ?, priority = ?, score = ?, weak_pages = ?, rule = ?, why = ?, url = coalesce(?, url), link_group = ?,
  due_at = NULL, attempts = 0
WHERE run = ? AND digest = ? AND (state = 3 OR (state = 0 AND due_at IS NOT NULL));

-- name: rescore
UPDATE sighting SET score = ?, points = ?, lane = ? WHERE run = ? AND digest = ? AND nth = 1;

-- name: block
-- Without a time its pause ends.
UPDATE site SET blocked_until = coalesce(max(blocked_until, ?), 0) WHERE run = ? AND name = ?;

-- name: add_site
UPDATE site SET is_inside = 1, is_external = 0 WHERE id = ?;

-- name: all_sites
SELECT id FROM site WHERE run = ?;

-- name: admit
INSERT INTO shape (run, name, admitted)
SELECT ?1, j.key, j.value FROM json_each(?2) j WHERE true
ON CONFLICT (run, name) DO UPDATE SET admitted = admitted + excluded.admitted RETURNING name, admitted;

-- name: cap_shape
UPDATE shape SET admitted = min(admitted, ?) WHERE run = ? AND name = ?;

-- name: learn_shape
-- Workers add to each other's counts; of what the last pages said, the last writer is remembered.
INSERT INTO shape (run, name, alike, recent) VALUES (?, ?, ?, ?)
ON CONFLICT (run, name) DO UPDATE SET alike = iif(excluded.alike, alike + 1, 0), recent = excluded.recent
RETURNING name, admitted, alike, recent;
