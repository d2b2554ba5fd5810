import { expect } from 'vitest'
import { runRound } from '../../../pipeline/run-round.ts'
import { claimForRun } from '../../../src/rounds/claim.ts'
import { startLeaseGuard } from '../../../src/runtime/lease-guard.ts'
import { allModes, detailOf, fakeFrame, runContext } from '../../pipeline/frame.ts'
import { createSession, useVerbs } from '../../sessions/fixtures.ts'
import { attack } from './attack.ts'

const { db, context } = useVerbs()

attack('sensitive values of a plan', 'a plan that freezes the worker until its rounds are taken', async () => {
  const guard = startLeaseGuard(db.url, context.log)
  const ids = await Promise.all(
    [0, 1].map(async () => (await detailOf(context, await createSession(context))).rounds[0]?.id ?? 0),
  )
  const [own = 0, others = 0] = ids
  const frame = { ...fakeFrame().frame, holdLease: guard.hold }
  const taken: number[] = []
  const frozen = Promise.withResolvers<void>()
  const run = (id: number, work: () => Promise<void>) => {
    const modes = allModes(async ({ signal }) => {
      await work()
      // The time in which the process would find that it has lost the round.
      await new Promise((resolve) => setTimeout(resolve, 3_500))
      signal.throwIfAborted()
      return { status: 'completed' }
    })
    return runRound(runContext(context), id, modes, new AbortController().signal, frame)
  }
  const other = run(others, () => frozen.promise)
  const freezing = run(own, async () => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    for (const end = performance.now() + 9_000; performance.now() < end; );
    // What another worker would have got during that time it gets now, before this one extends anything.
    for (const id of ids) if ((await claimForRun(db.sql, id)) !== null) taken.push(id)
    frozen.resolve()
  })
  await Promise.all([other, freezing])
  expect(taken).toEqual([])
  const rows = await db.sql`SELECT attempts, finished_at IS NOT NULL AS finished FROM rounds`
  expect(rows).toEqual([
    { attempts: 1, finished: true },
    { attempts: 1, finished: true },
  ])
  await guard.close()
  return 'a thread of its own extends the leases of a worker that lives'
})
