import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { applyLlm } from './apply-world.ts'
import { artifactsOf, textsOf } from './artifacts.ts'
import {
  CODE,
  code,
  driftLlm,
  driftReportOf,
  excepting,
  FAREWELL,
  fileOn,
  full,
  GREETING,
  runDrift,
  startDriftedStack,
} from './drift-world.ts'
import { addresses, blocks, importLlm, importReport, QUERY, withScope } from './import-world.ts'
import { decline, done, targets, write } from './scripts.ts'
import {
  appliedRepository,
  firstRound,
  nextRound,
  planPath,
  runFirst,
  runGenerate,
  type Stack,
  watched,
} from './stack.ts'

const stack = startOnce(startDriftedStack)
const ONLY_LOOKS = { preview: true } as const

/** Wraps the stack without an account at the git host, which is readable but not writable for everyone. */
const readOnly = (): Stack => ({
  ...stack,
  config: { ...stack.config, git: { ...stack.config.git, user: '', token: '' } },
})
const refs = (repo_uri: string) => stack.git(repo_uri, 'for-each-ref', '--format=%(refname) %(objectname)')

/** Reads everything in a session that a preview must not change. */
async function traces(uuid: string) {
  const { sql } = stack.database
  const [session] = await sql`
    SELECT s.last_commit, s.reviewed_commit, s.is_blocked, h.payload FROM sessions s
    JOIN histories h ON h.session_id = s.id WHERE s.uuid = ${uuid}`
  const pins = await sql`
    SELECT p.* FROM saved_plans p JOIN sessions s ON s.id = p.session_id WHERE p.ended_at IS NULL AND s.uuid = ${uuid}`
  return { session, pins: [...pins], pinned: await digestOf(planPath(stack, uuid)) }
}

async function digestOf(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return await Promise.all(
    files.sort().map(async (file) => {
      const hash = createHash('sha256').update(await readFile(file))
      return `${file} ${hash.digest('hex')}`
    }),
  )
}

