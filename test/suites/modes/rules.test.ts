import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { withNotifications } from './apply-world.ts'
import { textsOf } from './artifacts.ts'
import { GATES, goodLlm, THIRD } from './scripts.ts'
import { firstRound, nextRound, startStack, withChanges } from './stack.ts'

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

const checkOf = async (uuid: string) => JSON.parse((await textsOf(stack, uuid, 'check')).at(-1) ?? 'null')

it('a finding of code locks although the model found nothing, tells staff, and a later round that passes unlocks', async () => {
  const llm = goodLlm()
  const noted = withNotifications(stack.context(llm, { orchestration: GATES }))
  const first = await firstRound(stack, withChanges(noted.context, OPEN))
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
  expect(noted.sent).toMatchObject([{ kind: 'iac.compliance.failed', body: check.summary }])
  expect(said(llm.of('report_compliance_findings')[0])).toContain(`error ${ID} ${OPEN.address}`)

  const later = goodLlm(THIRD)
  const passing = withNotifications(stack.context(later, { orchestration: GATES }))
  expect(await nextRound(stack, passing.context, first.uuid, 'Close SSH')).toMatchObject({ is_blocked: false })
  expect(passing.sent).toEqual([])
  expect(await checkOf(first.uuid)).toMatchObject({ passed: true, summary: 'Audited.' })
  expect(said(later.of('report_compliance_findings')[0])).not.toContain('do not repeat them')
})
