-- The store, version 3: how pages age.

-- When a visit to a hub met a page as a new link, whether the page was visited since or not.
CREATE TABLE born (
  digest INTEGER PRIMARY KEY,
  at REAL NOT NULL
);

-- What the ages of a site's pages of one kind count: `AgeProfile` of core/ages.py, its lists as doubles, little end first.
-- The site '' is all of them together.
CREATE TABLE age (
  site TEXT NOT NULL,
  kind TEXT NOT NULL,
  found BLOB NOT NULL,
  expected BLOB NOT NULL,
  PRIMARY KEY (site, kind)
) WITHOUT ROWID;
