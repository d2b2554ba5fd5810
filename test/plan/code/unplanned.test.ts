import { describe, expect, it } from 'vitest'
import { findChangedBlocks, presentBlocks } from '../../../src/plan/code/compare.ts'
import {
  type ChangedFile,
  changesValues,
  describeUnplanned,
  explainEmptyPlan,
} from '../../../src/plan/code/unplanned.ts'
import { parsePlan } from '../../../src/plan/plan.ts'
import { versionsOf } from './versions.ts'

const BEFORE = 'resource "terraform_data" "a" {\n  input = "x"\n}\n'
const STATE = { values: { root_module: { resources: [{ address: 'terraform_data.a', mode: 'managed' }] } } }
const NO_OP = { address: 'terraform_data.a', change: { actions: ['no-op'], before: {}, after: {} } }

const plan = (more: object = {}) =>
  parsePlan(JSON.stringify({ format_version: '1.2', resource_changes: [NO_OP], prior_state: STATE, ...more }))

/** Explains the plan of a root to whose `main.tf` these lines are added. */
function explain(added: string, { more = {}, targets = [] as string[], uses = '' } = {}): string | null {
  const after = { 'main.tf': `${BEFORE}${added}\n`, 'uses.tf': uses }
  const versions = versionsOf({ 'main.tf': BEFORE, 'uses.tf': uses }, after)
  const changed: ChangedFile[] = [{ path: 'main.tf', kind: 'loaded' }]
  const files = Object.entries(after).map(([path, text]) => ({ path, text }))
  const known = { blocks: findChangedBlocks(versions), present: presentBlocks(versions, files) }
  return explainEmptyPlan(plan(more), { ...known, changed, targets })
}

describe('why changed code changes nothing', () => {
  it.each([
    ['variable "v" {}', {}, '`variable.v` is used by nothing'],
    [
      'variable "v" {}',
      { uses: 'output "o" {\n  value = var.v\n}\n' },
      '`variable.v` gives no planned resource another value',
    ],
    [
      'variable "v" {\n  validation {\n    condition     = var.v > 1\n    error_message = "x"\n  }\n}',
      {},
      '`variable.v` is used by nothing',
    ],
    ['locals {\n  l = 1\n}', {}, '`local.l` is used by nothing'],
    [
      'moved {\n  from = terraform_data.z\n  to = terraform_data.a\n}',
      {},
      '`moved` finds nothing to move in the state',
    ],
    ['output "o" {\n  value = 1\n}', {}, '`output.o` is an output, which is no resource'],
    [
      'resource "terraform_data" "b" {}',
      { targets: ['terraform_data.a'] },
      '`terraform_data.b` is not among the targets of the plan',
    ],
    ['module "m" {\n  source = "./m"\n}', {}, '`module.m` has no instances in the plan'],
    [
      'resource "terraform_data" "a" {\n  secret_wo = "new"\n  secret_wo_version = 1\n}',
      {},
      '`terraform_data.a` has the values that the state has, `secret_wo` apart: no state holds a write-only argument, ' +
        'and the engine sends a new value only with a change of another one, such as `secret_wo_version`',
    ],
    ['unheard "of" {}', {}, '`unheard.of` (why it changes nothing cannot be told)'],
  ])('%s', (added, options, clause) => {
    expect(explain(added, options)).toBe(`The code changed, and the plan changes nothing: ${clause}.`)
  })

  it('tells of outputs that change, and nothing of a plan that changes a resource', () => {
    const output = 'output "o" {\n  value = 1\n}'
    expect(explain(output, { more: { output_changes: { o: { actions: ['create'] } } } })).toBe(
      'The code changed, and the plan changes outputs and no resource: `output.o` is an output, which is no resource.',
    )
    const created = { address: 'terraform_data.b', change: { actions: ['create'], before: null, after: {} } }
    expect(explain(output, { more: { resource_changes: [created] } })).toBeNull()
  })
})

it('names what the plan does not cover, and takes comments for no change of values', () => {
  const changed: ChangedFile[] = [
    { path: 'main.tf', kind: 'loaded' },
    { path: 'dev/main.tf', kind: 'elsewhere' },
    { path: 'README.md', kind: 'other' },
  ]
  expect(describeUnplanned(changed)).toBe('Changed, but not planned, since this root does not load it: `dev/main.tf`.')
  expect(describeUnplanned([{ path: 'README.md', kind: 'other' }])).toBeNull()
  expect(changesValues(changed, [])).toBe(false)
  expect(changesValues([{ path: 'main.tf', kind: 'loaded', isUnread: true }], [])).toBe(true)
  expect(changesValues([{ path: 'prod.tfvars', kind: 'values' }], [])).toBe(true)
})
