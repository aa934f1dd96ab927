-- The store, version 2: visits that cost little, and what is learnt from them.

-- How a run was asked for, as JSON (jobs/asked.py), so that its due pages can be fetched without saying it again.
ALTER TABLE run ADD COLUMN request TEXT;

-- The columns of `known` are the fields of `Known` (core/history.py), in its order.
ALTER TABLE known ADD COLUMN first_seen REAL NOT NULL DEFAULT 0;
ALTER TABLE known ADD COLUMN seen_at REAL;              -- last visit that had the page, or heard that it is the same
ALTER TABLE known ADD COLUMN run INTEGER;               -- whose visit read the page
ALTER TABLE known ADD COLUMN body INTEGER;              -- digest of its bytes
ALTER TABLE known ADD COLUMN kind TEXT NOT NULL DEFAULT 'page';
ALTER TABLE known ADD COLUMN link_share REAL;
ALTER TABLE known ADD COLUMN arrived TEXT;              -- where redirects led
ALTER TABLE known ADD COLUMN is_moved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE known ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE known ADD COLUMN exposure_h REAL NOT NULL DEFAULT 0;
ALTER TABLE known ADD COLUMN rate_a REAL;               -- the change rate is Gamma(a, b), in changes per hour
ALTER TABLE known ADD COLUMN rate_b REAL;
ALTER TABLE known ADD COLUMN found_a REAL;              -- the same of new links that it leads to
ALTER TABLE known ADD COLUMN found_b REAL;
ALTER TABLE known ADD COLUMN hours BLOB;                -- of a hub: its changes by hour of the day, 24 doubles
UPDATE known SET
  first_seen = coalesce((SELECT min(v.at) FROM visit v WHERE v.digest = known.digest), visited_at),
  seen_at = (SELECT max(v.at) FROM visit v WHERE v.digest = known.digest AND v.content IS NOT NULL),
  run = (SELECT v.run FROM visit v WHERE v.digest = known.digest AND v.content IS NOT NULL ORDER BY v.id DESC LIMIT 1),
  kind = iif(is_hub, 'hub', 'page');

-- What sitemaps say of pages, visited or not.
CREATE TABLE listed (
  digest INTEGER PRIMARY KEY,
  lastmod TEXT NOT NULL
);

-- What became of a site's word about changes: `Trust` of core/history.py.
CREATE TABLE trust (
  site TEXT NOT NULL,
  source TEXT NOT NULL,
  hits INTEGER NOT NULL,
  alarms INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  silences INTEGER NOT NULL,
  PRIMARY KEY (site, source)
) WITHOUT ROWID;

-- The usual change rate of a site's pages of one kind: where a page starts of which nothing is known.
CREATE TABLE prior (
  site TEXT NOT NULL,
  kind TEXT NOT NULL,
  a REAL NOT NULL,
  b REAL NOT NULL,
  PRIMARY KEY (site, kind)
) WITHOUT ROWID;

-- On which days a site changes: `SiteClock` of core/clocks.py, its lists as doubles, little end first.
CREATE TABLE site_clock (
  site TEXT PRIMARY KEY,
  first_day INTEGER NOT NULL,
  found BLOB NOT NULL,
  expected BLOB NOT NULL
);
