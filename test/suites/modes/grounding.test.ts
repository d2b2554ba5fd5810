import { expect, it } from 'vitest'
import type { Fetch } from '../../../src/base/http.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, said } from '../../pipeline/steps/scripted-llm.ts'
import { ADDED, BROKEN, done, MAIN, write } from './scripts.ts'
import { runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

const looking: Reply = {
  calls: [['resource_schema', { types: ['terraform_data', 'terraform_datum', 'data.terraform_remote_state'] }]],
}

it('a repair on a real engine is grounded in findings and schemas, and may look up more', async () => {
  const calls: string[] = []
  const noted: Fetch = (input, init) => {
    const { pathname } = new URL(String(input))
    if (!pathname.startsWith('/v1/jobs/')) calls.push(`${init?.method ?? 'GET'} ${pathname}`)
    return fetch(input, init)
  }
  const iac = createIacClient(stack.config.services.iac, { fetch: noted, log: silentLogger })
  const task_complete = [
    write('second.tf', BROKEN),
    done('First try.'),
    looking,
    write('second.tf', ADDED),
    done('Mended.'),
  ]
  const { llm, session } = await runGenerate(stack, { task_complete }, { iac })
  const requests = llm.of('task_complete')
  expect(session.statuses.at(-1)).toBe('completed')
  expect(said(requests[0])).toContain('The code uses no provider beside the built-in one')
  expect(said(requests[0])).not.toContain('DATA provider schema')
  expect(requests[0]?.messages.at(-1)?.content).toMatch(/DATA judgement \w+\nAcceptable\.\n/)
  const repair = requests[2]?.messages.at(-1)?.content ?? ''
  expect(repair).toMatch(/1\. Unsupported argument\nsecond\.tf:2, in resource "terraform_data" "second"/)
  expect(repair).toMatch(/DATA provider schema \w+\nresource "terraform_data" \(builtin\/terraform\)\n/)
  expect(repair).toContain('  input: any, optional\n')
  const looked_up = requests[3]?.messages.at(-1)?.content ?? ''
  expect(looked_up).toContain('triggers_replace: any, optional')
  expect(looked_up).toContain('data "terraform_remote_state"')
  expect(looked_up).toContain('has a type "terraform_datum". Names like it: terraform_data')
  expect(calls.indexOf('POST /v1/init')).toBeLessThan(calls.indexOf('POST /v1/schema'))
  expect(calls).toContain('POST /v1/diagnostics')
  expect(calls).toContain('POST /v1/schema')
})

it('a repair is not tried when the engine cannot get what no code can give', async () => {
  const needs_registry =
    'terraform {\n  required_providers {\n    aws = {\n      source = "127.0.0.1:1/acme/own"\n    }\n  }\n}\n'
  const request = { files: { 'main.tf': MAIN, 'versions.tf': needs_registry } }
  const { session } = await runGenerate(stack, {}, { request })
  expect(session.statuses.filter((status) => status === 'generating')).toHaveLength(1)
  expect(session.statuses.at(-1)).toBe('failed')
  expect(session.messages.at(-1)).toMatch(
    /^runner failed: No change of the code can mend this\. The engine cannot download a provider\./,
  )
})

it('what a cloud forbids is told where code or request has something of it', async () => {
  const linode =
    'terraform {\n  required_providers {\n    linode = {\n      source = "127.0.0.1:1/linode/linode"\n    }\n  }\n}\n'
  const toldOf = async (query: string) => {
    const { llm } = await runGenerate(stack, {}, { request: { query, files: { 'versions.tf': linode } } })
    return said(llm.of('requests_filter')[0]).includes('## Forbidden actions')
  }
  expect(await toldOf('Add a second node')).toBe(false)
  expect(await toldOf('Add an S3 bucket in AWS')).toBe(true)
})
