import { readFile } from 'node:fs/promises'
import { HttpResponse, http } from 'msw'
import { beforeAll, expect, it } from 'vitest'
import { startObjectStore } from '../../dev/object-store.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createMasker } from '../../src/base/masking.ts'
import { createObjectStore } from '../../src/data/storage/create.ts'
import { openEventLog } from '../../src/events/event-log.ts'
import { writePlanDocument } from '../../src/plan/document/create-document.ts'
import { takeInventory } from '../../src/plan/imports/inventory.ts'
import {
  storeCodeChange,
  storeComplianceCheck,
  storePlanDocument,
  storePlanText,
  storePreview,
  storeReport,
} from '../../src/reports/artifacts.ts'
import { type AttemptEnd, recordAttemptBegin, recordAttemptEnd } from '../../src/rounds/attempts.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { storageConfig } from '../data/storage/config.ts'
import { createTestCore } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createIssuer } from '../helpers/issuer.ts'
import { listen } from '../helpers/listen.ts'
import { createUser, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { planOf } from '../plan/fixtures.ts'
import { prWriter } from './outside.ts'

/** Makes the worker's facts about a plan that creates a bucket. */
const documentFacts = () => ({
  plan: planOf([
    {
      address: 'aws_s3_bucket.logs',
      type: 'aws_s3_bucket',
      actions: ['create'],
      after: { bucket: 'build-logs' },
      after_unknown: { arn: true },
    },
  ]),
  targets: ['aws_s3_bucket.logs'],
  masker: { text: (text: string) => text },
  findings: [
    { rule_id: 'r.one', severity: 'info', resource: 'aws_s3_bucket.logs', message: 'm', suggested_fix: null } as const,
  ],
})

const PULLS = 'https://api.github.com/repos/acme/infrastructure/pulls'
const HANDLERS = [
  listedRepository('https://github.com/acme/infrastructure.git', { sql: () => core.context.sql }),
  http.post(PULLS, () =>
    HttpResponse.json({ number: 12, html_url: 'https://github.com/acme/infrastructure/pull/12', state: 'open' }),
  ),
  http.get(PULLS.replace('/pulls', ''), () => HttpResponse.json({ allow_merge_commit: true })),
  http.get(`${PULLS}/12`, () => HttpResponse.json({ state: 'open', mergeable: true })),
  http.put(`${PULLS}/12/merge`, () => HttpResponse.json({ merged: true, sha: 'a', message: '' })),
  http.post('http://notifications.test/v1/notify', () => HttpResponse.json({ delivery_id: 'd-1' }, { status: 202 })),
]
const server = interceptRequests('bypass')
const objects = startOnce(() => startObjectStore({ access_key: 'access-key', secret_key: 'secret-key' }))
const core = startOnce(async () => {
  const issuer = await createIssuer()
  server.use(...issuer.handlers, ...HANDLERS)
  const config = storageConfig({ endpoint_url: objects.url, public_endpoint_url: objects.url })
  const storage = createObjectStore(config, {
    fetch: (input, init) => globalThis.fetch(input, init),
    log: silentLogger,
  })
  await storage.ensureBuckets()
  const started = await createTestCore({
    yaml: `
oidc: { issuer_url: "${issuer.url}", client_id: core }
admin: { unlock_by_another: never }
services: { notifications: { enabled: true, endpoint: "http://notifications.test", token_env: T } }`,
    env: { T: 'token' },
    context: { storage, llm: prWriter() },
  })
  const running = await listen(started.app)
  const close = async () => {
    await running.close(0)
    await started.close()
  }
  return { ...started, issuer, url: running.url, close }
})
beforeAll(async () => {
  await createUser(core.database.sql, 'grace')
  await createUser(core.database.sql, 'ada', { operation_role: 'devops', panel_role: 'admin' })
})

/** Acts as the worker for the round that a request has queued. */
async function work(uuid: string): Promise<void> {
  const { round, status, finish } = await runRound(core.context, uuid)
  await status('generating', 'Writing code')
  if (round.number === 1) {
    const { context } = core
    await storeCodeChange(context, round, {
      path: 'logs.tf',
      new_file: true,
      content: 'resource "aws_s3_bucket" "logs" {}',
    })
    await storeCodeChange(context, round, { path: 'main.tf', new_file: false, content: '+ # logs' })
    await recordAttempts(round)
    const stored = await storePlanText(context, round, { text: 'Plan: 1 to add', targets: ['aws_s3_bucket.logs'] })
    await storePlanDocument(context, round, stored, await writePlanDocument(documentFacts()))
    await storeReport(context, round, {
      type: 'generate',
      document: {
        summary: { create: 1, update: 0, delete: 0, recreate: 0 },
        detailed_changes: [],
        potential_impact: { banner: { level: 'low', title: 't', description: 'd' }, summary: 's', bullet_points: [] },
        estimated_costs: { currency: 'USD', total_fixed_monthly_cost: 0, introduction_paragraph: '', breakdown: [] },
      },
    })
    await storeComplianceCheck(context, round, { passed: true, violations: [], summary: '', checked_rules: [] })
    const eventLog = openEventLog(core.context.sql, round, { log: silentLogger, mask: (text) => text })
    eventLog.activity({ type: 'file.written', path: 'logs.tf', lines_added: 1, lines_removed: 0 })
    eventLog.output({ type: 'lines', step: 'plan', job_id: 'j', stream: 'stdout', text: 'Plan: 1 to add' })
    await eventLog.close()
  }
  if (round.preview && round.mode === 'import') await storeListing(round)
  await finish('completed', `round ${round.number}`, [{ user: round.query, assistant: 'Done.' }])
}

async function storeListing(round: ClaimedRound): Promise<void> {
  const ids = ['arn:aws:ec2:eu-central-1:123456789012:instance/i-1', 'arn:aws:sqs:eu-central-1:123456789012:invoices']
  const place = { provider: 'aws', scope_id: 'acme-production', request: round.query } as const
  const document = takeInventory(place, { scope: ids, ids, withheld: [] }, createMasker([]))
  await storePreview(core.context, round, document)
}

/** Records two attempts of a round. The engine refused the first. */
async function recordAttempts(round: ClaimedRound): Promise<void> {
  const { sql } = core.database
  const reason = 'The engine does not accept the code: Unsupported argument (logs.tf:1).'
  const diagnostic = { severity: 'error', summary: 'Unsupported argument', file: 'logs.tf', line: 1 } as const
  const rest = { step: 'validate', detail: '', snippet: '>    1: a', address: null, rule: null } as const
  const refused = {
    outcome: 'refused',
    commit: 'c1',
    steps: [{ name: 'validate', outcome: 'failed', seconds: 1.5, runs: 1 }],
    diagnostics: [{ ...diagnostic, ...rest }],
    diagnostics_total: 1,
    input_tokens: 10,
    cached_tokens: 0,
    output_tokens: 2,
    cost_usd: 0.5,
  } satisfies AttemptEnd
  const first = await recordAttemptBegin(sql, round, { task: 'generate', reason: null })
  await recordAttemptEnd(sql, round, first, refused)
  const second = await recordAttemptBegin(sql, round, { task: 'generate', reason })
  const steps = refused.steps.map((step) => ({ ...step, outcome: 'ok' as const }))
  const end: AttemptEnd = {
    ...refused,
    outcome: 'accepted',
    steps,
    diagnostics: [],
    diagnostics_total: 0,
    cost_usd: null,
  }
  await recordAttemptEnd(sql, round, second, end)
}

/** Makes the client's fetch: a request for a round starts the worker; the first stream breaks after its first event. */
function clientFetch(requests: string[]): typeof fetch {
  let broken = false
  return async (input, init) => {
    const url = String(input)
    const headers = new Headers(init?.headers)
    if (url.startsWith(objects.url)) expect(headers.has('authorization')).toBe(false)
    const answer = await fetch(input, init)
    if (url.startsWith(core.url))
      requests.push(`${init?.method ?? 'GET'} ${new URL(url).pathname.replace('/api/v1', '')} ${answer.status}`)
    if (url.includes('/events/subscribe/') && !broken && answer.body) {
      broken = true
      const uuid = url.split('/').at(-1) ?? ''
      return new Response(cutAfterFirstEvent(answer.body, () => work(uuid)))
    }
    const isLeftWaiting = url.endsWith('/cancel') || String(init?.body).includes('Never mind.')
    if (broken && answer.status === 202 && url.includes('/iac/') && !isLeftWaiting)
      await work((await answer.clone().json()).session_id)
    return answer
  }
}

function cutAfterFirstEvent(body: ReadableStream<Uint8Array>, then: () => Promise<void>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (value) controller.enqueue(value)
      if (!done && !new TextDecoder().decode(value).includes('data: ')) return
      await reader.cancel()
      await then()
      controller.error(new TypeError('network error'))
    },
  })
}

