-- The store. `PRAGMA application_id` says that a file is ours, `PRAGMA user_version` which version of this file made it.
-- Types and ranges are checked by SQLite, whoever writes: times lie in the years 1 to 9999, numbers are finite.

-- One row. `has_more` is 1 in the file itself while its log (-wal) has more, and 0 in the log: so a file that was copied without
-- its log says so, and whoever moves the whole log over to the file sets it to 0.
CREATE TABLE log (has_more INTEGER NOT NULL CHECK (has_more IN (0, 1))) STRICT;

-- A run is one command: the same command resumes it. `key` covers command, topic and profile, but no budget.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  command TEXT NOT NULL,
  topic TEXT,
  profile TEXT NOT NULL,
  profile_hash TEXT NOT NULL,
  request TEXT,                        -- how the run was asked for, as JSON (jobs/request.py)
  started_at REAL NOT NULL CHECK (started_at BETWEEN -62135596800 AND 253402300799),
  updated_at REAL NOT NULL CHECK (updated_at BETWEEN -62135596800 AND 253402300799),
  claims INTEGER NOT NULL DEFAULT 0,   -- leases given out, which number the claims
  fetched INTEGER NOT NULL DEFAULT 0,  -- page fetches that were finished
  leased INTEGER NOT NULL DEFAULT 0,   -- leases that are out now
  hosts INTEGER NOT NULL DEFAULT 0,    -- sites of which URLs are known
  stopped TEXT                         -- why the last worker stopped; null while one works on it, or was killed
) STRICT;
CREATE INDEX run_key ON run (key, id);

-- Processes that work on runs. One that is gone, or whose heartbeat has expired, holds no lease.
CREATE TABLE worker (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  token TEXT NOT NULL UNIQUE,
  started_at REAL NOT NULL,
  seen_at REAL NOT NULL,
  expires_at REAL NOT NULL,
  run INTEGER,                         -- the one that it works on
  pages INTEGER NOT NULL DEFAULT 0,    -- that it has fetched, as of its last heartbeat
  is_stopping INTEGER NOT NULL DEFAULT 0 CHECK (is_stopping IN (0, 1)) -- somebody asks it to end after what it fetches
) STRICT;

-- The sites of a run. `head_*` is its best queued entry, so that the best site is found without looking at entries.
-- The site '' stands for all that are only counted.
CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  name TEXT NOT NULL,
  is_inside INTEGER NOT NULL DEFAULT 0 CHECK (is_inside IN (0, 1)),
  is_external INTEGER NOT NULL DEFAULT 0 CHECK (is_external IN (0, 1)),
  urls INTEGER NOT NULL DEFAULT 0,     -- URLs that are known
  fetched INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  head_rank INTEGER,
  head_entry INTEGER,
  is_stale INTEGER NOT NULL DEFAULT 0 CHECK (is_stale IN (0, 1)), -- links by worth: its queue or what was learnt has changed
  blocked_until REAL NOT NULL DEFAULT 0,
  worker INTEGER,                      -- who asks it now; another worker may only if there is no delay
  next_at REAL NOT NULL DEFAULT 0,     -- when another worker may ask it
  delay_s REAL CHECK (delay_s >= 0),   -- the pause between two requests; null before it is known
  UNIQUE (run, name)
) STRICT;
CREATE INDEX site_head ON site (run, head_rank, head_entry) WHERE head_entry IS NOT NULL;
CREATE INDEX site_stale ON site (run) WHERE is_stale = 1;

