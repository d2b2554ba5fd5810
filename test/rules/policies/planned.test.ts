import { describe, expect, it } from 'vitest'
import { evaluateRules } from '../../../src/rules/evaluate.ts'
import { planWith } from '../../plan/fixtures.ts'

type Values = Record<string, unknown>

/** A data source as the provider plans it when it is read at the apply: unknown texts of a set are null. */
const document = (address: string, after: Values, unknown: Values = {}) => ({
  address,
  mode: 'data',
  type: 'aws_iam_policy_document',
  change: { actions: ['read'], before: null, after, after_unknown: { id: true, json: true, ...unknown } },
})
const statement = (more: Values) => ({
  actions: ['s3:GetObject'],
  condition: [],
  effect: null,
  not_actions: null,
  not_principals: [],
  not_resources: null,
  principals: [],
  resources: ['*'],
  sid: null,
  ...more,
})
const everyone = [{ type: '*', identifiers: ['*'] }]
const user = (address: string, key = 'policy', more: Values = {}) => ({
  address,
  change: { actions: ['create'], before: null, after: {}, after_unknown: { [key]: true }, ...more },
})
const refers = (address: string, to: string, key = 'policy') => ({
  address,
  mode: address.startsWith('data.') ? 'data' : 'managed',
  expressions: { [key]: { references: [`${to}.json`, to] } },
})

interface Parts {
  changes: unknown[]
  resources?: unknown[]
  calls?: Values
  state?: unknown[]
  code?: string
}

function findings({ changes, resources = [], calls = {}, state = [], code }: Parts) {
  const plan = planWith({
    resource_changes: changes,
    configuration: { root_module: { resources, module_calls: calls } },
    prior_state: { values: { root_module: { resources: state } } },
  })
  const files = code === undefined ? [] : [{ path: 'main.tf', text: code }]
  return evaluateRules(plan, { targets: [], grades: {}, code: files }).findings.map(
    ({ rule_id, resource }) => `${rule_id} ${resource}`,
  )
}

const DOCUMENT = 'data.aws_iam_policy_document.d'
const PUBLIC = 'aws.storage.public-bucket-policy aws_s3_bucket_policy.p'
const UNREAD = 'common.iam.unread-policy aws_s3_bucket_policy.p'

describe('a policy document that is read at the apply', () => {
  const policyOf = (after: Values, unknown: Values = {}) =>
    findings({
      changes: [
        document(DOCUMENT, { statement: [statement(after)] }, { statement: [unknown] }),
        user('aws_s3_bucket_policy.p'),
      ],
      resources: [refers('aws_s3_bucket_policy.p', DOCUMENT)],
    })

  it('is judged by its planned statements', () => {
    expect(policyOf({ principals: everyone, resources: [null] }, { resources: [true] })).toEqual([PUBLIC])
    expect(policyOf({ principals: [{ type: 'AWS', identifiers: ['arn:aws:iam::111122223333:root'] }] })).toEqual([])
  })

  it('is not judged where what counts is unknown, and that is told', () => {
    const narrowed = (variable: string) => ({
      principals: everyone,
      condition: [{ test: 'ArnEquals', variable, values: [null] }],
    })
    const unknown = { condition: [{ values: [true] }] }
    expect(policyOf(narrowed('aws:SourceArn'), unknown)).toEqual([UNREAD])
    expect(policyOf(narrowed('aws:RequestedRegion'), unknown)).toEqual([PUBLIC])
    expect(policyOf({ principals: everyone, condition: [] }, { condition: true })).toEqual([UNREAD])
    expect(policyOf({ principals: [] }, { principals: true })).toEqual([UNREAD])
  })

  it('takes an unknown principal of a known kind for the address of something', () => {
    const principals = [{ type: 'AWS', identifiers: [null] }]
    expect(policyOf({ principals }, { principals: [{ identifiers: [true] }] })).toEqual([])
  })

  it('is judged with the documents that it takes in, of which a later statement replaces one of its name', () => {
    const open = document(DOCUMENT, { statement: [statement({ sid: 'Read', principals: everyone })] })
    const merged = (more: Values, key: string) =>
      findings({
        changes: [
          open,
          document(
            'data.aws_iam_policy_document.e',
            { [key]: [null], statement: [statement(more)] },
            { [key]: [true] },
          ),
          user('aws_s3_bucket_policy.p'),
        ],
        resources: [
          refers('aws_s3_bucket_policy.p', 'data.aws_iam_policy_document.e'),
          refers('data.aws_iam_policy_document.e', DOCUMENT, key),
        ],
      })
    const owner = [{ type: 'AWS', identifiers: ['111122223333'] }]
    expect(merged({ sid: 'Write', principals: owner }, 'source_policy_documents')).toEqual([PUBLIC])
    expect(merged({ sid: 'Read', principals: owner }, 'source_policy_documents')).toEqual([])
    expect(merged({ sid: 'Read', principals: owner }, 'override_policy_documents')).toEqual([PUBLIC])
  })

  it('is found through inputs and outputs of modules, by their instances', () => {
    const admin = document('module.b["x.y"].data.aws_iam_policy_document.d', {
      statement: [statement({ actions: ['*'] })],
    })
    const calls = {
      a: {
        expressions: { policy: { references: ['module.b["x.y"].json', 'module.b["x.y"]', 'module.b'] } },
        module: {
          resources: [{ address: 'aws_iam_policy.p', expressions: { policy: { references: ['var.policy'] } } }],
        },
      },
      b: { module: { outputs: { json: { expression: { references: [`${DOCUMENT}.json`, DOCUMENT] } } } } },
    }
    const changes = [admin, user('module.a[0].aws_iam_policy.p')]
    expect(findings({ changes, calls })).toEqual(['aws.iam.admin-policy module.a[0].aws_iam_policy.p'])
  })

  it('is found in the state when it was read, and in the blocks of a role', () => {
    const json = JSON.stringify({ Statement: { Effect: 'Allow', Action: '*', Resource: '*' } })
    expect(
      findings({
        changes: [
          document('data.aws_iam_policy_document.e', { source_policy_documents: [json], statement: [] }),
          {
            address: 'aws_iam_role.r',
            change: {
              actions: ['create'],
              before: null,
              after: { inline_policy: [{ name: 'a' }] },
              after_unknown: { inline_policy: [{ policy: true }] },
            },
          },
        ],
        resources: [
          {
            address: 'aws_iam_role.r',
            expressions: { inline_policy: [{ policy: { references: ['data.aws_iam_policy_document.e.json'] } }] },
          },
        ],
      }),
    ).toEqual(['aws.iam.admin-policy aws_iam_role.r'])
  })
})

