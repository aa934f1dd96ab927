-- The store, version 1. Numbers of versions are `PRAGMA user_version`; a file is ours by `PRAGMA application_id`.

-- A run is one command: the same command goes on with it. `key` covers command, topic and profile, but no budget.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  command TEXT NOT NULL,
  topic TEXT,
  profile TEXT NOT NULL,
  profile_hash TEXT NOT NULL,
  started_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  claims INTEGER NOT NULL DEFAULT 0,   -- leases given out, which number the claims
  fetched INTEGER NOT NULL DEFAULT 0,  -- page fetches that were finished
  leased INTEGER NOT NULL DEFAULT 0,   -- leases that are out now
  stopped TEXT                         -- why the last process stopped; null while one works on it, or was killed
);
CREATE INDEX run_key ON run (key, id);

-- Processes that hold leases. One that is gone holds none: host and pid tell.
CREATE TABLE owner (
  id INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  token TEXT NOT NULL
);

-- The sites of a run. `head_*` is its best queued entry, so that the best site is found without looking at entries.
CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  name TEXT NOT NULL,
  is_inside INTEGER NOT NULL DEFAULT 0,
  is_external INTEGER NOT NULL DEFAULT 0,
  blocked_until REAL NOT NULL DEFAULT 0,
  fetched INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  head_rank INTEGER,
  head_entry INTEGER,
  UNIQUE (run, name)
);
CREATE INDEX site_head ON site (run, head_rank, head_entry) WHERE head_entry IS NOT NULL;

-- The frontier: every URL a run has met, whatever became of it. `digest` is 64 bits of BLAKE2b of the URL's key.
-- state: 0 queued, 1 leased, 2 done, 3 dropped. The order is `rank`, then `id`: first discovered first.
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  site INTEGER,                        -- null for other sites, which are only counted
  url TEXT NOT NULL,                   -- as linked: what is requested
  state INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  lane TEXT NOT NULL,
  priority REAL NOT NULL,
  score REAL,
  depth INTEGER NOT NULL,
  weak_pages INTEGER NOT NULL,
  hub_depth INTEGER NOT NULL,
  parent INTEGER,                      -- the entry whose page gave it its place
  is_seed INTEGER NOT NULL,
  seen INTEGER NOT NULL DEFAULT 1,     -- pages that link it
  attempts INTEGER NOT NULL DEFAULT 0,
  visits INTEGER NOT NULL DEFAULT 0,   -- how often its page was had in this run
  claim INTEGER,
  owner INTEGER,
  lease_until REAL,
  due_at REAL,                         -- not before then: a retry, or a visit that is due again
  rule TEXT,                           -- why it was put out, or is tried again
  why TEXT
);
CREATE UNIQUE INDEX entry_identity ON entry (run, digest);
CREATE INDEX entry_ready ON entry (site, rank, id) WHERE state = 0 AND due_at IS NULL;
CREATE INDEX entry_leased ON entry (run, lease_until) WHERE state = 1;
CREATE INDEX entry_due ON entry (run, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX entry_rule ON entry (run, rule) WHERE rule IS NOT NULL;

-- Who links what, up to a few for each URL.
CREATE TABLE sighting (
  run INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  nth INTEGER NOT NULL,
  parent INTEGER,
  anchor TEXT NOT NULL,
  position TEXT NOT NULL,
  score REAL,
  points TEXT NOT NULL,
  lane TEXT NOT NULL,
  PRIMARY KEY (run, digest, nth)
) WITHOUT ROWID;

-- One row for each page that was finished: its record (SPEC section 7) as JSON.
CREATE TABLE page (
  run INTEGER NOT NULL,
  claim INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  content TEXT,                        -- digest of what it says
  record TEXT NOT NULL,
  PRIMARY KEY (run, claim)
) WITHOUT ROWID;
CREATE INDEX page_content ON page (run, content, claim) WHERE content IS NOT NULL;

-- Hrefs that are no pages at all (URL-9), counted by rule.
CREATE TABLE tally (
  run INTEGER NOT NULL,
  rule TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (run, rule)
) WITHOUT ROWID;

-- What traps have learnt of families of URLs.
CREATE TABLE family (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  name TEXT NOT NULL,
  admitted INTEGER NOT NULL,
  alike INTEGER NOT NULL,
  recent BLOB NOT NULL,
  UNIQUE (run, name)
);

-- History: what is known of a URL across runs, and each visit.
CREATE TABLE known (
  digest INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  visits INTEGER NOT NULL,
  visited_at REAL NOT NULL,
  changed_at REAL,
  changes INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  status INTEGER,
  content TEXT,
  relevance REAL,
  depth INTEGER NOT NULL,
  hub_depth INTEGER NOT NULL,
  is_hub INTEGER NOT NULL,
  links INTEGER NOT NULL,
  new_links INTEGER NOT NULL,
  etag TEXT,
  last_modified TEXT
);
CREATE TABLE visit (
  id INTEGER PRIMARY KEY,
  digest INTEGER NOT NULL,
  run INTEGER NOT NULL,
  at REAL NOT NULL,
  status INTEGER,
  content TEXT,
  elapsed_s REAL NOT NULL
);
CREATE INDEX visit_url ON visit (digest, id);
