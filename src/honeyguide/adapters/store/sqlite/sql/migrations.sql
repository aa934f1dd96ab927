-- What brings the tables of an older version up to date, and what turns those of schema.sql back into the older ones, so that a file
-- is known to be ours before anything of it is changed.

-- name: to_11
ALTER TABLE known ADD COLUMN latest_a REAL NOT NULL DEFAULT 0 CHECK (latest_a BETWEEN 0 AND 1e9);
ALTER TABLE known ADD COLUMN latest_b REAL NOT NULL DEFAULT 0 CHECK (latest_b BETWEEN 0 AND 1e12);
ALTER TABLE known ADD COLUMN doubt REAL NOT NULL DEFAULT 0 CHECK (doubt BETWEEN 0 AND 100);
ALTER TABLE known ADD COLUMN forgot_at REAL CHECK (forgot_at BETWEEN -62135596800 AND 253402300799);

-- name: from_11
ALTER TABLE known DROP COLUMN forgot_at;
ALTER TABLE known DROP COLUMN doubt;
ALTER TABLE known DROP COLUMN latest_b;
ALTER TABLE known DROP COLUMN latest_a;
