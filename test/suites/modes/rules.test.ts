import { expect, it } from 'vitest'
import type { OrchestrationConfig } from '../../../config/types.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import type { Context } from '../../../src/context.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, type scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { ADDED, done, GATES, goodLlm, write } from './scripts.ts'
import { firstRound, nextRound, startStack } from './stack.ts'

const stack = startOnce(startStack)

const ID = 'aws.network.open-admin-port'
const OPEN = {
  address: 'aws_security_group.bastion',
  mode: 'managed',
  type: 'aws_security_group',
  name: 'bastion',
  change: {
    actions: ['create'],
    before: null,
    after: { ingress: [{ from_port: 22, to_port: 22, protocol: 'tcp', cidr_blocks: ['0.0.0.0/0'] }] },
    after_unknown: { id: true },
  },
}

interface Setting {
  llm: ReturnType<typeof scriptedLlm>
  orchestration?: Partial<OrchestrationConfig>
  /** Entries that are added to the engine's plan, because no provider is available offline. */
  changes: JsonObject[]
}

function contextOf({ llm, orchestration, changes }: Setting): { context: Context; notified: JsonObject[] } {
  const notified: JsonObject[] = []
  const base = stack.context(llm, { orchestration: { ...GATES, ...orchestration } })
  const notifications = { enabled: true, endpoint: 'http://notify.example.org', token_env: '', token: 't', timeout: 5 }
  const context: Context = {
    ...base,
    config: { ...base.config, services: { ...base.config.services, notifications } },
    fetch: async (input, init) => {
      const request = new Request(input, init)
      if (!request.url.startsWith(notifications.endpoint)) return await base.fetch(request)
      notified.push(await request.json())
      return Response.json({ delivery_id: crypto.randomUUID() }, { status: 202 })
    },
    iac: {
      ...base.iac,
      run: async (kind, body, options) => {
        const result = await base.iac.run(kind, body, options)
        if (kind !== 'show') return result
        const plan = JSON.parse(result.stdout)
        return {
          ...result,
          stdout: JSON.stringify({ ...plan, resource_changes: [...plan.resource_changes, ...changes] }),
        }
      },
    },
  }
  return { context, notified }
}

const checkOf = async (uuid: string) => JSON.parse((await textsOf(stack, uuid, 'check')).at(-1) ?? 'null')

it('a finding of code locks although the model found nothing, tells staff, and a later round that passes unlocks', async () => {
  const llm = goodLlm()
  const { context, notified } = contextOf({ llm, changes: [OPEN] })
  const first = await firstRound(stack, context)
  expect(first).toMatchObject({ is_blocked: true, in_flight: false })
  expect(first.statuses.at(-1)).toBe('completed')

  const check = await checkOf(first.uuid)
  expect(Object.keys(check).toSorted()).toEqual(['checked_rules', 'passed', 'summary', 'violations'])
  expect(check).toMatchObject({ passed: false, checked_rules: expect.arrayContaining([ID, 'scope_exceeded']) })
  expect(check.violations).toMatchObject([
    {
      rule_id: ID,
      severity: 'error',
      resource: OPEN.address,
      message: expect.stringContaining('SSH'),
      suggested_fix: expect.any(String),
    },
    { rule_id: 'common.scope.outside-targets', severity: 'warning' },
  ])
  expect(check.summary).toMatch(
    /^Code checked \d+ rules: 1 error, 1 warning\. Blocking: aws\.network\.open-admin-port\. Audited\.$/,
  )
  expect(notified).toMatchObject([{ kind: 'iac.compliance.failed', body: check.summary }])
  expect(said(llm.of('report_compliance_findings')[0])).toContain(`error ${ID} ${OPEN.address}`)

  const later = goodLlm({ task_complete: [write('third.tf', ADDED.replace('second', 'third')), done('Third.')] })
  const passing = contextOf({ llm: later, changes: [] })
  expect(await nextRound(stack, passing.context, first.uuid, 'Close SSH')).toMatchObject({ is_blocked: false })
  expect(passing.notified).toEqual([])
  expect(await checkOf(first.uuid)).toMatchObject({ passed: true, summary: 'Audited.' })
  expect(said(later.of('report_compliance_findings')[0])).not.toContain('do not repeat them')
})
