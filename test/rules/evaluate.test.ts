import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePlan } from '../../src/plan/plan.ts'
import { evaluateRules } from '../../src/rules/evaluate.ts'
import { RULES } from '../../src/rules/index.ts'
import { planOf } from '../plan/fixtures.ts'
import { configured, constant, idsIn } from './support.ts'

const open = (port: number, source = '0.0.0.0/0') => ({
  from_port: port,
  to_port: port,
  protocol: 'tcp',
  cidr_blocks: [source],
})
const group = (...ingress: unknown[]) => ({ type: 'aws_security_group', after: { ingress } })
const whole = { targets: [], grades: {} }
const findingsIn = (changes: Parameters<typeof planOf>[0]) => evaluateRules(planOf(changes), whole).findings

describe('what counts as the doing of a plan', () => {
  const id = 'aws.network.open-admin-port'
  const updated = (before: unknown[], after: unknown[]) =>
    idsIn([{ ...group(...after), before: { ingress: before }, actions: ['update'] }])

  it('is what a new or a replaced object has', () => {
    expect(idsIn([{ ...group(open(22)), actions: ['create'] }])).toEqual([id])
    expect(idsIn([{ ...group(open(22)), before: { ingress: [open(22)] }, actions: ['delete', 'create'] }])).toContain(
      id,
    )
  })

  it('is what an update makes worse, not what it leaves as it was', () => {
    expect(updated([], [open(22)])).toEqual([id])
    expect(updated([open(22)], [open(22), open(443)])).toEqual([])
    expect(updated([open(22)], [open(22), open(3389)])).toEqual([id])
    expect(updated([open(22)], [open(22), { ...open(22, ''), ipv6_cidr_blocks: ['::/0'] }])).toEqual([id])
    expect(updated([open(22)], [])).toEqual([])
  })

  it('is nothing that is deleted, read, forgotten or left alone', () => {
    const before = { ingress: [open(22)] }
    expect(idsIn([{ type: 'aws_security_group', actions: ['delete'], before, after: null }])).not.toContain(id)
    for (const actions of [['no-op'], ['read'], ['forget']])
      expect(idsIn([{ ...group(open(22)), before, actions }])).toEqual([])
    expect(idsIn([{ ...group(open(22)), mode: 'data', actions: ['create'] }])).toEqual([])
    expect(idsIn([{ ...group(open(22)), deposed: 'abcd1234', actions: ['create'] }])).toEqual([])
  })
})

