import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { withNotifications } from './apply-world.ts'
import { textsOf } from './artifacts.ts'
import { ADDED, done, GATES, goodLlm, THIRD, write } from './scripts.ts'
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

it('what a rule would lock for goes back to the author once, with what to do, and is mended', async () => {
  const secret = ADDED.replace('hello again', `ghp_${'a1B2c3D4e5'.repeat(4)}`)
  const llm = goodLlm({
    task_complete: [write('second.tf', secret), done('First.'), write('second.tf', ADDED), done('Second.')],
  })
  const session = await firstRound(stack, stack.context(llm, { orchestration: GATES }))
  expect(session.is_blocked).toBe(false)
  expect(session.statuses.filter((status) => status === 'generating')).toHaveLength(2)
  const told = String(llm.of('task_complete')[2]?.messages.at(-1)?.content)
  expect(told).toContain('rules of the platform find in its plan what would lock the session')
  expect(told).toContain('common.secrets.known-token terraform_data.second')
  expect(told).toContain('Rotate the secret')
  expect(await checkOf(session.uuid)).toMatchObject({ passed: true })
})

it('goes back to nobody where nothing locks', async () => {
  const llm = goodLlm()
  const context = stack.context(llm, { orchestration: { ...GATES, enable_compliance_checker: false } })
  const session = await firstRound(stack, withChanges(context, OPEN))
  expect(session.is_blocked).toBe(false)
  expect(llm.of('task_complete')).toHaveLength(2)
})
