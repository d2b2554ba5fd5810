import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { checkRules } from '../../../../pipeline/steps/plan/check-rules.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps, validPlan } from '../support.ts'

const steps = startOnce(createSteps)
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

const CODE = `resource "aws_sqs_queue_policy" "p" {
  policy = jsonencode({
    Statement = [{ Effect = "Allow", Principal = "*", Action = "sqs:*", Resource = aws_sqs_queue.q.arn }]
  })
}
`

async function idsWith(code: string | null): Promise<string[]> {
  const world = await steps.world()
  if (code !== null) {
    const folder = await mkdtemp(join(tmpdir(), 'check-rules-'))
    folders.push(folder)
    await writeFile(join(folder, 'main.tf'), code)
    await promisify(execFile)('git', ['init', '-q', folder])
    Object.assign(world.workspace, { clone: folder, iacRoot: folder, gitDirectory: join(folder, '.git') })
  }
  const change = { address: 'aws_sqs_queue_policy.p', type: 'aws_sqs_queue_policy', actions: ['create'], before: null }
  const plan = validPlan(world, [{ ...change, after: {}, after_unknown: { policy: true } }])
  return (await checkRules(world.kit, plan)).findings.map(({ rule_id }) => rule_id)
}

it('judges a policy that the plan does not know by the code of the round', async () => {
  expect(await idsWith(CODE)).toEqual(['aws.iam.public-resource-policy'])
  expect(await idsWith(CODE.replace('"*"', '{ Service = "sns.amazonaws.com" }'))).toEqual([])
})

it('tells the policy as unread when the code cannot be read', async () => {
  expect(await idsWith(null)).toEqual(['common.iam.unread-policy'])
})
