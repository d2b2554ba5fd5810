import type { Transaction } from '../../sql.ts'

/**
 * Creates the append-only audit record, the counts of refused sign-ins, and the console files of earlier deployments,
 * which open pages still load. None references other tables: an audit record stays unchanged when its subject changes
 * or is deleted.
 */
export async function createRecords(tx: Transaction): Promise<void> {
  await tx`
    CREATE TABLE audit_records (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      action text NOT NULL,
      -- The user who did it or whose round did it; null when no user has part in it.
      user_id integer,
      -- E-mail or name at that time, or the word platform.
      actor text NOT NULL,
      session_uuid uuid,
      -- Of the caller; null where it is not known and for what the platform did.
      address text,
      detail jsonb NOT NULL DEFAULT '{}'
    );
    -- With the other columns of the filters, so that entries are found and counted in the index alone.
    CREATE INDEX audit_records_newest ON audit_records (at DESC, id DESC) INCLUDE (user_id, action);
    CREATE INDEX audit_records_action ON audit_records (action, at DESC, id DESC) INCLUDE (user_id);
    CREATE INDEX audit_records_user ON audit_records (user_id, at DESC, id DESC) INCLUDE (action);
    CREATE INDEX audit_records_session ON audit_records (session_uuid, at DESC, id DESC)
      WHERE session_uuid IS NOT NULL;

    CREATE TABLE sign_in_refusals (
      hour timestamptz NOT NULL,
      reason text NOT NULL,
      address_prefix text NOT NULL,
      refusals bigint NOT NULL,
      PRIMARY KEY (hour, reason, address_prefix)
    );

    CREATE TABLE console_files (
      -- Below /console/, with the hash of the content in the name.
      path text PRIMARY KEY,
      content_type text NOT NULL,
      identity bytea NOT NULL,
      br bytea,
      gzip bytea,
      -- When a core that has this file in its build ran last, to a day.
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    -- What is compressed already is not compressed again.
    ALTER TABLE console_files ALTER COLUMN br SET STORAGE EXTERNAL, ALTER COLUMN gzip SET STORAGE EXTERNAL;

    -- Only expire_audit_records deletes, and only entries older than a day, so that nobody with the platform's own
    -- access can remove traces by a plain statement.
    CREATE FUNCTION keep_audit_records() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' THEN
        IF current_setting('platform.expire_audit_records', true) = 'on'
           AND OLD.at < clock_timestamp() - interval '1 day' THEN
          RETURN OLD;
        END IF;
      END IF;
      RAISE EXCEPTION 'audit records are never changed' USING ERRCODE = 'insufficient_privilege';
    END $$;

    CREATE TRIGGER keep_audit_records BEFORE UPDATE OR DELETE ON audit_records
      FOR EACH ROW EXECUTE FUNCTION keep_audit_records();
    CREATE TRIGGER keep_all_audit_records BEFORE TRUNCATE ON audit_records
      FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_records();

    -- Deletes up to so many of the oldest records from before a moment, and answers how many it has deleted.
    CREATE FUNCTION expire_audit_records(before timestamptz, most integer) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE
      deleted integer;
    BEGIN
      PERFORM set_config('platform.expire_audit_records', 'on', true);
      DELETE FROM audit_records WHERE id IN (
        SELECT id FROM audit_records WHERE at < least(before, clock_timestamp() - interval '1 day')
        ORDER BY at, id LIMIT most FOR UPDATE SKIP LOCKED);
      GET DIAGNOSTICS deleted = ROW_COUNT;
      PERFORM set_config('platform.expire_audit_records', 'off', true);
      RETURN deleted;
    END $$;
  `.simple()
}