describe('a drift preview', () => {
  it('reports what differs, as the first round of a session, without the right to push', async () => {
    const before = await refs(stack.drifted)
    const llm = driftLlm({ report_decomposed_task_operations: excepting(FAREWELL, 'set by hand') })
    const { iac, jobs } = watched(stack)
    const session = await firstRound(readOnly(), stack.context(llm, { iac }), { ...stack.full, ...ONLY_LOOKS })
    expect(session.statuses).toEqual(['started', 'filtering', 'validating', 'report', 'completed'])
    expect(session).toMatchObject({ in_flight: false, is_blocked: false, history: [] })
    expect(await refs(stack.drifted)).toBe(before)
    expect(jobs.map(([kind]) => kind)).toEqual(['init', 'validate', 'plan', 'show'])
    expect(llm.requests.map(({ chain }) => chain)).toEqual(['report_decomposed_task_operations'])
    expect(await driftReportOf(stack, session.uuid)).toEqual({
      summary: 'Preview: 1 resource differs, and 1 more as the exception rules expect. Nothing was changed.',
      status: 'Succeeded',
      remediated_resources: [],
      unreconciled_drift: [
        {
          resource_address: GREETING,
          reason: 'Code and infrastructure differ here. This was a preview, so nothing was changed.',
          details: ['input: "hello" in the code, "hello by hand" in the infrastructure'],
        },
      ],
      whitelisted_exceptions: [
        {
          resource_address: FAREWELL,
          change: 'input: "goodbye" in the code, "goodbye by hand" in the infrastructure',
          rule: `${FAREWELL}: set by hand`,
        },
      ],
    })
    const artifacts = await artifactsOf(stack, session.uuid)
    expect(artifacts.map(({ kind, type }) => [kind, type])).toEqual([
      ['plan', 'drift'],
      ['report', null],
    ])
    expect(await traces(session.uuid)).toMatchObject({
      session: { last_commit: null, reviewed_commit: '' },
      pins: [],
      pinned: [],
    })
  })

  it('is followed by a round that works as if there had been none', async () => {
    const { context, session: seen } = await runDrift(stack, {}, { request: { ...stack.full, ...ONLY_LOOKS } })
    const session = await nextRound(stack, context, seen.uuid, full.query, { mode: 'drift' })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(session.history).toEqual([{ user: full.query, assistant: 'Took both over.' }])
    expect(await fileOn(stack, stack.drifted, session.branch)).toBe(code('hello by hand', 'goodbye by hand'))
    expect((await traces(session.uuid)).session).toMatchObject({
      reviewed_commit: (await stack.git(stack.drifted, 'rev-parse', session.branch)).trim(),
    })
  })

  it('of a part looks where the request says', async () => {
    const { iac, plans } = watched(stack)
    const request = { ...stack.partial, ...ONLY_LOOKS }
    const { llm, session } = await runDrift(stack, {}, { iac, request })
    expect(plans()).toEqual([[GREETING]])
    expect((await driftReportOf(stack, session.uuid)).unreconciled_drift).toMatchObject([
      { resource_address: GREETING },
    ])
    expect(llm.of('task_complete')).toEqual([])
  })

  it.each<[string, Record<string, Script>, string]>([
    ['is declined', { requests_filter: decline('New buckets are not drift.') }, 'New buckets are not drift.'],
    [
      'fits nothing',
      { generate_engine_targets: targets() },
      'Nothing in the code fits this request, so no drift was looked for.',
    ],
  ])('of a part that %s ends uncompleted and is not remembered', async (_, changes, message) => {
    const { session } = await runDrift(stack, changes, { request: { ...stack.partial, ...ONLY_LOOKS } })
    expect(session.statuses.at(-1)).toBe('uncompleted')
    expect(session.messages.at(-1)).toBe(message)
    expect(session.history).toEqual([])
  })

  it('of an address that nobody has says that nothing could be read', async () => {
    const imagined = { generate_engine_targets: targets('terraform_data.imagined') }
    const { session } = await runDrift(stack, imagined, { request: { ...stack.partial, ...ONLY_LOOKS } })
    expect(session.statuses.at(-1)).toBe('completed')
    const report = await driftReportOf(stack, session.uuid)
    expect(report).toMatchObject({
      status: 'Failed',
      summary: 'The drift could not be read. Nothing was changed.',
      unreconciled_drift: [{ resource_address: '', reason: 'The drift could not be read.' }],
    })
    expect(JSON.stringify(report)).toContain('imagined')
  })

  it('of code in line with the infrastructure finds nothing and asks no model', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': CODE })
    const { llm, session } = await runFirst(stack, {}, { request: { repo_uri, ...full, ...ONLY_LOOKS } })
    expect(await driftReportOf(stack, session.uuid)).toMatchObject({
      summary: 'No drift was found: a plan of the whole root shows no difference.',
      status: 'Succeeded',
      unreconciled_drift: [],
    })
    expect(llm.requests).toEqual([])
  })
})

describe('previews beside a sealed plan', () => {
  it('touch neither pin nor lock, commits or branch, and the plan is applied afterwards', async () => {
    const { session: generated } = await runGenerate(stack)
    expect(generated.statuses.at(-1)).toBe('completed')
    const { uuid } = generated
    const before = { traces: await traces(uuid), refs: await refs(generated.repo_uri) }
    expect(before.traces.pins).toHaveLength(1)
    expect(before.traces.pinned.length).toBeGreaterThan(0)

    const drifting = stack.context(driftLlm())
    const drift = await nextRound(readOnly(), drifting, uuid, full.query, { mode: 'drift', ...ONLY_LOOKS })
    expect([drift.failures, drift.statuses.at(-1)]).toEqual([[], 'completed'])
    const importing = stack.context(scriptedLlm({}), { iac: withScope(stack, ['id-a']) })
    const listed = await nextRound(readOnly(), importing, uuid, QUERY, { mode: 'import', ...ONLY_LOOKS })
    expect([listed.failures, listed.statuses.at(-1)]).toEqual([[], 'completed'])
    expect({ traces: await traces(uuid), refs: await refs(generated.repo_uri) }).toEqual(before)

    const applied = await nextRound(stack, stack.context(applyLlm()), uuid, 'x', { mode: 'apply' })
    expect(applied.statuses.at(-1)).toBe('completed')
    const report = JSON.parse((await textsOf(stack, uuid, 'report')).at(-1) ?? '')
    expect(report).toMatchObject({ status: 'Success', summary: { created: 1 } })
  })

  it('that fail end uncompleted, so that the session goes on with its plan', async () => {
    const { session: generated } = await runGenerate(stack)
    const before = await traces(generated.uuid)
    const refusing = { exit_code: 1, stderr: 'AccessDenied: no permission to list' }
    const context = stack.context(scriptedLlm({}), { iac: withScope(stack, refusing) })
    const session = await nextRound(stack, context, generated.uuid, QUERY, { mode: 'import', ...ONLY_LOOKS })
    expect(session.statuses.at(-1)).toBe('uncompleted')
    expect(session.messages.at(-1)).toMatch(/^The preview could not be made: The scope acme-test could not be listed/)
    expect(session.messages.at(-1)).toContain('AccessDenied')
    expect(await traces(generated.uuid)).toEqual(before)
    const applied = await nextRound(stack, stack.context(applyLlm()), generated.uuid, 'x', { mode: 'apply' })
    expect(applied.statuses.at(-1)).toBe('completed')
    expect(JSON.parse((await textsOf(stack, generated.uuid, 'report')).at(-1) ?? '')).toMatchObject({
      status: 'Success',
    })
  })
})

