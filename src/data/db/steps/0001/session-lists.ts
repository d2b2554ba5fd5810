import type { Transaction } from '../../sql.ts'

/**
 * Creates the tables for session lists, their filters, totals and search. Sessions without a running round are counted
 * by month and kind, because counting a million rows takes too long.
 */
export async function createSessionLists(tx: Transaction): Promise<void> {
  await createSearch(tx)
  await repeatDetails(tx)
  await createListIndexes(tx)
  await createCounts(tx)
}

/**
 * Creates `session_search`, the immutable details and search text of sessions. Its rows are written once, so that
 * status changes do not update its indexes. Repository addresses have their own table, because many sessions share few
 * repositories.
 */
async function createSearch(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE searched_repositories (
      -- Of the address in lower case.
      id uuid PRIMARY KEY,
      uri text NOT NULL
    );
    CREATE TABLE session_search (
      session_id integer PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
      user_id integer NOT NULL,
      operation operation NOT NULL,
      created_at timestamptz NOT NULL,
      repository_id uuid NOT NULL,
      -- First query and uuid in lower case, with U+001F between them.
      content text NOT NULL
    );
    CREATE INDEX session_search_newest ON session_search (created_at DESC, session_id DESC);
    CREATE INDEX session_search_newest_of_user ON session_search (user_id, created_at DESC, session_id DESC);
    CREATE INDEX session_search_repository ON session_search (repository_id, created_at DESC, session_id DESC);

    -- The row of a session needs its workspace and its history; the later insert of the two creates it. Both are
    -- immutable, so no trigger on updates is needed.
    CREATE FUNCTION fill_session_search(ids integer[]) RETURNS void LANGUAGE sql AS $$
      INSERT INTO searched_repositories (id, uri)
      SELECT DISTINCT md5(lower(uri))::uuid, lower(uri) FROM workspaces WHERE session_id = ANY(ids)
      ON CONFLICT DO NOTHING;

      INSERT INTO session_search (session_id, user_id, operation, created_at, repository_id, content)
      SELECT s.id, s.user_id, s.operation, s.created_at, md5(lower(w.uri))::uuid,
             lower(translate(h.first_query, chr(31), ' ') || chr(31) || s.uuid)
      FROM sessions s
      JOIN workspaces w ON w.session_id = s.id
      JOIN histories h ON h.session_id = s.id
      WHERE s.id = ANY(ids)
      ON CONFLICT DO NOTHING;
    $$;

    CREATE FUNCTION fill_session_search() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM fill_session_search(ARRAY(SELECT session_id FROM inserted));
      RETURN NULL;
    END $$;

    CREATE TRIGGER fill_session_search AFTER INSERT ON workspaces
      REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION fill_session_search();
    CREATE TRIGGER fill_session_search AFTER INSERT ON histories
      REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION fill_session_search();
  `.simple()
}

/** Creates the triggers that copy details of other tables to `sessions`. */
async function repeatDetails(tx: Transaction): Promise<void> {
  await tx`
    CREATE FUNCTION repeat_provider() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE sessions s SET provider = i.provider FROM inserted i
      WHERE s.id = i.session_id AND s.provider IS DISTINCT FROM i.provider;
      RETURN NULL;
    END $$;
    CREATE FUNCTION repeat_repository() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE sessions s SET repository_id = md5(lower(i.uri))::uuid FROM inserted i
      WHERE s.id = i.session_id AND s.repository_id IS DISTINCT FROM md5(lower(i.uri))::uuid;
      RETURN NULL;
    END $$;
    CREATE FUNCTION repeat_last_mode() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE sessions s SET last_mode = i.mode FROM inserted i
      WHERE s.id = i.session_id AND s.last_mode IS DISTINCT FROM i.mode
        AND NOT EXISTS (SELECT 1 FROM rounds r WHERE r.session_id = i.session_id AND r.number > i.number);
      RETURN NULL;
    END $$;
    CREATE TRIGGER repeat_provider AFTER INSERT ON engine_providers
      REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION repeat_provider();
    CREATE TRIGGER repeat_repository AFTER INSERT ON workspaces
      REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION repeat_repository();
    CREATE TRIGGER repeat_last_mode AFTER INSERT ON rounds
      REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION repeat_last_mode();
  `.simple()
}

async function createListIndexes(tx: Transaction): Promise<void> {
  await tx`
    CREATE INDEX sessions_newest ON sessions (created_at DESC, id DESC)
      INCLUDE (user_id, operation, last_status, provider, last_mode, is_blocked, in_flight, repository_id, updated_at);
    CREATE INDEX sessions_newest_of_user ON sessions (user_id, created_at DESC, id DESC)
      INCLUDE (operation, last_status, provider, last_mode, is_blocked, in_flight, repository_id);
    CREATE INDEX sessions_newest_of_repository ON sessions (repository_id, created_at DESC, id DESC)
      INCLUDE (user_id, operation, last_status, provider, last_mode, is_blocked, in_flight, updated_at);
    CREATE INDEX sessions_newest_of_kind ON sessions
      (last_status, last_mode, provider, operation, is_blocked, created_at DESC, id DESC);

    CREATE INDEX sessions_active ON sessions (updated_at DESC, id DESC)
      INCLUDE (user_id, operation, last_status, provider, last_mode, is_blocked, in_flight, repository_id, created_at);
    CREATE INDEX sessions_active_of_user ON sessions (user_id, updated_at DESC, id DESC)
      INCLUDE (operation, last_status, provider, last_mode, is_blocked, in_flight, repository_id, created_at);
    CREATE INDEX sessions_active_of_kind ON sessions
      (last_status, last_mode, provider, operation, is_blocked, updated_at DESC, id DESC) INCLUDE (created_at);
  `.simple()
}

/**
 * Creates the counts. A change adds a row with 1 or -1 and waits for no lock; a transaction merges these rows
 * periodically. Running rounds are not counted, so that their statuses change nothing here.
 */
async function createCounts(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE session_counts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- In which the sessions were created, in UTC: its first day.
      month date NOT NULL,
      operation operation NOT NULL,
      last_status session_status NOT NULL,
      provider cloud,
      last_mode round_mode,
      is_blocked boolean NOT NULL,
      n bigint NOT NULL,
      is_sum boolean NOT NULL
    );
    CREATE INDEX session_counts_sums ON session_counts (month) WHERE is_sum;
    CREATE INDEX session_counts_changes ON session_counts (id) WHERE NOT is_sum;

    CREATE FUNCTION first_of_month(at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS
      $$ SELECT date_trunc('month', at AT TIME ZONE 'UTC')::date $$;

    CREATE FUNCTION count_new_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO session_counts (month, operation, last_status, provider, last_mode, is_blocked, n, is_sum)
      SELECT first_of_month(created_at), operation, last_status, provider, last_mode, is_blocked, count(*), false
      FROM inserted WHERE NOT in_flight GROUP BY 1, 2, 3, 4, 5, 6;
      RETURN NULL;
    END $$;
    CREATE FUNCTION count_gone_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO session_counts (month, operation, last_status, provider, last_mode, is_blocked, n, is_sum)
      SELECT first_of_month(created_at), operation, last_status, provider, last_mode, is_blocked, -count(*), false
      FROM gone WHERE NOT in_flight GROUP BY 1, 2, 3, 4, 5, 6;
      RETURN NULL;
    END $$;
    CREATE FUNCTION count_changed_session() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO session_counts (month, operation, last_status, provider, last_mode, is_blocked, n, is_sum)
      SELECT first_of_month(OLD.created_at), OLD.operation, OLD.last_status, OLD.provider, OLD.last_mode,
             OLD.is_blocked, -1, false WHERE NOT OLD.in_flight
      UNION ALL
      SELECT first_of_month(NEW.created_at), NEW.operation, NEW.last_status, NEW.provider, NEW.last_mode,
             NEW.is_blocked, 1, false WHERE NOT NEW.in_flight;
      RETURN NULL;
    END $$;

    CREATE FUNCTION forget_session_counts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN DELETE FROM session_counts; RETURN NULL; END $$;

    CREATE TRIGGER count_new_sessions AFTER INSERT ON sessions
      REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION count_new_sessions();
    CREATE TRIGGER count_gone_sessions AFTER DELETE ON sessions
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_gone_sessions();
    CREATE TRIGGER count_changed_session AFTER UPDATE ON sessions FOR EACH ROW
      WHEN (NOT (OLD.in_flight AND NEW.in_flight) AND
        (OLD.in_flight, OLD.created_at, OLD.operation, OLD.last_status, OLD.provider, OLD.last_mode, OLD.is_blocked)
        IS DISTINCT FROM
        (NEW.in_flight, NEW.created_at, NEW.operation, NEW.last_status, NEW.provider, NEW.last_mode, NEW.is_blocked))
      EXECUTE FUNCTION count_changed_session();
    CREATE TRIGGER forget_session_counts AFTER TRUNCATE ON sessions
      FOR EACH STATEMENT EXECUTE FUNCTION forget_session_counts();

    CREATE FUNCTION sum_up_session_counts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- The bytes spell "coun". A transaction that does not get the lock leaves the work to the one that has it.
      IF NOT pg_try_advisory_xact_lock(1668248942) THEN RETURN NULL; END IF;
      WITH changes AS (
        DELETE FROM session_counts WHERE NOT is_sum RETURNING *
      ), kinds AS (
        SELECT month, operation, last_status, provider, last_mode, is_blocked, sum(n) AS n
        FROM changes GROUP BY 1, 2, 3, 4, 5, 6
      ), earlier AS (
        DELETE FROM session_counts c USING kinds k
        WHERE c.is_sum AND c.month = k.month AND c.operation = k.operation AND c.last_status = k.last_status
          AND c.is_blocked = k.is_blocked AND c.provider IS NOT DISTINCT FROM k.provider
          AND c.last_mode IS NOT DISTINCT FROM k.last_mode
        RETURNING c.*
      )
      INSERT INTO session_counts (month, operation, last_status, provider, last_mode, is_blocked, n, is_sum)
      SELECT month, operation, last_status, provider, last_mode, is_blocked, sum(n), true
      FROM (SELECT * FROM kinds UNION ALL
            SELECT month, operation, last_status, provider, last_mode, is_blocked, n FROM earlier) both_of_them
      GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER sum_up_session_counts AFTER INSERT ON session_counts FOR EACH ROW
      WHEN (NOT NEW.is_sum AND NEW.id % 256 = 0) EXECUTE FUNCTION sum_up_session_counts();
  `.simple()
}
