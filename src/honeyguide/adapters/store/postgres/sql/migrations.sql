-- What brings the tables of an older version up to date; schema.sql has the tables as they are now, and says why.

-- name: to_2
CREATE FUNCTION run_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE SEQUENCE honeyguide.claim_%s', new.id);
  RETURN NULL;
END $$;
CREATE TRIGGER run_begins AFTER INSERT ON run FOR EACH ROW EXECUTE FUNCTION run_begins();
CREATE FUNCTION run_is_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP SEQUENCE honeyguide.claim_%s', old.id);
  RETURN NULL;
END $$;
CREATE TRIGGER run_is_deleted AFTER DELETE ON run FOR EACH ROW EXECUTE FUNCTION run_is_deleted();
DO $$
DECLARE one record;
BEGIN
  FOR one IN SELECT id, claims FROM run LOOP
    EXECUTE format('CREATE SEQUENCE honeyguide.claim_%s START %s', one.id, one.claims + 1);
  END LOOP;
END $$;
ALTER TABLE run DROP COLUMN claims;
CREATE OR REPLACE FUNCTION lease_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE site SET leased = leased + 1, is_stale = true, worker = new.worker, (head_rank, head_entry) =
    (SELECT e.rank, e.id FROM entry e WHERE e.site = new.site AND e.link_group = 0 AND e.state = 0 AND e.due_at IS NULL ORDER BY e.rank, e.id LIMIT 1)
  WHERE id = new.site;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION lease_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE site SET leased = leased - 1, fetched = fetched + new.fetches - old.fetches, is_stale = true WHERE id = new.site;
  IF new.fetches <> old.fetches THEN
    INSERT INTO counter (run, name, pid, n) VALUES (new.run, 'fetched', pg_backend_pid(), new.fetches - old.fetches)
    ON CONFLICT (run, name, pid) DO UPDATE SET n = counter.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;

-- name: to_3
ALTER TABLE known
  ADD COLUMN latest_a double precision NOT NULL DEFAULT 0,
  ADD COLUMN latest_b double precision NOT NULL DEFAULT 0,
  ADD COLUMN doubt double precision NOT NULL DEFAULT 0,
  ADD COLUMN forgot_at double precision;
