-- name: look
-- What is known of links, who said the same, and whether the lease is ours and its page was ever visited. LIMIT 1 makes one
-- step in the index of each link: a plan that was made while the table was small would go through all entries instead.
SELECT 0, e.digest, e.state, e.rank, e.seen, e.rule, e.url LIKE 'https:%', e.depth
FROM jsonb_array_elements_text($2::jsonb) j CROSS JOIN LATERAL (SELECT * FROM entry WHERE run = $1 AND digest = j::bigint LIMIT 1) e
UNION ALL SELECT 1, NULL, NULL, NULL, NULL, e.url, NULL, NULL FROM (SELECT p.entry FROM visit p
  WHERE p.run = $1 AND p.content = $3 AND p.claim IS NOT NULL ORDER BY p.claim LIMIT $4) t JOIN entry e ON e.id = t.entry
UNION ALL SELECT 2, e.digest, NULL, NULL, NULL, NULL, EXISTS (SELECT 1 FROM known k WHERE k.digest = e.digest), NULL
FROM entry e WHERE e.id = $5 AND e.state = 1 AND e.worker = $6 AND e.claim = $7;

-- name: external_pages
SELECT coalesce(sum(fetched + leased), 0)::bigint FROM site WHERE run = $1 AND is_external;

-- name: budget
-- And whether something is to be queued again: leases of workers that are gone, and what is due.
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM counter WHERE run = $1 AND name = 'fetched'),
  (SELECT count(*) FROM entry WHERE run = $1 AND state = 1),
  EXISTS (SELECT 1 FROM entry e WHERE e.run = $1 AND e.state = 1
    AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w WHERE w.expires_at > $2 OR w.id = $3)))
  OR EXISTS (SELECT 1 FROM entry e WHERE e.run = $1 AND e.due_at <= $2 AND e.state IN (0, 2));

-- name: lock_run
-- Budgets of a run are kept together: one claim at a time reads what is used up of them.
SELECT 1 FROM run WHERE id = $1 FOR UPDATE;

-- name: wake
-- Sites whose rest is over; those that somebody changes just now are woken by the next claim.
UPDATE site SET is_ready = true
WHERE id IN (SELECT id FROM site WHERE run = $1 AND NOT is_ready AND blocked_until <= $2 ORDER BY id FOR UPDATE SKIP LOCKED);

-- name: crowd
-- How many other workers the run has, among how many sites they divide it (no more than each may hold), and whether we are one of them still.
-- Sites are counted only if there are others.
WITH others AS (SELECT count(*) AS n FROM worker WHERE run = $1 AND expires_at > $2 AND id <> $3)
SELECT others.n, CASE WHEN others.n = 0 THEN 0 ELSE (SELECT count(*) FROM (SELECT 1 FROM site WHERE run = $1 AND head_entry IS NOT NULL
    AND is_ready AND leased = 0 LIMIT $4 * (others.n + 1)) free)
  + (SELECT count(DISTINCT site) FROM entry WHERE run = $1 AND state = 1) END,
  $3 < 0 OR EXISTS (SELECT 1 FROM worker WHERE id = $3)
FROM others;

-- name: used
-- What is used up of the budget of pages.
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM counter WHERE run = $1 AND name = 'fetched'), (SELECT count(*) FROM entry WHERE run = $1 AND state = 1);

-- name: sites_by_head
-- Sites with something queued that may be asked, the one whose best entry is best first: some of them, from a place on, each with its
-- best entries. With the first of them come those whose rest is over. A worker is alive while it has a row.
SELECT s.id, s.name, s.is_external, s.blocked_until, s.fetched, s.leased, s.head_entry, s.worker, EXISTS (SELECT 1 FROM worker w WHERE w.id = s.worker),
  s.next_at, s.delay_s, s.head_rank, s.is_ready, CASE WHEN $7::int > 0 THEN (SELECT json_agg(json_build_array(e.rank, e.id)) FROM
    (SELECT rank, id FROM entry WHERE site = s.id AND link_group = 0 AND state = 0 AND due_at IS NULL ORDER BY rank, id LIMIT $7::int) e) END
FROM (
  (SELECT * FROM site WHERE run = $1 AND head_entry IS NOT NULL AND is_ready AND head_rank < $2 AND (head_rank, head_entry) >= ($4, $5)
  ORDER BY head_rank, head_entry LIMIT $6)
  UNION ALL SELECT * FROM site WHERE run = $1 AND NOT is_ready AND blocked_until <= $3 AND head_entry IS NOT NULL AND head_rank < $2 AND $8::boolean) s;

