import assert from 'node:assert/strict'
import { silentLogger } from '../../../src/base/log.ts'
import { connect } from '../../../src/data/db/pool.ts'
import { startLeaseGuard } from '../../../src/runtime/lease-guard.ts'

/**
 * Run by each runtime with the address of an empty database. Exits with 0 if the lease of a round is valid after the
 * event loop was blocked for longer than a lease.
 */
const [url = ''] = process.argv.slice(2)
const sql = connect(url, { max: 1 })
await sql`
  CREATE TABLE sessions (id bigint, fence int, in_flight boolean);
  CREATE TABLE rounds (id bigint, session_id bigint, lease_until timestamptz, cancelled_by text);
  INSERT INTO sessions VALUES (1, 7, true);
  INSERT INTO rounds VALUES (2, 1, clock_timestamp() + interval '6 s')`.simple()
const guard = startLeaseGuard(url, silentLogger)
guard.hold({ id: 2, fence: 7, session: { id: 1 } })
await new Promise((resolve) => setTimeout(resolve, 1_000))
for (const end = performance.now() + 9_000; performance.now() < end; );
const [row] = await sql<{ held: boolean }[]>`SELECT lease_until > clock_timestamp() AS held FROM rounds`
assert.equal(row?.held, true, 'the thread extends the lease')
await guard.close()
process.exit(0)
