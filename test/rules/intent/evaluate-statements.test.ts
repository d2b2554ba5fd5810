import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Plan, parsePlan } from '../../../src/plan/plan.ts'
import { evaluateStatements } from '../../../src/rules/intent/evaluate-statements.ts'
import { readStatements } from '../../../src/rules/intent/statement.ts'
import { changesJson, planOf } from '../../plan/fixtures.ts'

/** Returns what is found of statements with these fields. */
const judge = (plan: Plan, ...fields: object[]) =>
  evaluateStatements(readStatements(fields.map((one) => ({ text: 'x', ...one }))).statements, plan)

/** Returns the verdict on one statement, after checking that the statement can be read. */
function verdict(fields: Record<string, unknown>, plan: Plan, cumulative = false): string {
  const { statements, faults } = readStatements([{ text: 'A statement', words: '', ...fields }])
  expect(faults).toEqual([])
  const [result] = evaluateStatements(statements, plan, { cumulative })
  return result?.verdict ?? 'none'
}

const create = (address: string, after: unknown, rest = {}) => ({
  address,
  type: address.replace(/^(module\.[^.]+\.)+/, '').split('.')[0] ?? '',
  actions: ['create'],
  after,
  ...rest,
})
const buckets = planOf(
  [
    create('aws_s3_bucket.logs["a"]', {
      bucket: 'acme-logs-a',
      force_destroy: false,
      tags: { Team: 'core', 'a.b/c': 'x' },
    }),
    create('module.store["eu"].aws_s3_bucket.logs[0]', { bucket: 'acme-logs-b', force_destroy: true, tags: null }),
    create(
      'aws_s3_bucket_lifecycle_configuration.logs',
      {
        rule: [
          { status: 'Enabled', expiration: [{ days: 30 }] },
          { status: 'Disabled', expiration: [{ days: 90 }] },
        ],
      },
      { after_unknown: { id: true, bucket: true } },
    ),
    create('aws_iam_policy.reader', { policy: '{"Statement":[{"Action":["s3:GetObject"],"Effect":"Allow"}]}' }),
    create('aws_db_instance.main', { password: 'S3cret!', port: 5432 }, { after_sensitive: { password: true } }),
    {
      address: 'aws_sqs_queue.old',
      type: 'aws_sqs_queue',
      actions: ['delete', 'create'],
      before: {},
      after: { name: 'old' },
    },
    { address: 'aws_vpc.main', type: 'aws_vpc', actions: ['no-op'], before: {}, after: { cidr_block: '10.0.0.0/16' } },
  ],
  {
    configuration: {
      provider_config: { aws: { name: 'aws' } },
      root_module: {
        outputs: { bucket_name: {} },
        resources: [
          {
            address: 'aws_s3_bucket_lifecycle_configuration.logs',
            type: 'x',
            expressions: { bucket: { references: ['a'] } },
          },
        ],
      },
    },
  },
)

