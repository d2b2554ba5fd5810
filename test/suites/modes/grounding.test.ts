import { beforeAll, describe, expect, it } from 'vitest'
import type { Fetch } from '../../../src/base/http.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, done, goodRound, MAIN, write } from './scripts.ts'
import { firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)
let full: Awaited<ReturnType<typeof run>>
beforeAll(async () => {
  full = await run(() => null)
})

const broken = ADDED.replace('input', 'no_such_argument')
const repaired = () => [
  write('second.tf', broken),
  done('First try.'),
  {
    calls: [['resource_schema', { types: ['terraform_data', 'terraform_datum', 'data.terraform_remote_state'] }]] as [
      string,
      Record<string, unknown>,
    ][],
  },
  write('second.tf', ADDED),
  done('Mended.'),
]

/** The iac service behind a fetch that notes what is submitted and may answer itself. */
function watched(answer: (method: string, path: string) => Response | null) {
  const calls: string[] = []
  const through: Fetch = async (input, init) => {
    const { pathname } = new URL(String(input))
    const method = init?.method ?? 'GET'
    if (!pathname.startsWith('/v1/jobs/')) calls.push(`${method} ${pathname}`)
    return answer(method, pathname) ?? (await fetch(input, init))
  }
  return { calls, iac: createIacClient(stack.config.services.iac, { fetch: through, log: silentLogger }) }
}
const CONTRACT = /^POST \/v1\/(?!schema|diagnostics|fmt)/
const OPTIONAL = /^\/v1\/(engine|schema|diagnostics|fmt)$/

async function run(answer: (method: string, path: string) => Response | null) {
  const { calls, iac } = watched(answer)
  const llm = scriptedLlm(goodRound({ task_complete: repaired() }))
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const session = await firstRound(stack, stack.context(llm, { iac }), { repo_uri })
  return { calls, session, requests: llm.of('task_complete') }
}

describe('a repair on a real engine', () => {
  it('is grounded in findings and schemas, and may look up more', async () => {
    const { calls, session, requests } = full
    expect(session.failures).toEqual([])
    expect(session.statuses.at(-1)).toBe('completed')
    expect(said(requests[0])).not.toContain('DATA provider schema')
    const repair = requests[2]?.messages.at(-1)?.content ?? ''
    expect(repair).toMatch(/1\. Unsupported argument\nsecond\.tf:2, in resource "terraform_data" "second"/)
    expect(repair).toMatch(/DATA provider schema \w+\nresource "terraform_data" \(builtin\/terraform\)\n/)
    expect(repair).toContain('  input: any, optional\n')
    const looked_up = requests[3]?.messages.at(-1)?.content ?? ''
    expect(looked_up).toContain('triggers_replace: any, optional')
    expect(looked_up).toContain('data "terraform_remote_state"')
    expect(looked_up).toContain('has a type "terraform_datum". Names like it: terraform_data')
    expect(calls).toContain('POST /v1/diagnostics')
    expect(calls).toContain('POST /v1/schema')
  })

  it.each<[string, (method: string, path: string) => Response | null]>([
    [
      'the bare contract',
      (_, path) => (OPTIONAL.test(path) ? new Response('{"detail":"Not Found"}', { status: 404 }) : null),
    ],
    [
      'an unknown announcement',
      (_, path) => (path === '/v1/engine' ? Response.json({ name: 'x', version: '1', additions: [7] }) : null),
    ],
    [
      'promises that it does not keep',
      (method, path) => (method === 'POST' && OPTIONAL.test(path) ? new Response('<html>', { status: 422 }) : null),
    ],
    [
      'jobs that nobody knows',
      (method, path) =>
        method === 'POST' && OPTIONAL.test(path)
          ? Response.json({ job_id: crypto.randomUUID(), status: 'queued' }, { status: 202 })
          : null,
    ],
  ])('goes the way of the contract with a service of %s', async (_, answer) => {
    const bare = await run(answer)
    expect(bare.session.statuses).toEqual(full.session.statuses)
    expect(bare.calls.filter((call) => CONTRACT.test(call))).toEqual(full.calls.filter((call) => CONTRACT.test(call)))
    expect(bare.requests[2]?.tools).toEqual(full.requests[2]?.tools)
    expect(said(bare.requests[2])).toContain('1. Unsupported argument')
    expect(said(bare.requests[3])).toContain('The schema cannot be read at present')
  })

  it('is not tried when the engine cannot get what no code can give', async () => {
    const llm = scriptedLlm(
      goodRound({
        task_complete: [
          write('second.tf', ADDED),
          done('First try.'),
          write('second.tf', `${ADDED}\n`),
          done('Second try.'),
        ],
      }),
    )
    const needs_registry =
      'terraform {\n  required_providers {\n    aws = {\n      source = "127.0.0.1:1/acme/own"\n    }\n  }\n}\n'
    const repo_uri = await stack.repository({ 'main.tf': MAIN, 'versions.tf': needs_registry })
    const session = await firstRound(stack, stack.context(llm), { repo_uri })
    expect(session.statuses.filter((status) => status === 'generating')).toHaveLength(1)
    expect(session.statuses.at(-1)).toBe('failed')
    expect(session.messages.at(-1)).toMatch(
      /^runner failed: No change of the code can mend this\. The engine cannot download a provider\./,
    )
  })
})