-- The queue: every URL a run has met, whatever became of it. `digest` is 64 bits of BLAKE2b of the URL's key.
-- state: 0 queued, 1 leased, 2 done, 3 rejected. The order is `rank`, then `id`: first discovered first. Entries of a link group
-- are so ordered within it, and what was learnt orders the groups.
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  site INTEGER,                        -- null for other sites, which are only counted
  url TEXT NOT NULL CHECK (url LIKE 'http%://_%'), -- as linked: what is requested
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
  rank INTEGER NOT NULL,
  lane TEXT NOT NULL,
  priority REAL NOT NULL CHECK (abs(priority) < 9e999),
  score REAL CHECK (abs(score) < 9e999),
  depth INTEGER NOT NULL,
  weak_pages INTEGER NOT NULL,
  hub_depth INTEGER NOT NULL,
  parent INTEGER,                      -- the entry whose page gave it its place
  is_seed INTEGER NOT NULL CHECK (is_seed IN (0, 1)),
  seen INTEGER NOT NULL DEFAULT 1,     -- pages that link it
  attempts INTEGER NOT NULL DEFAULT 0,
  visits INTEGER NOT NULL DEFAULT 0,   -- how often its page was fetched in this run
  fetches INTEGER NOT NULL DEFAULT 0,  -- how often it was asked for, page or not
  claim INTEGER,
  worker INTEGER,                      -- who has the lease; null if it was released
  due_at REAL CHECK (due_at BETWEEN -62135596800 AND 253402300799), -- not before then: a retry, or the next visit
  rule TEXT,                           -- why it was rejected, or is tried again
  why TEXT,
  link_group INTEGER NOT NULL DEFAULT 0 -- 0 for none
) STRICT;
CREATE UNIQUE INDEX entry_identity ON entry (run, digest);
CREATE INDEX entry_ready ON entry (site, link_group, rank, id) WHERE state = 0 AND due_at IS NULL;
CREATE INDEX entry_leased ON entry (run, claim) WHERE state = 1;
CREATE INDEX entry_due ON entry (run, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX entry_rule ON entry (run, rule) WHERE rule IS NOT NULL;
CREATE INDEX entry_seed ON entry (run, id) WHERE is_seed = 1; -- explain asks for the few seeds of a large run

-- What is leased and fetched is counted where a lease begins and ends, so that no writer can forget it. With a lease the
-- next entry of its site is the best one.
CREATE TRIGGER lease_begins AFTER UPDATE OF state ON entry WHEN new.state = 1 AND old.state != 1 BEGIN
  UPDATE run SET leased = leased + 1, claims = new.claim WHERE id = new.run;
  UPDATE site SET leased = leased + 1, (head_rank, head_entry) =
    (SELECT e.rank, e.id FROM entry e WHERE e.site = new.site AND e.link_group = 0 AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1),
    is_stale = 1
  WHERE id = new.site;
END;
CREATE TRIGGER lease_ends AFTER UPDATE OF state ON entry WHEN new.state != 1 AND old.state = 1 BEGIN
  UPDATE run SET leased = leased - 1, fetched = fetched + new.fetches - old.fetches WHERE id = new.run;
  UPDATE site SET leased = leased - 1, fetched = fetched + new.fetches - old.fetches, is_stale = 1 WHERE id = new.site;
END;

-- Links of a site that are alike, and what was learnt on the site, both by their names in core/crawl/learner.py.
CREATE TABLE link_group (
  id INTEGER PRIMARY KEY,
  site INTEGER NOT NULL REFERENCES site (id),
  name TEXT NOT NULL,
  UNIQUE (site, name)
) STRICT;
CREATE TABLE worth (                   -- what made the worth of an entry when it was claimed
  entry INTEGER PRIMARY KEY,
  said TEXT NOT NULL
) STRICT;
CREATE TABLE learnt (
  site INTEGER NOT NULL REFERENCES site (id),
  name TEXT NOT NULL,
  n INTEGER NOT NULL,
  a INTEGER NOT NULL,
  b INTEGER NOT NULL,
  keep INTEGER NOT NULL,               -- per cent of what is known that a new page leaves
  PRIMARY KEY (site, name)
) STRICT, WITHOUT ROWID;

-- Who links what, up to a few for each URL. `points` are `rule:points`, comma-separated.
CREATE TABLE sighting (
  run INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  nth INTEGER NOT NULL,
  parent INTEGER,
  anchor TEXT NOT NULL,
  position TEXT NOT NULL,
  score REAL CHECK (abs(score) < 9e999),
  points TEXT NOT NULL,
  lane TEXT NOT NULL,
  PRIMARY KEY (run, digest, nth)
) STRICT, WITHOUT ROWID;

-- Hrefs that are no pages at all (URL-9), and links over a limit, counted by rule.
CREATE TABLE tally (
  run INTEGER NOT NULL,
  rule TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (run, rule)
) STRICT, WITHOUT ROWID;

-- What traps have learnt of shapes of URLs: how many were let in, how many pages in a row were alike, the last sketches.
CREATE TABLE shape (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  name TEXT NOT NULL,
  admitted INTEGER NOT NULL DEFAULT 0,
  alike INTEGER NOT NULL DEFAULT 0,
  recent BLOB NOT NULL DEFAULT x'' CHECK (length(recent) % 4 = 0),
  UNIQUE (run, name)
) STRICT;

-- History: what is known of a URL across runs. The columns of `known` are the fields of `HistoryEntry`
-- (core/recrawl/history.py) in its order, the digest first.
CREATE TABLE known (
  digest INTEGER PRIMARY KEY,
  url TEXT NOT NULL CHECK (url LIKE 'http%://_%'),
  visits INTEGER NOT NULL,
  visited_at REAL NOT NULL CHECK (visited_at BETWEEN -62135596800 AND 253402300799),
  changed_at REAL CHECK (changed_at BETWEEN -62135596800 AND 253402300799),
  changes INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  status INTEGER,
  content TEXT,
  relevance REAL CHECK (abs(relevance) < 9e999),
  depth INTEGER NOT NULL,
  hub_depth INTEGER NOT NULL,
  is_hub INTEGER NOT NULL CHECK (is_hub IN (0, 1)),
  links INTEGER NOT NULL,
  new_links INTEGER NOT NULL,
  etag TEXT,
  last_modified TEXT,
  first_seen REAL NOT NULL CHECK (first_seen BETWEEN -62135596800 AND 253402300799),
  seen_at REAL CHECK (seen_at BETWEEN -62135596800 AND 253402300799), -- last visit that had the page, or a 304
  run INTEGER,                         -- whose visit read the page
  body INTEGER,                        -- digest of its bytes
  kind TEXT NOT NULL CHECK (kind IN ('page', 'hub', 'article')),
  link_share REAL CHECK (abs(link_share) < 9e999),
  arrived TEXT,                        -- where redirects led
  is_moved INTEGER NOT NULL CHECK (is_moved IN (0, 1)),
  unchanged INTEGER NOT NULL,
  exposure_h REAL NOT NULL CHECK (abs(exposure_h) < 9e999),
  rate_a REAL CHECK (rate_a BETWEEN 0 AND 1e9),      -- what visits saw of the change rate: so many changes
  rate_b REAL CHECK (rate_b BETWEEN 0 AND 1e12),     -- in so many hours
  found_a REAL CHECK (found_a = 0 OR found_a BETWEEN 1e-2 AND 1e9), -- the same of new links that it leads to
  found_b REAL CHECK (found_b BETWEEN 1e-9 AND 1e12),
  -- Of a hub: its changes by hour of the day, 24 doubles, little end first.
  hours BLOB CHECK (length(hours) = 192),
  -- The change rate that the latest visits saw, and the doubt that the earlier ones still hold.
  latest_a REAL NOT NULL DEFAULT 0 CHECK (latest_a BETWEEN 0 AND 1e9),
  latest_b REAL NOT NULL DEFAULT 0 CHECK (latest_b BETWEEN 0 AND 1e12),
  doubt REAL NOT NULL DEFAULT 0 CHECK (doubt BETWEEN 0 AND 100),
  forgot_at REAL CHECK (forgot_at BETWEEN -62135596800 AND 253402300799)
) STRICT;

-- Each visit, and the record of the page as JSON, if its run has one. Without a digest there was none: nothing was asked for.
-- Without a digest and a claim it is a request, of which only the time is known.
CREATE TABLE visit (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  digest INTEGER,
  at REAL CHECK (at BETWEEN -62135596800 AND 253402300799),
  status INTEGER,
  content TEXT,                        -- digest of what the page says
  claim INTEGER,
  entry INTEGER,
  record TEXT
) STRICT;
CREATE INDEX visit_url ON visit (digest, id) WHERE digest IS NOT NULL;
CREATE UNIQUE INDEX visit_claim ON visit (run, claim) WHERE claim IS NOT NULL;
CREATE INDEX visit_content ON visit (run, content, claim) WHERE claim IS NOT NULL AND content IS NOT NULL;

-- Pages as they were read: each body once, and which visit read it. `kept` is one row: how many bytes the bodies take, packed.
CREATE TABLE body (
  id INTEGER PRIMARY KEY,              -- the oldest body first
  digest INTEGER NOT NULL UNIQUE,      -- of its bytes
  codec INTEGER NOT NULL CHECK (codec IN (1, 2)), -- zlib, zstd
  size INTEGER NOT NULL CHECK (size BETWEEN 0 AND 67108864), -- of the body before it was packed
  data BLOB NOT NULL
) STRICT;
CREATE TABLE reading (
  run INTEGER NOT NULL,
  claim INTEGER NOT NULL,
  body INTEGER NOT NULL,               -- digest of the body, which may have been dropped
  url TEXT NOT NULL CHECK (url LIKE 'http%://_%'), -- where redirects led, as requested: what its links are relative to
  content_type TEXT,
  PRIMARY KEY (run, claim)
) STRICT, WITHOUT ROWID;
CREATE TABLE kept (bytes INTEGER NOT NULL) STRICT;
CREATE TRIGGER body_added AFTER INSERT ON body BEGIN UPDATE kept SET bytes = bytes + length(new.data); END;
CREATE TRIGGER body_dropped AFTER DELETE ON body BEGIN UPDATE kept SET bytes = bytes - length(old.data); END;

-- What sitemaps say of pages, and when a visit to a hub met a page as a new link; visited or not.
CREATE TABLE listed (
  digest INTEGER PRIMARY KEY,
  lastmod TEXT NOT NULL
) STRICT;
CREATE TABLE born (
  digest INTEGER PRIMARY KEY,
  at REAL NOT NULL CHECK (at BETWEEN -62135596800 AND 253402300799)
) STRICT;

-- What is known of sites: `Site` of core/recrawl/history.py. Lists are doubles, little end first; the site '' is all of them.
CREATE TABLE trust (
  site TEXT NOT NULL,
  source TEXT NOT NULL,
  hits INTEGER NOT NULL,
  alarms INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  silences INTEGER NOT NULL,
  PRIMARY KEY (site, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE prior (
  site TEXT NOT NULL,
  kind TEXT NOT NULL,
  a REAL NOT NULL CHECK (a BETWEEN 1e-2 AND 1e9),
  b REAL NOT NULL CHECK (b BETWEEN 1e-9 AND 1e12),
  PRIMARY KEY (site, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE site_clock (
  site TEXT PRIMARY KEY,
  first_day INTEGER NOT NULL CHECK (first_day BETWEEN -719162 AND 2932896),
  found BLOB NOT NULL,
  expected BLOB NOT NULL CHECK (length(expected) = length(found))
) STRICT;
CREATE TABLE age (
  site TEXT NOT NULL,
  kind TEXT NOT NULL,
  found BLOB NOT NULL,
  expected BLOB NOT NULL,
  PRIMARY KEY (site, kind)
) STRICT, WITHOUT ROWID;

-- For people, with any SQLite tool: runs, their pages, and every link with what became of it. Times are UTC.
CREATE VIEW runs AS
SELECT id AS run, command, topic, profile, fetched AS pages, strftime('%Y-%m-%dT%H:%M:%SZ', started_at, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', updated_at, 'unixepoch') AS updated_at, stopped
FROM run;
CREATE VIEW pages AS
SELECT p.run, p.claim AS page, e.url, json_extract(p.record, '$.status') AS status, json_extract(p.record, '$.action') AS action,
  json_extract(p.record, '$.title') AS title, json_extract(p.record, '$.relevance_score') AS relevance_score,
  json_extract(p.record, '$.topic_relevance') AS topic_relevance, e.depth, json_extract(p.record, '$.fetched_at') AS fetched_at
FROM visit p JOIN entry e ON e.id = p.entry;
CREATE VIEW links AS
SELECT e.run, e.url, s.name AS site, CASE e.state WHEN 0 THEN 'queued' WHEN 1 THEN 'leased' WHEN 2 THEN 'done' ELSE 'rejected' END AS state,
  e.lane, e.priority, e.score, e.depth, p.url AS found_on, e.seen AS pages_that_link_it, e.rule, e.why AS reason
FROM entry e LEFT JOIN site s ON s.id = e.site LEFT JOIN entry p ON p.id = e.parent;