describe('resource_count', () => {
  const count = (fields: Record<string, unknown>) =>
    verdict({ kind: 'resource_count', type: 'aws_s3_bucket', ...fields }, buckets)

  it.each([
    [{ action: 'create', op: 'at_least', value: 2 }, 'met'],
    [{ action: 'create', op: 'eq', value: '2' }, 'met'],
    [{ action: 'create', op: 'at_least', value: 3 }, 'unmet'],
    [{ action: 'delete', op: 'at_most', value: 0 }, 'met'],
    [{ op: 'at_most', value: 1 }, 'unmet'],
    [{ type: 'AWS_S3_*', action: 'create', op: 'eq', value: 3 }, 'met'],
    [{ type: 'resource.aws_s3_bucket', op: 'eq', value: 2 }, 'met'],
    [{ type: 'aws_s3_bucket|aws_vpc', op: 'eq', value: 3 }, 'met'],
    [{ type: 'aws_sqs_queue', action: 'recreate', op: 'eq', value: 1 }, 'met'],
    [{ address: 'module.store', op: 'eq', value: 1 }, 'met'],
    [{ address: 'aws_s3_bucket.logs', op: 'eq', value: 1 }, 'met'],
  ])('%j is %s', (fields, expected) => expect(count(fields)).toBe(expected))

  it('counts only what its conditions hold for', () => {
    const where = [{ path: 'bucket', op: 'matches', value: 'acme-*-b' }]
    expect(count({ op: 'eq', value: 1, where })).toBe('met')
    expect(count({ op: 'at_least', value: 1, where: [{ path: 'force_destroy', op: 'eq', value: 'true' }] })).toBe('met')
    expect(count({ op: 'at_least', value: 1, where: [{ path: 'no_such_attribute', op: 'exists' }] })).toBe('unknown')
  })

  it('does not judge types of providers that the plan does not have, nor names the generator chose', () => {
    expect(count({ type: 'google_storage_bucket', op: 'at_least', value: 1 })).toBe('unknown')
    expect(count({ type: 'aws_lambda_function', op: 'at_least', value: 1 })).toBe('unmet')
    expect(count({ name: 'archive', op: 'at_least', value: 1 })).toBe('unknown')
  })

  it('does not judge types that the providers do not have, where their types are known', () => {
    const { statements } = readStatements([
      { kind: 'resource_count', text: 'x', type: 'aws_bucket_s3', op: 'at_least', value: 1 },
    ])
    const types = ['aws_s3_bucket']
    expect(evaluateStatements(statements, buckets).map((result) => result.verdict)).toEqual(['unmet'])
    expect(evaluateStatements(statements, buckets, { types }).map((result) => result.verdict)).toEqual(['unknown'])
    expect(evaluateStatements(statements, buckets, { types: [...types, 'aws_bucket_s3'] })[0]?.verdict).toBe('unmet')
  })

  it('knows resources that only the planned values list', () => {
    const resources = [
      { address: 'aws_vpc.a', mode: 'managed', type: 'aws_vpc', name: 'a', values: { cidr_block: '10.0.0.0/8' } },
    ]
    const nested = { address: 'module.m', resources: [{ ...resources[0], address: 'module.m.aws_vpc.b' }] }
    const plan = planOf([], { planned_values: { root_module: { resources, child_modules: [nested] } } })
    expect(verdict({ kind: 'resource_count', type: 'aws_vpc', op: 'eq', value: 2 }, plan)).toBe('met')
  })
})