-- name: waiting_sites
-- Sites with something queued: until when they rest, what of their budget is used.
(SELECT name, blocked_until, fetched + leased, is_external, head_rank FROM site
WHERE run = $1 AND head_entry IS NOT NULL AND is_ready AND head_rank < $2 ORDER BY head_rank, head_entry LIMIT 1000)
UNION ALL (SELECT name, blocked_until, fetched + leased, is_external, head_rank FROM site
WHERE run = $1 AND NOT is_ready AND head_entry IS NOT NULL AND head_rank < $2 ORDER BY blocked_until LIMIT 1000);

-- name: is_late
-- Whether something is due; with `$4`, also whether workers are gone that held something.
SELECT EXISTS (SELECT 1 FROM entry e WHERE e.run = $1 AND e.due_at <= $2 AND e.state IN (0, 2))
  OR ($4::boolean AND EXISTS (SELECT 1 FROM entry e WHERE e.run = $1 AND e.state = 1
    AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w WHERE w.expires_at > $2 OR w.id = $3))));

-- name: lease
-- Lease what was chosen: sites, entries, the heads and workers of the sites as they were looked at, the worths of the entries. A site that
-- somebody changes just now, or has changed since, is left out; all of them are, if we were taken for gone. Whoever deletes our row
-- waits for sites, so we do not wait for our row. A claim is on the disk of the server before anything is requested: after a crash of the
-- server nobody else asks its sites. The last columns are what `worths.py` wants to know: the next entry of the group.
WITH chosen AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[]) WITH ORDINALITY AS c (site, entry, head, worker, worth, place)),
me AS MATERIALIZED (SELECT id, set_config('synchronous_commit', 'on', true) FROM worker WHERE id = $7 FOR KEY SHARE SKIP LOCKED),
locked AS MATERIALIZED (
  SELECT s.id FROM (SELECT DISTINCT site, head, worker FROM chosen) c JOIN site s ON s.id = c.site
  WHERE s.head_entry = c.head AND coalesce(s.worker, -1) = c.worker AND EXISTS (SELECT 1 FROM me) FOR UPDATE OF s SKIP LOCKED),
numbered AS MATERIALIZED (
  SELECT place, entry, worth, nextval($6::regclass) AS claim FROM (SELECT * FROM chosen WHERE site IN (SELECT id FROM locked) ORDER BY place) ordered)
UPDATE entry e SET state = 1, claim = n.claim, worker = $7, attempts = attempts + 1, priority = coalesce(n.worth, priority)
FROM numbered n WHERE e.id = n.entry AND e.state = 0
RETURNING n.place, e.claim, url, digest, is_seed, visits, attempts, depth, lane, priority, score, weak_pages, hub_depth,
  (SELECT p.url FROM entry p WHERE p.id = e.parent), EXISTS (SELECT 1 FROM known k WHERE k.digest = e.digest),
  rank, (SELECT g.name FROM link_group g WHERE g.id = e.link_group), link_group,
  CASE WHEN $8::boolean THEN (SELECT o.rank FROM entry o WHERE o.site = e.site AND o.link_group = e.link_group AND o.state = 0 AND o.due_at IS NULL
    AND o.id <> e.id ORDER BY o.rank, o.id LIMIT 1) END,
  CASE WHEN $8::boolean THEN (SELECT o.id FROM entry o WHERE o.site = e.site AND o.link_group = e.link_group AND o.state = 0 AND o.due_at IS NULL
    AND o.id <> e.id ORDER BY o.rank, o.id LIMIT 1) END;

-- name: take_over
UPDATE entry SET worker = $1 WHERE id = $2
RETURNING url, digest, is_seed, visits, attempts, depth, lane, priority, score, weak_pages, hub_depth,
  (SELECT p.url FROM entry p WHERE p.id = entry.parent), EXISTS (SELECT 1 FROM known k WHERE k.digest = entry.digest),
  rank, (SELECT g.name FROM link_group g WHERE g.id = entry.link_group);

-- name: disown
-- Leases of ours that we know nothing of: their commit was answered by a connection that broke.
UPDATE entry SET worker = NULL WHERE run = $1 AND state = 1 AND worker = $2 AND claim <> ALL ($3::bigint[]);

-- name: refresh
-- A site whose best entry is still the same is left alone: each change of a row leaves an old one behind.
UPDATE site SET (head_rank, head_entry) = (best.rank, best.id), is_stale = true
FROM (SELECT $1::bigint AS site) one LEFT JOIN LATERAL
  (SELECT e.rank, e.id FROM entry e WHERE e.site = one.site AND e.link_group = 0 AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1) best ON true