describe('findings', () => {
  it('have the form of the report, name the resource and suggest a fix', () => {
    const address = 'module.a.aws_security_group.web[0]'
    expect(findingsIn([{ address, ...group(open(22)), actions: ['create'] }])).toEqual([
      {
        rule_id: 'aws.network.open-admin-port',
        severity: 'error',
        resource: address,
        message: 'Administration is open to all IPv4 addresses: tcp 22 (SSH).',
        suggested_fix: expect.stringMatching(/bastion/),
      },
    ])
  })

  it('name the first five ports of a range, and the range itself where no known port is in it', () => {
    const messages = (from_port: number, to_port: number) => {
      const change = { ...group({ ...open(0), from_port, to_port }), actions: ['create'] }
      return findingsIn([change]).map(({ message }) => message)
    }
    const five = '20 (FTP), 21 (FTP), 22 (SSH), 23 (Telnet), 135 (RPC)'
    expect(messages(1, 1000)).toEqual([`Administration is open to all IPv4 addresses: tcp ${five} and 2 more.`])
    expect(messages(1, 2049)).toContain(`Administration is open to all IPv4 addresses: tcp ${five} and 3 more.`)
    expect(messages(1, 3000)).toContain(`Administration is open to all IPv4 addresses: tcp ${five} and 7 more.`)
    expect(messages(8000, 8010)).toEqual(['tcp ports 8000 to 8010 open to all IPv4 addresses.'])
    expect(messages(8000, 8000)).toEqual(['tcp port 8000 open to all IPv4 addresses.'])
  })

  it('says that earlier entries of an access list deny a part of what is open', () => {
    const entry = { cidr_block: '0.0.0.0/0', ipv6_cidr_block: '' }
    const ssh = { ...entry, rule_no: 10, action: 'deny', protocol: 'tcp', from_port: 22, to_port: 22 }
    const all = { ...entry, rule_no: 20, action: 'allow', protocol: '-1', from_port: 0, to_port: 0 }
    const messages = (...ingress: object[]) =>
      findingsIn([{ type: 'aws_network_acl', after: { ingress }, actions: ['create'] }]).map(({ message }) => message)
    expect(messages(all, ssh)).toEqual(['Every port is open to all IPv4 addresses, except what earlier entries deny.'])
    expect(messages(all, { ...ssh, rule_no: 30 })).toEqual(['Every port is open to all IPv4 addresses.'])
    expect(messages(all, { ...ssh, cidr_block: '10.0.0.0/8' })).toEqual(['Every port is open to all IPv4 addresses.'])
  })

  it('come the gravest first, in the order of the plan', () => {
    const all = { from_port: 0, to_port: 0, protocol: '-1', cidr_blocks: ['0.0.0.0/0'] }
    const findings = findingsIn([
      { address: 'a', ...group(open(8080)), actions: ['create'] },
      { address: 'b', ...group(open(22)), actions: ['create'] },
      { address: 'c', ...group(all), actions: ['create'] },
      { address: 'd', ...group(open(22)), actions: ['create'] },
    ])
    expect(findings.map(({ severity, resource }) => [severity, resource])).toEqual([
      ['critical', 'c'],
      ['error', 'b'],
      ['error', 'd'],
      ['info', 'a'],
    ])
  })

  it('count the same cause once and list no more than a hundred of one rule', () => {
    expect(idsIn([{ ...group(open(22), open(22)), actions: ['create'] }])).toHaveLength(1)
    const many = Array.from({ length: 130 }, () => ({ ...group(open(22)), actions: ['create'] }))
    const findings = findingsIn(many)
    expect(findings).toHaveLength(101)
    const message = '30 more findings of this rule.'
    expect(findings.at(-1)).toMatchObject({ resource: null, message, severity: 'error' })
  })

  it('never hold a value of the plan, marked sensitive or not', () => {
    const secret = 'Zq9-unmistakable'
    const url = `postgres://app:${secret}@db:5432/app`
    const plan = planOf(
      [
        {
          type: 'aws_db_instance',
          actions: ['create'],
          after: { password: secret, description: url },
          after_sensitive: { password: true },
        },
        { type: 'kubernetes_config_map', actions: ['create'], after: { data: { PASSWORD: secret, dsn: url } } },
        {
          type: 'google_project_iam_member',
          actions: ['create'],
          after: { role: 'roles/owner', member: `user:${secret}` },
        },
        {
          type: 'oci_identity_policy',
          actions: ['create'],
          after: { statements: [`Allow any-user to manage ${secret} in tenancy`] },
        },
      ],
      configured('aws_db_instance', { password: constant(secret) }),
    )
    const { findings } = evaluateRules(plan, whole)
    expect(findings.map(({ rule_id }) => rule_id)).toEqual(
      expect.arrayContaining([
        'common.secrets.literal-argument',
        'common.secrets.url-password',
        'common.secrets.plain-environment',
        'gcp.iam.project-owner',
        'oci.iam.any-user',
      ]),
    )
    expect(JSON.stringify(findings)).not.toContain(secret)
  })
})

describe('the operator', () => {
  const plan = planOf([{ ...group(open(22)), actions: ['create'] }])

  const id = 'aws.network.open-admin-port'
  const graded = (grade: 'warning' | 'off') => evaluateRules(plan, { targets: [], grades: { [id]: grade } })

  it('grades a rule anew', () => {
    const { findings, checked_rules } = graded('warning')
    expect(findings).toMatchObject([{ rule_id: id, severity: 'warning' }])
    expect(checked_rules).toContain(id)
  })

  it('switches a rule off', () => {
    const { findings, checked_rules } = graded('off')
    expect(findings).toEqual([])
    expect(checked_rules).not.toContain(id)
    expect(checked_rules).toContain('aws.network.open-all-ports')
  })

  it('sees as checked the rules for every cloud and for those of the plan', () => {
    const { checked_rules } = evaluateRules(plan, whole)
    expect(checked_rules).toEqual(RULES.map(({ id }) => id).filter((id) => /^(aws|common)\./.test(id)))
  })
})

/** Types and names that the rules read, so that random values reach the inner checks. */
const types = [
  ...new Set(RULES.flatMap((rule) => ('types' in rule ? (rule.types ?? []) : []))),
  'kubernetes_manifest',
  'kubectl_manifest',
]
const names = [
  ...['ingress', 'cidr_blocks', 'policy', 'spec', 'template', 'container', 'metadata', 'statements', 'rule'],
  ...['subject', 'role_ref', 'permissions', 'environment', 'data', 'manifest', 'yaml_body', 'kind', 'settings'],
  ...['access', 'from_port', 'protocol', 'password', '__proto__', 'constructor'],
]
/** Makes a configuration for the resources in the plan, so that rules about the code find blocks to read. */
const configuration = (value: fc.Arbitrary<unknown>) =>
  fc.record({
    root_module: fc.record({
      resources: fc.array(
        fc.record({
          address: fc.constantFrom('a', 'b', 'c'),
          expressions: fc.dictionary(fc.constantFrom(...names), value),
        }),
      ),
      variables: value,
      module_calls: fc.dictionary(fc.constantFrom(...names), fc.record({ expressions: value, module: value })),
    }),
    provider_config: value,
  })
