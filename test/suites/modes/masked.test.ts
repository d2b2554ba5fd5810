import { expect, it } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import { loadAggregate } from '../../../src/sessions/aggregate.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, done, GATES, goodRound, MAIN, targets, write } from './scripts.ts'
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
    task_complete: [write('second.tf', REFUSED), done('Added.'), write('second.tf', ADDED), done('Mended.')],
    generate_engine_targets: targets('terraform_data.second', 'terraform_data.login'),
  })
  const context = stack.context(scriptedLlm(script), { orchestration: GATES })
  const session = await firstRound(stack, context, {
    files: { 'main.tf': MAIN, 'password.tf': VARIABLE, 'login.tf': USED },
  })
  expect(session.failures).toEqual([])
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