WHERE site.id = one.site AND NOT (is_stale AND head_entry IS NOT DISTINCT FROM best.id AND head_rank IS NOT DISTINCT FROM best.rank);

-- name: lock_sites
-- All sites that a page touches, in order, before anything else is locked.
SELECT id, name FROM site WHERE run = $1 AND name = ANY ($2::text[]) ORDER BY id FOR UPDATE;

-- name: lock_late
-- The sites of what `leased` and `due` are about to queue again.
SELECT s.id FROM site s WHERE s.id IN (
  SELECT e.site FROM entry e WHERE e.run = $1 AND e.state = 1 AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w))
  UNION SELECT e.site FROM entry e WHERE e.run = $1 AND e.due_at <= $2 AND e.state IN (0, 2))
ORDER BY s.id FOR UPDATE;

-- name: lock_all_sites
SELECT count(*) FROM (SELECT id FROM site WHERE run = $1 ORDER BY id FOR UPDATE) locked;

-- name: lock_entries
SELECT count(*) FROM unnest($2::bigint[]) d CROSS JOIN LATERAL (SELECT id FROM entry WHERE run = $1 AND digest = d LIMIT 1 FOR UPDATE) locked;

-- name: hold_site
-- Whether a site needs no pause is known only after robots.txt: see `pace`.
UPDATE site SET next_at = greatest(next_at, $1), delay_s = coalesce(delay_s, nullif($2::double precision, 0.0)), worker = $3 WHERE id = $4;

-- name: hold_sites
-- The same for sites that were leased just now, which have their worker already.
UPDATE site SET next_at = greatest(next_at, h.starts), delay_s = coalesce(site.delay_s, nullif(h.delay_s, 0.0))
FROM unnest($1::double precision[], $2::double precision[], $3::bigint[]) h (starts, delay_s, id) WHERE site.id = h.id;

-- name: pace
-- And whoever has no lease of a site any more leaves it to others.
UPDATE site SET next_at = greatest(next_at, $1), delay_s = $2, worker = nullif(worker, $3) WHERE id = $4;

-- name: move_fetch
UPDATE site SET fetched = fetched + CASE WHEN id = $1 THEN 1 ELSE -1 END WHERE id IN ($1, $2);

-- name: leased
SELECT e.id, e.site, e.digest, e.claim, s.name, s.is_external, s.worker, EXISTS (SELECT 1 FROM worker w WHERE w.id = s.worker), s.next_at, s.delay_s, e.rank
FROM entry e JOIN site s ON s.id = e.site
WHERE e.run = $1 AND e.state = 1 AND (e.worker IS NULL OR e.worker NOT IN (SELECT w.id FROM worker w))
ORDER BY e.claim FOR UPDATE OF e SKIP LOCKED;

-- name: give_back
UPDATE entry SET state = 0, worker = NULL WHERE id = $1 AND state = 1;

-- name: due
UPDATE entry SET due_at = NULL, state = 0, attempts = CASE WHEN state = 2 THEN 0 ELSE attempts END
WHERE id IN (SELECT id FROM entry WHERE run = $1 AND due_at <= $2 AND state IN (0, 2) ORDER BY digest FOR UPDATE SKIP LOCKED) RETURNING site;

-- name: next_due
-- When the next retry of each site may be. What is scheduled for some day is not waited for.
SELECT s.name, min(e.due_at), s.fetched + s.leased, s.is_external FROM entry e JOIN site s ON s.id = e.site
WHERE e.run = $1 AND e.due_at IS NOT NULL AND e.state = 0 AND (e.rank < 0) = $2 GROUP BY s.id;

-- name: next_expiry
SELECT min(w.expires_at) FROM worker w
WHERE w.id <> $2 AND EXISTS (SELECT 1 FROM entry e WHERE e.run = $1 AND e.state = 1 AND e.worker = w.id);

-- name: release
UPDATE entry SET worker = NULL WHERE run = $1 AND state = 1 AND worker = $2;

-- name: release_sites
UPDATE site SET worker = NULL, next_at = greatest(next_at, $1 + coalesce(delay_s, 0))
WHERE id IN (SELECT id FROM site WHERE run = $2 AND worker = $3 ORDER BY id FOR UPDATE);

-- name: finish
-- A retry goes after all others (`rank_again` of core/crawl/placement.py), and belongs to no link group any more.
UPDATE entry SET state = $1::smallint,
  rank = CASE WHEN $2::boolean THEN CASE WHEN rank < 0 THEN -(1::bigint << 61) ELSE 5::bigint << 52 END + (rank & ((1::bigint << 52) - 1)) ELSE rank END,
  link_group = CASE WHEN $2::boolean THEN 0 ELSE link_group END, due_at = $3, rule = $4, why = $5,
  visits = visits + $6::boolean::int, fetches = fetches + $7::boolean::int, worker = NULL
