import type { Transaction } from '../types.ts'

/**
 * Creates what the session lists read. `session_search` holds what never changes about a session, and the text
 * that a search looks into; its rows are written once, so that status changes need no update of its indexes.
 * Addresses of repositories are searched in a table of their own, because many sessions share few repositories.
 */
export async function createSessionLists(tx: Transaction): Promise<void> {
  await tx`
    DROP INDEX IF EXISTS histories_first_query_trgm, workspaces_uri_trgm, sessions_uuid_trgm;

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

    DROP INDEX sessions_newest, sessions_newest_of_user, sessions_last_status;
    CREATE INDEX sessions_newest ON sessions (created_at DESC, id DESC) INCLUDE (user_id, operation, last_status);
    CREATE INDEX sessions_newest_of_user ON sessions (user_id, created_at DESC, id DESC)
      INCLUDE (operation, last_status);
    CREATE INDEX sessions_last_status ON sessions (last_status, created_at DESC, id DESC) INCLUDE (user_id, operation);
  `.simple()
  await fillOnInsert(tx)
}

/**
 * Triggers that fill `session_search`. A session's row needs its workspace and its history; whichever of the two
 * is inserted last creates it. Both are never changed afterwards, so that no trigger on updates is needed.
 */
async function fillOnInsert(tx: Transaction): Promise<void> {
  await tx`
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

    SELECT fill_session_search(ARRAY(SELECT id FROM sessions));
  `.simple()
}