const EXAMPLES = 25

it('the examples of docs/api.md run as they stand there, one after the other', async () => {
  const guide = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8')
  expect(guide.match(/^```\w*/gm)?.filter((fence) => fence !== '```')).toEqual(Array(EXAMPLES).fill('```js'))
  const examples = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
  expect(examples).toHaveLength(EXAMPLES)
  const said: unknown[][] = []
  const requests: string[] = []
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  const run = new AsyncFunction('fetch', 'console', 'base_url', 'token', examples.join('\n'))
  const token = await core.issuer.token('ada')
  await run(clientFetch(requests), { log: (...words: unknown[]) => said.push(words) }, core.url, token)

  const uuid = (await (await core.call('GET', '/api/v1/sessions/list', { token })).json()).items[0].uuid
  expect(said).toEqual([
    ['ada@example.org', 'devops', 'admin'],
    ['ask for the cloud', 'ask for the scope'],
    ['STARTED', ''],
    ['COMPLETED', 'round 1'],
    ['file.written', 'logs.tf', 1],
    ['plan', 'Plan: 1 to add'],
    ['file', 'logs.tf', 'resource "aws_s3_bucket" "logs" {}'],
    ['diff', 'main.tf', '+ # logs'],
    ['plan', ['aws_s3_bucket.logs'], 'Plan: 1 to add'],
    ['low', { create: 1, update: 0, delete: 0, recreate: 0 }],
    [[true], false],
    ['Done.'],
    ['create', 1, 'replace', 0],
    ['create', 'aws_s3_bucket.logs', [], ['r.one']],
    ['bucket', null, 'build-logs'],
    ['arn', null, 'known after the apply'],
    ['1. generate refused:', 'validate failed 1.5s', 0.5],
    ['error: Unsupported argument', 'logs.tf:1', '>    1: a'],
    ['Next, because:', 'The engine does not accept the code: Unsupported argument (logs.tf:1).'],
    ['2. generate accepted:', 'validate ok 1.5s', null],
    [1, 'Add a private bucket for build logs.', 'completed'],
    [[['aws', false]]],
    ['COMPLETED', 'round 2'],
    ['COMPLETED', 'round 3'],
    ['COMPLETED', 'round 4'],
    ['COMPLETED', 'round 5'],
    ['COMPLETED', 'round 6'],
    [{ managed: 0, unmanaged: 2, left_out: 0 }, 'ec2:instance'],
    ['COMPLETED', 'round 7'],
    ['UNCOMPLETED', 'Cancelled by ada@example.org.'],
    [true],
    [12, 'open', 'https://github.com/acme/infrastructure/pull/12'],
    ['ready', 'merge'],
    ['COMPLETED', 'round 9'],
    [null],
    ['nothing is sealed'],
    [expect.stringMatching(/^2.*Z$/), 'person', 'ada@example.org', 'Wait for the data team.'],
    [`"Session ${uuid} is blocked; apply is not allowed."`],
    ['Checked: the bucket is empty.'],
    ['d-1'],
    [1, 'grace', 'devops', 'editor'],
    [1, 0, 0, 1],
    [1, 'ada@example.org', 9, 0],
    ['id,at,action,actor,user_id,session_id,address,detail,subject'],
  ])
  expect(requests.filter((request) => request.startsWith('GET /events'))).toHaveLength(12)
  expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([
    'POST /iac/generate 202',
    'POST /auth/authorize 200',
    'POST /mapping/resolve 200',
    'POST /iac/generate 202',
    'POST /iac/drift 202',
    'POST /iac/import 202',
    'POST /iac/drift 202',
    'POST /iac/import 202',
    'POST /iac/import 202',
    'POST /iac/generate 202',
    'POST /iac/cancel 202',
    'PUT /repository/pr 201',
    'PUT /repository/pr/merge 204',
    'POST /iac/apply 202',
    'POST /iac/seal/verify 409',
    `PATCH /admin/sessions/${uuid}/toggle_lock 200`,
    'POST /iac/apply 409',
    `PATCH /admin/sessions/${uuid}/toggle_lock 200`,
    'POST /notifications 202',
    expect.stringMatching(/^PUT \/admin\/users\/\d+\/roles 200$/),
  ])
  const modes = await core.database.sql<{ mode: string; preview: boolean; resource_ids: string[] | null }[]>`
    SELECT mode, preview, resource_ids FROM rounds ORDER BY number`
  expect(modes.map(({ mode, preview }) => (preview ? `${mode} preview` : mode))).toEqual([
    'generate',
    'generate',
    'drift',
    'import',
    'drift preview',
    'import preview',
    'import',
    'generate',
    'apply',
  ])
  expect(modes[6]?.resource_ids).toEqual(['arn:aws:sqs:eu-central-1:123456789012:invoices'])
})