describe('attribute', () => {
  const attribute = (fields: Record<string, unknown>) => verdict({ kind: 'attribute', ...fields }, buckets)
  const lifecycle = { type: 'aws_s3_bucket_lifecycle_configuration' }

  it.each([
    [{ type: 'aws_s3_bucket', path: 'bucket', op: 'contains', value: 'LOGS-a' }, 'met'],
    [{ type: 'aws_s3_bucket', path: 'bucket', op: 'eq', value: 'other' }, 'unmet'],
    [{ type: 'aws_s3_bucket', path: 'force_destroy', op: 'eq', value: 'false', every: true }, 'unmet'],
    [{ type: 'aws_s3_bucket', path: 'force_destroy', op: 'ne', value: true }, 'unmet'],
    [{ type: 'aws_s3_bucket', path: 'tags["a.b/c"]', op: 'eq', value: 'x' }, 'met'],
    [{ type: 'aws_s3_bucket', path: 'tags', op: 'contains', value: 'team' }, 'met'],
    [{ type: 'aws_s3_bucket', path: 'encryption', op: 'exists' }, 'unknown'],
    [{ ...lifecycle, path: 'rule.expiration.days', op: 'at_least', value: '90' }, 'met'],
    [{ ...lifecycle, path: 'rule[0].expiration[0].days', op: 'at_least', value: 90 }, 'unmet'],
    [{ ...lifecycle, path: 'rule[0].expiration[0].days', op: 'eq', value: '30.0' }, 'met'],
    [{ ...lifecycle, path: 'rule[0].expiration[0].days', op: 'eq', value: 'thirty' }, 'unmet'],
    [{ ...lifecycle, path: 'rule[*].status', op: 'eq', value: 'enabled' }, 'met'],
    [{ ...lifecycle, path: 'rule.status', op: 'at_most', value: 3 }, 'unknown'],
    [{ ...lifecycle, path: 'bucket', op: 'exists' }, 'met'],
    [{ ...lifecycle, path: 'bucket', op: 'eq', value: 'x' }, 'unknown'],
    [{ ...lifecycle, path: 'id', op: 'absent' }, 'unknown'],
    [{ type: 'aws_iam_policy', path: 'policy.Statement.Action', op: 'contains', value: 's3:getobject' }, 'met'],
    [{ type: 'aws_iam_policy', path: 'policy.Statement.Action', op: 'not_contains', value: '*' }, 'met'],
    [{ type: 'aws_vpc', path: 'cidr_block', op: 'matches', value: '10.?.0.0/*' }, 'met'],
    [{ address: 'aws_vpc.main', path: 'cidr_block', op: 'matches', value: '10' }, 'unmet'],
    [{ type: 'aws_lambda_function', path: 'memory_size', op: 'at_least', value: 1 }, 'unmet'],
    [{ type: 'aws_lambda_function', path: 'vpc_config', op: 'absent' }, 'met'],
    [{ type: 'azurerm_lb', path: 'sku', op: 'eq', value: 'x' }, 'unknown'],
  ])('%j is %s', (fields, expected) => expect(attribute(fields)).toBe(expected))

  it('tells that a sensitive value is there, never what it is or whether it is equal', () => {
    const secret = { kind: 'attribute', text: 'x', type: 'aws_db_instance', path: 'password' }
    expect(attribute({ ...secret, op: 'eq', value: 'S3cret!' })).toBe('unknown')
    expect(attribute({ ...secret, op: 'matches', value: 'S*' })).toBe('unknown')
    expect(attribute({ ...secret, op: 'exists' })).toBe('met')
    const judged = judge(buckets, { ...secret, op: 'ne', value: 'x' }, { ...secret, op: 'absent' })
    expect(JSON.stringify(judged)).not.toContain('S3cret!')
  })

  it('tells apart an attribute that only the code or only the engine knows from one that nobody has', () => {
    const found = (path: string, op = 'exists') =>
      judge(outsideValues, { kind: 'attribute', ...lifecycle, path, op }).map((one) => [one.verdict, one.finding])
    const outsideValues = planOf([create(`${lifecycle.type}.logs`, {}, { after_unknown: { id: true } })], {
      configuration: {
        root_module: {
          resources: [{ address: `${lifecycle.type}.logs`, expressions: { transition: { constant_value: null } } }],
        },
      },
    })
    const tells = (text: string) => `${lifecycle.type}.logs: ${text}`
    expect(found('ID')).toEqual([['unknown', tells('ID is a value known only after apply')]])
    expect(found('transition')).toEqual([['unmet', tells('transition is nothing')]])
    expect(found('transition', 'absent')).toEqual([['met', tells('transition is nothing')]])
    expect(found('transitions')).toEqual([['unknown', tells('transitions is no attribute transitions')]])
  })

  it('shows what stands there, one value as itself, long ones up to 120 characters', () => {
    const statement = { kind: 'attribute', type: 'aws_x', path: 'a', op: 'exists' }
    const shown = (value: unknown) => judge(planOf([create('aws_x.y', { a: value })]), statement)[0]?.finding
    expect(shown('x')).toBe('aws_x.y: a is "x"')
    expect(shown(['x', 'y'])).toBe('aws_x.y: a is ["x","y"]')
    expect(shown('x'.repeat(118))).toBe(`aws_x.y: a is "${'x'.repeat(118)}"`)
    expect(shown('x'.repeat(119))).toBe(`aws_x.y: a is "${'x'.repeat(119)}…`)
  })

  it('looks at what changes where anything does', () => {
    const plan = planOf([
      {
        address: 'aws_ebs_volume.old',
        type: 'aws_ebs_volume',
        actions: ['no-op'],
        before: {},
        after: { encrypted: true },
      },
      create('aws_ebs_volume.new', { encrypted: false }),
    ])
    const encrypted = { kind: 'attribute', type: 'aws_ebs_volume', path: 'encrypted', op: 'eq', value: 'true' }
    expect(verdict(encrypted, plan)).toBe('unmet')
  })
})