describe('a policy that the code writes', () => {
  const written = (code: string) =>
    findings({
      changes: [user('aws_s3_bucket_policy.p')],
      resources: [
        { address: 'aws_s3_bucket_policy.p', expressions: { policy: { references: ['aws_s3_bucket.b.arn'] } } },
      ],
      code,
    })
  const block = (value: string) => `resource "aws_s3_bucket_policy" "p" {\n  policy = ${value}\n}\n`
  const allow = (principal: string, more = '') =>
    `jsonencode({ Statement = [{ Effect = "Allow", Action = "s3:*", Resource = aws_s3_bucket.b.arn, Principal = ${principal}${more} }] })`

  it('is judged by its literals', () => {
    expect(written(block(allow('"*"')))).toEqual([PUBLIC])
    expect(written(block(allow('{ AWS = "111122223333" }')))).toEqual([])
    expect(
      written(
        block(
          `<<EOF\n{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "\${aws_s3_bucket.b.arn}/*"}}\nEOF`,
        ),
      ),
    ).toEqual([PUBLIC])
  })

  it('is judged through a local value', () => {
    const locals = `locals {\n  policy = ${allow('"*"')}\n}\n`
    expect(
      findings({
        changes: [user('aws_s3_bucket_policy.p')],
        resources: [{ address: 'aws_s3_bucket_policy.p', expressions: { policy: { references: ['local.policy'] } } }],
        code: `${locals}${block('local.policy')}`,
      }),
    ).toEqual([PUBLIC])
  })

  it('is told when a part that counts is no literal, and when there is nothing to read', () => {
    const ofTopic = ', Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.t.arn } }'
    expect(written(block(allow('"*"', ofTopic)))).toEqual([UNREAD])
    expect(written(block('templatefile("policy.json", { arn = aws_s3_bucket.b.arn })'))).toEqual([UNREAD])
    expect(written('')).toEqual([UNREAD])
  })

  it('is not looked for when the code does not set it', () => {
    const resources = [{ address: 'aws_s3_bucket.b', expressions: { bucket: { constant_value: 'b' } } }]
    expect(findings({ changes: [user('aws_s3_bucket.b')], resources })).toEqual([])
    const key = findings({ changes: [user('aws_kms_key.k')], resources: [{ address: 'aws_kms_key.k' }] })
    expect(key.filter((finding) => !finding.startsWith('aws.encryption.'))).toEqual([])
  })
})

it('counts the other policies that could not be read in one finding', () => {
  const addresses = Array.from({ length: 7 }, (_, index) => `aws_iam_policy.p${index}`)
  const resources = addresses.map((address) => ({ address, expressions: { policy: { references: ['local.p'] } } }))
  const plan = planWith({
    resource_changes: addresses.map((address) => user(address)),
    configuration: { root_module: { resources } },
  })
  const { findings: found } = evaluateRules(plan, { targets: [], grades: {} })
  expect(found).toEqual([
    expect.objectContaining({
      rule_id: 'common.iam.unread-policy',
      severity: 'info',
      resource: null,
      message: `A policy could not be read before the apply: ${addresses.slice(0, 5).join(', ')} and 2 more.`,
    }),
  ])
})
