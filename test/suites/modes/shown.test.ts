import { expect, it } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, done, GATES, goodLlm, goodRound, MAIN, SETTINGS, targets, write } from './scripts.ts'
import { firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)

const SECRET = 'planted-Zq7-very-secret'
const VARIABLE = `variable "password" {\n  type = string\n  sensitive = true\n  default = "${SECRET}"\n}\n`
const USED = 'resource "terraform_data" "login" {\n  input = { user = "ada", password = var.password }\n}\n'
/** A line that the engine quotes in its refusal. */
const REFUSED = `${ADDED}locals {\n  copy = "${SECRET}-\${local.missing}"\n}\n`

/** Collects everything that the platform shows of a session: detail, linked artifacts, events and records. */
async function everythingShown(uuid: string, context: Parameters<typeof loadAggregate>[0]): Promise<string[]> {
  const detail = JSON.stringify(await loadAggregate(context, uuid, { includeHistory: true }))
  const addresses = [...detail.matchAll(/"(?:document_)?url":"(http[^"]+)"/g)].map(([, url]) => String(url))
  const bodies = await Promise.all(addresses.map(async (url) => await (await fetch(url)).text()))
  const { sql } = stack.database
  const rows = await Promise.all([
    sql`SELECT * FROM round_events`,
    sql`SELECT * FROM round_attempts`,
    sql`SELECT * FROM audit_records`,
    sql`SELECT * FROM saved_plans`,
    sql`SELECT * FROM rounds`,
    sql`SELECT * FROM statuses`,
  ])
  return [detail, ...bodies, ...rows.map((found) => JSON.stringify(found))]
}

it('a sensitive value of the repository is in nothing that a round shows', async () => {
  const script = goodRound({
    task_complete: [write('second.tf', REFUSED), done('Added.'), write('second.tf', SETTINGS + ADDED), done('Mended.')],
    generate_engine_targets: targets('terraform_data.second', 'terraform_data.login'),
  })
  const context = stack.context(scriptedLlm(script), { orchestration: GATES })
  const session = await firstRound(stack, context, {
    files: { 'main.tf': MAIN, 'password.tf': VARIABLE, 'login.tf': USED },
  })
  expect(session.statuses.at(-1)).toBe('completed')
  const shown = await everythingShown(session.uuid, context)
  for (const text of shown) expect(text).not.toContain(SECRET)

  const detail = await loadAggregate(context, session.uuid, { includeHistory: false })
  const [round] = detail?.rounds ?? []
  // The placeholder shows that the value would have been there.
  expect(round?.attempts[0]).toMatchObject({ outcome: 'refused' })
  expect(JSON.stringify(round?.attempts[0]?.diagnostics)).toContain(MASK)
  const [document] = (round?.plans ?? []).flatMap(({ document_url }) => document_url ?? [])
  const plan = await (await fetch(String(document))).json()
  const login = plan.resources.find(({ address }: { address: string }) => address === 'terraform_data.login')
  expect(login.attributes).toContainEqual(
    expect.objectContaining({ path: ['input', 'password'], sensitive: true, after: MASK }),
  )
  expect((round?.outputs ?? []).map(({ step }) => step)).toContain('plan')
})

type Event = Record<string, unknown> & { type: string }

it('a generate round tells what it does, in order, and never what is in it', async () => {
  const context = stack.context(goodLlm(), { orchestration: GATES })
  const session = await firstRound(stack, context)
  const rows = await stack.database.sql<{ event: Event }[]>`
    SELECT e.event FROM round_events e JOIN sessions s ON s.id = e.session_id
    WHERE s.uuid = ${session.uuid} AND e.channel = 'activity' ORDER BY e.id`
  const events = rows.map(({ event }) => event)
  const of = (type: string) => events.filter((event) => event.type === type)
  const at = (wanted: Partial<Event>) =>
    events.findIndex((event) => Object.entries(wanted).every(([key, value]) => event[key] === value))

  expect(of('attempt.began')[0]).toMatchObject({ attempt: 1, task: 'generate', reason: null })
  expect(of('attempt.began').at(-1)).toMatchObject({ attempt: 1, task: 'converge', reason: null })
  expect(of('file.written')).toEqual([
    { type: 'file.written', path: 'second.tf', lines_added: expect.any(Number), lines_removed: 0 },
  ])
  expect(of('tool.called')).toContainEqual(
    expect.objectContaining({ chain: 'IAC_GENERATOR', path: 'second.tf', outcome: 'ok' }),
  )
  expect(new Set(of('artifact.uploaded').map(({ kind }) => kind))).toEqual(
    new Set(['changes', 'plans', 'outputs', 'reports', 'compliance']),
  )
  // Every chain that began has ended.
  const chains = (type: string) =>
    of(type)
      .map(({ chain }) => String(chain))
      .toSorted()
  expect(chains('chain.ended')).toEqual(chains('chain.began'))
  const order = [
    at({ type: 'attempt.began', task: 'generate' }),
    at({ type: 'chain.began', chain: 'IAC_GENERATOR' }),
    at({ type: 'tool.called', path: 'second.tf' }),
    at({ type: 'chain.ended', chain: 'IAC_GENERATOR' }),
    at({ type: 'file.written' }),
    at({ type: 'artifact.uploaded', kind: 'plans' }),
    at({ type: 'attempt.began', task: 'converge' }),
    at({ type: 'artifact.uploaded', kind: 'reports' }),
  ]
  expect(order).not.toContain(-1)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  const text = JSON.stringify(events)
  for (const content of [
    'Add a second greeting',
    'terraform_data',
    'token-of-the-git-host',
    stack.config.paths.upload_folder,
  ])
    expect(text).not.toContain(content)
})