it('an import preview lists the scope without a model or the right to push; a later import takes exactly what was chosen', async () => {
  const repo_uri = await appliedRepository(stack, undefined, (state) =>
    state.replace(/"id":\s*"[^"]+"/, '"id": "id-managed"'),
  )
  const before = await refs(repo_uri)
  const iac = withScope(stack, ['id-c', 'id-b', 'id-managed', 'id-a', 'id-b'])
  const looking = scriptedLlm({})
  const request = { repo_uri, query: QUERY, mode: 'import', ...ONLY_LOOKS } as const
  const seen = await firstRound(readOnly(), stack.context(looking, { iac }), request)
  expect(seen.statuses).toEqual(['started', 'filtering', 'report', 'completed'])
  expect(seen).toMatchObject({ in_flight: false, history: [] })
  expect(looking.requests).toEqual([])
  expect(await refs(repo_uri)).toBe(before)
  expect(iac.jobs.map(({ kind }) => kind)).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
  const listed = (...ids: string[]) => ids.map((resource_id) => ({ kind: null, resource_id }))
  expect(JSON.parse((await textsOf(stack, seen.uuid, 'preview'))[0] ?? '')).toEqual({
    version: 1,
    provider: 'aws',
    scope_id: 'acme-test',
    request: QUERY,
    counts: { managed: 1, unmanaged: 3, left_out: 0 },
    managed: listed('id-managed'),
    unmanaged: listed('id-a', 'id-b', 'id-c'),
    left_out: [],
  })
  expect(await importReport(stack, seen.uuid)).toMatchObject({
    summary: { selected: 0, imported: 0, failed: 0 },
    status: 'Succeeded',
    execution_summary: 'Preview of the scope acme-test: 1 managed, 3 not managed, 0 left out. Nothing was imported.',
    imported_resources: [],
    state_alignment: 'Nothing was imported; the state is unchanged.',
  })

  const llm = importLlm({
    task_complete: [write('imported.tf', blocks('b', 'c')), done('Wrote two blocks.')],
    generate_engine_targets: targets('terraform_data.b', 'terraform_data.c'),
    import_addresses: addresses(['terraform_data.b', 'id-b'], ['terraform_data.c', 'id-c']),
  })
  const session = await nextRound(stack, stack.context(llm, { iac }), seen.uuid, 'Take in these two', {
    mode: 'import',
    is_partial: true,
    resource_ids: ['id-c', 'id-b'],
  })
  expect([session.failures, session.statuses.at(-1)]).toEqual([[], 'completed'])
  expect(iac.imports()).toEqual([
    ['terraform_data.b', 'id-b'],
    ['terraform_data.c', 'id-c'],
  ])
  expect(llm.of('requests_filter')).toEqual([])
  expect(llm.of('report_decomposed_task_operations')).toEqual([])
  const report = JSON.parse((await textsOf(stack, seen.uuid, 'report')).at(-1) ?? '')
  expect(report).toMatchObject({
    summary: { selected: 2, imported: 2, failed: 0 },
    excluded_resources: [{ resource_id: 'id-a', details: 'Not selected by the request.' }],
  })
  expect(await stack.git(repo_uri, 'show', `${session.branch}:imported.tf`)).toBe(blocks('b', 'c'))
})