describe('what must stay', () => {
  const moved = planOf([
    {
      address: 'aws_vpc.b',
      previous_address: 'aws_vpc.a',
      type: 'aws_vpc',
      actions: ['update'],
      before: {},
      after: {},
    },
    create('aws_subnet.new', {}),
  ])

  it.each([
    [{ kind: 'unchanged', address: 'aws_vpc.a' }, 'unmet'],
    [{ kind: 'unchanged', type: 'aws_vpc' }, 'unmet'],
    [{ kind: 'unchanged', type: 'aws_subnet' }, 'met'],
    [{ kind: 'unchanged', address: 'module.other' }, 'met'],
    [{ kind: 'no_deletions' }, 'met'],
    [{ kind: 'no_changes_outside', types: ['aws_subnet'] }, 'unmet'],
    [{ kind: 'no_changes_outside', types: ['aws_subnet'], addresses: ['aws_vpc.b'] }, 'met'],
  ])('%j is %s', (fields, expected) => expect(verdict(fields, moved)).toBe(expected))

  it('counts replacements as deletions, and blames no earlier round', () => {
    expect(verdict({ kind: 'no_deletions' }, buckets)).toBe('unmet')
    expect(verdict({ kind: 'no_deletions' }, buckets, true)).toBe('unknown')
    expect(verdict({ kind: 'unchanged', address: 'aws_vpc.a' }, moved, true)).toBe('unknown')
    const count = { kind: 'resource_count', type: 'aws_s3_bucket', action: 'create', op: 'eq' }
    expect(verdict({ ...count, value: 1 }, buckets, true)).toBe('unknown')
    expect(verdict({ ...count, value: 3 }, buckets, true)).toBe('unmet')
  })

  it('finds outputs in the code', () => {
    expect(verdict({ kind: 'output_exists', name: 'bucket_*' }, buckets)).toBe('met')
    expect(verdict({ kind: 'output_exists', name: 'queue_url' }, buckets)).toBe('unmet')
    expect(verdict({ kind: 'output_exists', name: 'queue_url' }, planOf([]))).toBe('unknown')
  })
})

describe('a plan of the engine', () => {
  it('is understood', () => {
    const plan = parsePlan(changesJson)
    const type = 'terraform_data'
    expect(verdict({ kind: 'resource_count', type, action: 'create', op: 'at_least', value: 1 }, plan)).toBe('met')
    expect(verdict({ kind: 'attribute', type, path: 'id', op: 'eq', value: 'x' }, plan)).not.toBe('met')
  })
})

describe('hostile input', () => {
  it('takes no time, whatever the pattern', () => {
    const plan = planOf([create('aws_x.y', { text: 'a'.repeat(9_999) })])
    const matches = { kind: 'attribute', type: 'aws_x', path: 'text', op: 'matches' }
    expect(verdict({ ...matches, value: `${'*a'.repeat(140)}b` }, plan)).toBe('unmet')
    expect(verdict({ ...matches, value: '(a+)+$' }, plan)).toBe('unmet')
  })

  it('never makes the evaluation throw', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    const path = fc.constantFrom('a', 'a.b[0].c', '*', '["x"]', '[', '].', '__proto__.constructor', '')
    const statement = fc.record({
      kind: fc.constantFrom(
        'resource_count',
        'attribute',
        'unchanged',
        'no_deletions',
        'no_changes_outside',
        'output_exists',
        'other',
      ),
      text: fc.string(),
      type: fc.constantFrom('aws_x', 'toString', '*', '', null),
      name: fc.string(),
      op: fc.constantFrom('eq', 'ne', 'contains', 'not_contains', 'matches', 'exists', 'absent', 'at_least', 'at_most'),
      path,
      value: fc.oneof(fc.string(), fc.integer(), fc.boolean(), json),
      types: fc.oneof(fc.array(fc.string()), json),
      where: fc.oneof(fc.array(fc.record({ path, op: fc.constantFrom('eq', 'at_least'), value: fc.string() })), json),
    })
    const change = fc.record({
      address: fc.constantFrom('aws_x.a', 'module.m["k"].aws_x.b[0]', ''),
      type: fc.constantFrom('aws_x', 'toString', ''),
      actions: fc.array(fc.constantFrom('create', 'delete', 'update', 'no-op', 'forget', 'x')),
      after: json,
      after_unknown: json,
      after_sensitive: json,
    })
    const rest = fc.record({ planned_values: json, configuration: json, prior_state: json })
    fc.assert(
      fc.property(
        fc.array(statement, { maxLength: 5 }),
        fc.array(change, { maxLength: 4 }),
        rest,
        (list, changes, others) => {
          const { statements } = readStatements(list)
          const results = evaluateStatements(statements, planOf(changes, others))
          expect(results.map(({ statement: { id } }) => id)).toEqual(statements.map(({ id }) => id))
        },
      ),
      { numRuns: 300 },
    )
  })
})