WHERE id = $8 AND state = 1 AND worker = $9 AND claim = $10;

-- name: count_urls
-- URLs of other sites, which are only counted, have no row that all workers would wait for.
WITH given AS (SELECT v->>0 AS name, (v->>1)::boolean AS is_external, (v->>2)::bigint AS n FROM jsonb_array_elements($2::jsonb) v),
outside AS (
  INSERT INTO counter (run, name, pid, n) SELECT $1, 'outside', pg_backend_pid(), n FROM given WHERE name = ''
  ON CONFLICT (run, name, pid) DO UPDATE SET n = counter.n + excluded.n),
counted AS (
  INSERT INTO site (run, name, is_external, urls) SELECT $1, name, is_external, n FROM given WHERE name <> '' ORDER BY name
  ON CONFLICT (run, name) DO UPDATE SET urls = site.urls + excluded.urls RETURNING id, name, urls)
SELECT id, name, urls FROM counted UNION ALL
SELECT -$1::bigint, '', n + (SELECT coalesce(sum(c.n), 0)::bigint FROM counter c WHERE c.run = $1 AND c.name = 'outside') FROM given WHERE name = '';

-- name: count_hosts
WITH more AS (
  INSERT INTO counter (run, name, pid, n) VALUES ($2, 'hosts', pg_backend_pid(), $1)
  ON CONFLICT (run, name, pid) DO UPDATE SET n = counter.n + excluded.n)
SELECT $1::bigint + coalesce(sum(n), 0)::bigint FROM counter WHERE run = $2 AND name = 'hosts';

-- name: uncount_urls
WITH outside AS (UPDATE counter SET n = n - $1 WHERE run = -$2::bigint AND name = 'outside' AND pid = pg_backend_pid())
UPDATE site SET urls = urls - $1 WHERE id = $2::bigint;

-- name: insert
-- Numbered in the order of discovery, written in the order of identities: two workers that meet the same links do not wait in a circle.
WITH rows AS (
  SELECT v, nextval('entry_id_seq') AS id FROM (SELECT v FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY t (v, place) ORDER BY place) ordered)
INSERT INTO entry (id, run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth, parent, is_seed, rule, why, seen, link_group)
SELECT id, (v->>0)::bigint, (v->>1)::bigint, (v->>2)::bigint, v->>3, (v->>4)::smallint, (v->>5)::bigint, v->>6, (v->>7)::double precision,
  (v->>8)::double precision, (v->>9)::int, (v->>10)::int, (v->>11)::int, (v->>12)::bigint, (v->>13)::boolean, v->>14, v->>15, (v->>16)::bigint, (v->>17)::bigint
FROM rows ORDER BY (v->>1)::bigint
ON CONFLICT (run, digest) DO NOTHING RETURNING digest;

-- name: improve
-- Better evidence: a queued entry moves up, one that was rejected for lack of it comes back; https wins (URL-7).
UPDATE entry SET
  state = 0, rule = NULL, why = NULL, seen = seen + 1,
  rank = CASE WHEN state = 0 THEN least(rank, $1) ELSE $1 END,
  lane = CASE WHEN state = 0 AND rank <= $1 THEN lane ELSE $2 END,
  priority = CASE WHEN state = 0 AND rank <= $1 THEN priority ELSE $3 END,
  score = CASE WHEN state = 0 AND rank <= $1 THEN score ELSE $4 END,
  depth = least(depth, $5), -- the shortest way that is known, whichever led to its place
  weak_pages = CASE WHEN state = 0 AND rank <= $1 THEN weak_pages ELSE $6 END,
  hub_depth = CASE WHEN state = 0 AND rank <= $1 THEN hub_depth ELSE $7 END,
  parent = CASE WHEN state = 0 AND rank <= $1 THEN parent ELSE $8 END,
  link_group = CASE WHEN state = 0 AND rank <= $1 THEN link_group ELSE $11 END,
  site = coalesce(site, $9),
  url = CASE WHEN $10 LIKE 'https:%' AND url LIKE 'http:%' THEN $10 ELSE url END
WHERE run = $12 AND digest = $13
AND ((state = 0 AND rule IS NULL) OR (state = 3 AND rule IN ('irrelevant', 'pruned', 'tunnel-end', 'max-depth')));

