import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { fakeIac, type Ways } from './fakes/iac.ts'
import { before, brokenOf, type Handler, judged, lenient, problem, promisesOf, replacingStatus } from './fakes/serve.ts'

const good = fakeIac()
/** Commands that still run while a loaded machine submits the next job: else no order of a queue shows. */
const SLOW = { ms: 300 }
const wrong = (ways: Partial<Ways>): Handler => fakeIac(ways)
type Sent = { targets?: string[]; address?: string; plan_file?: string; workspace_path?: string; resource_id?: string }
const accepting = (change: (sent: Sent) => Sent | null): Handler => lenient(good, change)
const terminal = (job: Record<string, unknown>) => job.status === 'succeeded' || job.status === 'failed'
const without = (key: string) => (job: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(job).filter(([name]) => name !== key))

const DEFECTS: Record<string, Handler> = {
  'a job without the key error: job.life-cycle, job.answers': wrong({ shown: without('error') }),
  'a result without stderr: job.answers': wrong({
    shown: (job) => (terminal(job) ? { ...job, result: { exit_code: 0, stdout: '' } } : job),
  }),
  'an undeclared key in a job: job.answers': wrong({ shown: (job) => ({ ...job, workspace_path: '/data' }) }),
  'succeeded before its result is there: job.life-cycle': wrong({
    finish: async (_, { result, ...end }, set) => {
      set(end)
      await wait(40)
      set({ result })
    },
  }),
  'finished_at before the status: job.life-cycle': wrong({
    finish: async (_, { finished_at, ...end }, set) => {
      set({ finished_at })
      await wait(40)
      set(end)
    },
  }),
  'a result beside a failure: job.life-cycle': wrong({ finish: (_, end, set) => set({ ...end, status: 'failed' }) }),
  'times that are not in order: job.life-cycle': wrong({
    shown: (job) => (job.started_at === null ? job : { ...job, created_at: '2999-01-01T00:00:00Z' }),
  }),
  'times of another zone: job.life-cycle': wrong({
    shown: (job) => ({ ...job, created_at: String(job.created_at).replace('Z', '+02:00') }),
  }),
  'a job goes back to the queue: job.life-cycle': (() => {
    const looks = new Map<unknown, number>()
    return wrong({
      shown: (job) => {
        const look = (looks.get(job.job_id) ?? 0) + 1
        looks.set(job.job_id, look)
        const early = { ...job, started_at: null, finished_at: null, result: null }
        if (look > 2) return job
        return look === 1 ? { ...early, status: 'running', started_at: job.created_at } : { ...early, status: 'queued' }
      },
    })
  })(),
  'a terminal job that changes: job.life-cycle': wrong({
    shown: (job) =>
      terminal(job) ? { ...job, finished_at: new Date(Date.now() + Math.random() * 1e6).toISOString() } : job,
  }),
  'the last job first: queue.order': wrong({ lifo: true, ...SLOW }),
  'all jobs of a workspace at once: queue.order': wrong({ queueOf: () => crypto.randomUUID(), ...SLOW }),
  'a queue for every name of a folder: queue.order': wrong({ queueOf: (path) => path, ...SLOW }),
  'one queue for all workspaces: queue.parallel': wrong({ queueOf: () => 'all' }),
  'no Location: submit.location, validate.answers': wrong({ location: () => null }),
  'Location names something else: submit.location, validate.answers': wrong({ location: (id) => `/jobs/${id}` }),
  'every job is a plan: job.kinds': wrong({ kindOf: () => 'plan' }),
  'an unknown job is 410: job.unknown, job.answers': wrong({ unknown: () => problem(410) }),
  'an id that is none is 404: job.invalid-id': replacingStatus(good, /^\/v1\/jobs\//, 422, 404),
  'an engine that fails, fails the job: engine.failure': wrong({
    finish: (_, end, set) =>
      set(
        JSON.stringify(end).includes('"exit_code":1')
          ? { ...end, status: 'failed', result: null, error: { type: 'about:blank', title: 'Failed', status: 500 } }
          : end,
      ),
  }),
  'an exit code is forgotten: engine.failure': wrong({
    finish: (_, end, set) => set({ ...end, result: { exit_code: 0, stdout: 'x', stderr: '' } }),
  }),
  'a failed discovery with exit code 0: engine.scope': wrong({
    finish: (_, end, set) => set({ ...end, result: { exit_code: 0, stdout: '[]', stderr: '' } }),
  }),
  'a target that is an option: plan.values': accepting((sent) =>
    sent.targets?.[0]?.startsWith('-') ? { ...sent, targets: [] } : null,
  ),
  'an address that is an option: import.values': accepting((sent) =>
    sent.address?.startsWith('-') ? { ...sent, address: 'a.b' } : null,
  ),
  'a plan file outside of the workspace: show.values': accepting((sent) =>
    sent.plan_file === '../up.plan' ? { ...sent, plan_file: 'up.plan' } : null,
  ),
  'a plan file of two dots: apply.values': accepting((sent) =>
    sent.plan_file === '..' ? { ...sent, plan_file: 'x' } : null,
  ),
  'a relative workspace is looked for: validate.values': accepting((sent) =>
    sent.workspace_path?.startsWith('relative') ? { ...sent, workspace_path: '/nowhere' } : null,
  ),
  '257 targets: plan.lengths': accepting((sent) => (sent.targets?.length === 257 ? { ...sent, targets: [] } : null)),
  'the workspace is looked at before the body: init.required, init.types': replacingStatus(
    good,
    /^\/v1\/init$/,
    422,
    404,
  ),
  'a missing workspace is 422: submit.workspace, validate.accepts': replacingStatus(good, /^\/v1\/validate$/, 404, 422),
  'a strange preference is 400: job.wait': before(good, ({ request, pass }) =>
    request.headers.get('prefer') === 'wait=soon' ? problem(400) : pass(),
  ),
  'a submission that waits for its engine, with its result: submit.location, validate.answers': before(
    good,
    async ({ path, pass }) => {
      const response = await pass()
      return path === '/v1/validate' && response.status === 202 ? Response.json({ exit_code: 0 }) : response
    },
  ),
}

describe('the suite of the iac contract', () => {
  it('finds nothing wrong with a service without an engine and without additions, and says what it could not see', async () => {
    const only = [
      'health',
      'token.missing',
      'plan.',
      'schema.accepts',
      'job.',
      'queue.',
      'submit.',
      'engine.',
      'addition.',
      'transport.',
    ]
    const outcome = await judged('iac', good, { only })
    expect(brokenOf(outcome)).toEqual([])
    const skipped = Object.fromEntries(
      outcome.promises.filter((each) => each.outcome === 'skipped').map(({ id, reason }) => [id, reason]),
    )
    expect(skipped['engine.sequence']).toContain('the fake has no engine')
    expect(skipped['addition.schema']).toContain('does not offer')
    expect(skipped['schema.accepts']).toContain('does not offer')
    for (const id of ['queue.order', 'queue.parallel', 'job.life-cycle', 'engine.failure', 'plan.accepts'])
      expect(skipped).not.toHaveProperty([id])
  })

  it('skips what needs a workspace where the service does not see it', async () => {
    const blind = before(good, ({ json, pass }) =>
      typeof json === 'object' && json !== null && 'workspace_path' in json
        ? pass({ body: { ...json, workspace_path: json.workspace_path === '' ? '' : `${json.workspace_path}/none` } })
        : pass(),
    )
    const outcome = await judged('iac', blind, { only: ['job.', 'queue.', 'engine.', 'submit.location'] })
    expect(brokenOf(outcome)).toEqual([])
    for (const id of ['job.life-cycle', 'queue.order', 'engine.failure', 'submit.location'])
      expect(outcome.promises.find((each) => each.id === id)).toMatchObject({
        outcome: 'skipped',
        reason: expect.stringContaining('--workspace'),
      })
  })

  it.each(Object.entries(DEFECTS))('finds %s', async (defect, handler) => {
    const promises = promisesOf(defect)
    const answered = promises.some((id) => id.endsWith('.answers')) ? ['job.life-cycle'] : []
    expect(brokenOf(await judged('iac', handler, { only: [...promises, ...answered], jobMs: 5000 }))).toEqual(
      expect.arrayContaining(promises),
    )
  })
})