const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>('*', '{"Statement":[{"Effect":"Allow"}]}', '0.0.0.0/0', 'ClusterRole', '[[[', -1, null),
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('json'), { maxKeys: 5 }),
  ),
})).json
const change = fc.record({
  address: fc.constantFrom('a', 'b', 'c', 'module.data.a', ''),
  type: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...types) },
    fc.constantFrom('__proto__', 'constructor', 'toString'),
    fc.string(),
  ),
  actions: fc.constantFrom<string[]>(['create'], ['update'], ['delete'], ['delete', 'create'], ['no-op'], []),
  before: value,
  after: value,
  after_unknown: value,
  after_sensitive: value,
})

describe('any plan', () => {
  it('is evaluated without a fault, with findings of the documented form only', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 5 }),
        fc.oneof(value, configuration(value)),
        fc.array(fc.string(), { maxLength: 3 }),
        (changes, code, targets) => {
          const { findings, checked_rules } = evaluateRules(planOf(changes, { configuration: code }), {
            targets,
            grades: {},
          })
          for (const finding of findings) {
            expect(checked_rules).toContain(finding.rule_id)
            expect(finding.message).not.toBe('')
          }
        },
      ),
      { numRuns: 400 },
    )
  })

  it('may be nested deeper than any code recurses', () => {
    const deep = (depth: number) => `${'{"spec":['.repeat(depth)}1${']}'.repeat(depth)}`
    const change = (after: string) =>
      `{"address":"a","type":"kubernetes_manifest","name":"a","change":{"actions":["create"],"after":${after}}}`
    const text =
      '{"format_version":"1.2",' +
      `"resource_changes":[${change(`{"manifest":{"kind":"Pod","spec":${deep(1_000)}}}`)},` +
      `${change(deep(1_000))}]}`
    expect(() => evaluateRules(parsePlan(text), whole)).not.toThrow()
  })

  it('may be large', () => {
    const policy = JSON.stringify({ Statement: [{ Effect: 'Allow', Action: ['s3:Get*'], Resource: '*' }] })
    const changes = Array.from({ length: 10_000 }, (_, index) =>
      index % 2 === 0
        ? { ...group(open(443), open(8080, '10.0.0.0/8')), actions: ['create'] }
        : {
            type: 'aws_iam_policy',
            actions: ['update'],
            before: { policy },
            after: { policy, tags: { note: 'x'.repeat(500) } },
          },
    )
    expect(findingsIn(changes)).toEqual([])
  })

  it('may hold texts made to keep a search busy', () => {
    const texts = [
      'a://'.repeat(40_000),
      `${'a'.repeat(200_000)}@`,
      `postgres://${'a:'.repeat(90_000)}`,
      '-----BEGIN '.repeat(15_000),
      `AKIA${'A'.repeat(190_000)}`,
      '{{'.repeat(90_000),
    ]
    const data = Object.fromEntries(texts.map((text, index) => [`PASSWORD_${index}_TOKEN`, text]))
    const started = evaluateRules(
      planOf([{ type: 'kubernetes_config_map', actions: ['create'], after: { data } }]),
      whole,
    )
    expect(started.checked_rules).toContain('common.secrets.known-token')
  })
})

describe('a rule that is told once a plan', () => {
  const rule = 'aws.logging.missing'
  const silent = (address: string) => ({ address, type: 'aws_lb', actions: ['create'], after: { access_logs: [] } })
  const findingsOf = (...changes: Parameters<typeof planOf>[0]) =>
    evaluateRules(planOf(changes), { targets: [], grades: {} }).findings.filter(({ rule_id }) => rule_id === rule)

  it('counts the resources in one finding', () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => silent(`aws_lb.${name}`))
    expect(findingsOf(...many)).toMatchObject([
      { resource: null, message: '6 resources: aws_lb.a, aws_lb.b, aws_lb.c, aws_lb.d, aws_lb.e and 1 more.' },
    ])
  })

  it('names a single resource', () => {
    expect(findingsOf(silent('aws_lb.a'))).toMatchObject([{ resource: 'aws_lb.a' }])
  })
})

it('a recorder is started by a status in the same plan', () => {
  const recorder = { type: 'aws_config_configuration_recorder', actions: ['create'], after: { name: 'r' } }
  const status = { type: 'aws_config_configuration_recorder_status', actions: ['create'], after: { is_enabled: true } }
  expect(idsIn([recorder])).toContain('aws.evidence.not-started')
  expect(idsIn([recorder, status])).not.toContain('aws.evidence.not-started')
})