-- name: seen
WITH rows AS (SELECT (v->>0)::bigint AS n, (v->>1)::bigint AS run, (v->>2)::bigint AS digest FROM jsonb_array_elements($1::jsonb) v)
UPDATE entry e SET seen = e.seen + r.n FROM rows r WHERE e.run = r.run AND e.digest = r.digest;

-- name: sighting
-- Of a new link the first; of others the next.
WITH rows AS (SELECT v FROM jsonb_array_elements($1::jsonb) v)
INSERT INTO sighting (run, digest, parent, anchor, position, score, points, lane, nth)
SELECT (v->>0)::bigint, (v->>1)::bigint, (v->>2)::bigint, v->>3, v->>4, (v->>5)::double precision, v->>6, v->>7,
  coalesce((v->>8)::int, (SELECT coalesce(max(s.nth), 0) + 1 FROM sighting s WHERE s.run = (v->>0)::bigint AND s.digest = (v->>1)::bigint))
FROM rows ORDER BY (v->>1)::bigint ON CONFLICT DO NOTHING;

-- name: tally
INSERT INTO tally (n, run, rule, pid) VALUES ($1, $2, $3, pg_backend_pid()) ON CONFLICT (run, rule, pid) DO UPDATE SET n = tally.n + excluded.n;

-- name: arrive
-- The target of a redirect needs no visit of its own, and none again.
INSERT INTO entry (run, digest, site, url, state, rank, lane, priority, score, depth, weak_pages, hub_depth, parent, is_seed,
  seen, rule, why)
SELECT run, $1, $2, $3, 2, rank, lane, priority, score, depth, weak_pages, hub_depth, id, false, 0, 'redirected', $4
FROM entry WHERE id = $5
ON CONFLICT (run, digest) DO UPDATE SET state = 2, site = excluded.site, rule = 'redirected', why = excluded.why, due_at = NULL
WHERE entry.state IN (0, 3);

-- name: schedule
-- What failed is tried again if it was ever fetched; links that a rule rejected stay so.
UPDATE entry SET due_at = $1, rank = $2, link_group = 0, attempts = 0, state = CASE WHEN state = 2 THEN 2 ELSE 0 END, rule = NULL, why = NULL
WHERE run = $3 AND digest = $4 AND (state IN (0, 2) OR (state = 3 AND claim IS NOT NULL)) RETURNING site;

-- name: reopen
UPDATE entry SET state = 0, rule = NULL, why = NULL, attempts = 0
WHERE run = $1 AND rule = $2 AND state = 3 AND depth <= $3;

-- name: drop_deep
UPDATE entry SET state = 3, rule = 'max-depth', why = format(replace($1, '%d', '%s'), depth, $2::bigint), due_at = NULL
WHERE run = $3 AND state = 0 AND rank >= 0 AND depth > $4;

-- name: requeue
UPDATE entry SET state = $1::smallint, site = $2, rank = $3, lane = $4, priority = $5, score = $6, weak_pages = $7, rule = $8, why = $9,
  url = coalesce($10, url), link_group = $11, due_at = NULL, attempts = 0
WHERE run = $12 AND digest = $13 AND (state = 3 OR (state = 0 AND due_at IS NOT NULL));

-- name: rescore
UPDATE sighting SET score = $1, points = $2, lane = $3 WHERE run = $4 AND digest = $5 AND nth = 1;

-- name: block
-- Without a time its pause ends.
UPDATE site SET blocked_until = CASE WHEN $1::double precision IS NULL THEN 0 ELSE greatest(blocked_until, $1) END, is_ready = $1::double precision IS NULL
WHERE run = $2 AND name = $3;

-- name: add_site
UPDATE site SET is_inside = true, is_external = false WHERE id = $1 AND (is_external OR NOT is_inside);

-- name: all_sites
SELECT id FROM site WHERE run = $1;

-- name: admit
INSERT INTO shape (run, name, admitted)
SELECT $1, j.key, j.value::bigint FROM jsonb_each_text($2::jsonb) j ORDER BY j.key
ON CONFLICT (run, name) DO UPDATE SET admitted = shape.admitted + excluded.admitted RETURNING name, admitted;

-- name: cap_shape
UPDATE shape SET admitted = least(admitted, $1) WHERE run = $2 AND name = $3;

-- name: learn_shape
-- Workers add to each other's counts; of what the last pages said, the last writer is remembered.
INSERT INTO shape (run, name, alike, recent) VALUES ($1, $2, $3::boolean::int, $4)
ON CONFLICT (run, name) DO UPDATE SET alike = CASE WHEN excluded.alike > 0 THEN shape.alike + 1 ELSE 0 END, recent = excluded.recent
RETURNING name, admitted, alike, recent;
