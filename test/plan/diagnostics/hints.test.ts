import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'
import { blockPathAt, hintFor, readDeclarations, type Surroundings } from '../../../src/plan/diagnostics/hints.ts'
import type { Block } from '../../../src/plan/schema/read-schema.ts'
import { diagnosticOf } from './support.ts'

const NETWORK = readDeclarations([
  'variable "name" {}\nvariable "cidr" {}\noutput "vpc_id" {}\noutput "subnet_ids" {}\n',
])
const ROOT = `locals {
  region = "eu"
  tags = {
    team = "a { b"
  }
}
variable "days" {}
module "net" {
  source = "./net"
}
resource "aws_s3_bucket" "logs" {
  rule {
    expiration {
      dayz = 7
    }
  }
  dynamic "rule" {
    content {
      idd = 1
    }
  }
  tags = {
    foo = 1
  }
}
data "aws_vpc" "main" {}
ephemeral "random_password" "db" {}
output "v" { value = module.net["a"].vpcid }
output "w" { value = aws_s3_bucket.logs.arm }
`
const BUCKET: Block = {
  attributes: {
    bucket: { required: true },
    region: { required: true },
    tags: { optional: true },
    arn: { computed: true },
  },
  block_types: {
    rule: {
      block: {
        attributes: { id: { optional: true } },
        block_types: { expiration: { block: { attributes: { days: { optional: true } } } } },
      },
    },
  },
}
const at: Surroundings = {
  text: ROOT,
  declared: async () => readDeclarations([ROOT]),
  declaredIn: async (module) => (module === 'net' ? NETWORK : null),
  types: async () => ({
    resource: ['aws_s3_bucket', 'aws_s3_object', 'aws_vpc'],
    data: ['aws_vpc'],
    ephemeral: ['random_password'],
  }),
  block: async ({ type }) => (type === 'aws_s3_bucket' ? BUCKET : null),
  providers: async () => [{ source: 'hashicorp/aws', version: '5.73.0' }],
}
const error = (detail: string, more: Partial<Diagnostic> = {}): Diagnostic =>
  diagnosticOf({ detail, file: 'main.tf', line: 1, ...more })
const NO_VPCID = 'This object does not have an attribute named "vpcid".'
const [VARIABLE, LOCAL] = ['An input variable', 'A local value']
const undeclared = (kind: string, name: string) => error(`${kind} with the name "${name}" has not been declared.`)
const unexpected = (name: string, more: Partial<Diagnostic>) =>
  error(`An argument named "${name}" is not expected here.`, more)
const noModule = (name: string) => error(`No module call named "${name}" is declared in the root module.`)
const noResource = (type: string, name: string) =>
  error(`A managed resource "${type}" "${name}" has not been declared in the root module.`)
const noType = (kind: string, type: string) => error(`The provider hashicorp/x does not support ${kind} "${type}".`)
const inBucket = (line: number) => ({ context: 'resource "aws_s3_bucket" "logs"', line })

describe('hints', () => {
  it.each<[string, Diagnostic, string]>([
    ['the outputs of a module', error(NO_VPCID), 'outputs of module.net: vpc_id, subnet_ids.'],
    [
      'the variables of a module',
      unexpected('foo', { context: 'module "net"' }),
      'variables of module.net: name, cidr.',
    ],
    [
      'attributes of a resource',
      error('This object has no argument, nested block, or exported attribute named "arm".'),
      'nearest attributes of aws_s3_bucket: arn.',
    ],
    ['arguments of a resource', unexpected('buket', inBucket(10)), 'nearest arguments of aws_s3_bucket: bucket.'],
    [
      'arguments of a nested block',
      unexpected('dayz', inBucket(14)),
      'nearest arguments of aws_s3_bucket.rule.expiration: days.',
    ],
    ['arguments of a dynamic block', unexpected('idd', inBucket(19)), 'nearest arguments of aws_s3_bucket.rule: id.'],
    [
      'the block into which an argument belongs',
      unexpected('days', inBucket(11)),
      'aws_s3_bucket takes days inside of its block rule.expiration.',
    ],
    [
      'all that is taken where nothing is alike',
      error('Blocks of type "zzzzzz" are not expected here.', inBucket(11)),
      'arguments of aws_s3_bucket: bucket, region, tags, rule.',
    ],
    [
      'everything that is required',
      error('The argument "bucket" is required, but no definition was found.', inBucket(11)),
      'aws_s3_bucket requires bucket, region.',
    ],
    ['declared variables', undeclared(VARIABLE, 'dais'), 'declared input variables: days.'],
    ['declared local values', undeclared(LOCAL, 'regio'), 'declared local values: region, tags.'],
    [
      'a variable of the name of a local value',
      undeclared(LOCAL, 'days'),
      '`var.days` exists. declared local values: region, tags.',
    ],
    [
      'a local value of the name of a variable, beside what the engine suggests',
      error('An input variable with the name "tags" has not been declared. Did you mean "days"?'),
      '`local.tags` exists.',
    ],
    [
      'a module of the name of a local value',
      undeclared(LOCAL, 'net'),
      '`module.net` exists. declared local values: region, tags.',
    ],
    ['a resource of the name of a module', noModule('logs'), '`aws_s3_bucket.logs` exists. declared modules: net.'],
    [
      'an output of the name of a variable',
      undeclared(VARIABLE, 'w'),
      'an output w exists, which code of its own module cannot refer to. declared input variables: days.',
    ],
    ['a variable that is taken for a resource', noResource('variable', 'days'), '`var.days` exists.'],
    ['declared modules', noModule('nett'), 'declared modules: net.'],
    ['declared resources', noResource('aws_s3_bucket', 'log'), 'declared resources: aws_s3_bucket.logs.'],
    [
      'a data source that is taken for a resource',
      noResource('aws_vpc', 'main'),
      'declared resources: data.aws_vpc.main.',
    ],
    [
      'an ephemeral resource that is taken for a managed one',
      noResource('random_password', 'db'),
      'declared resources: ephemeral.random_password.db.',
    ],
    ['ephemeral types', noType('ephemeral resource', 'random_pasword'), 'nearest types: random_password.'],
    ['types', noType('resource type', 'aws_s3_buket'), 'nearest types: aws_s3_bucket, aws_s3_object.'],
    ['the nearest type first', noType('resource type', 'aws_s3_objet'), 'nearest types: aws_s3_object, aws_s3_bucket.'],
  ])('name %s', async (_, diagnostic, hint) => {
    expect(await hintFor(diagnostic, at)).toBe(`Hint: ${hint}`)
  })

  it.each<[string, Diagnostic]>([
    [
      'the engine has a suggestion',
      error('An argument named "buket" is not expected here. Did you mean "bucket"?', inBucket(10)),
    ],
    ['the module is not in the repository', error('This object does not have an attribute named "else".')],
    ['no schema is at hand', unexpected('x', { context: 'resource "b_c" "d"', line: 11 })],
    ['nothing like it is declared', noResource('x', 'y')],
    ['the words are unknown', error('Something else.')],
  ])('are empty when %s', async (_, diagnostic) => {
    expect(await hintFor(diagnostic, at)).toBe('')
  })

  it('name the installed providers where one cannot be installed', async () => {
    const detail =
      'Could not retrieve the list of available versions for provider hashicorp/random:\n' +
      'could not connect to registry.terraform.io: dial tcp: no such host'
    const failed = error(detail, { summary: 'Failed to query available provider packages' })
    expect(await hintFor(failed, at)).toBe(
      'Hint: the provider hashicorp/random cannot be installed here as the code asks for it. Installed: ' +
        'hashicorp/aws 5.73.0. terraform_data needs no provider. If only the code of this session uses it, write that ' +
        'code without it.',
    )
    expect(await hintFor(failed, { ...at, providers: async () => [] })).toContain('No other provider is installed.')
    expect(await hintFor(error(detail, { summary: 'Something else' }), at)).toBe('')
    expect(await hintFor(failed, { ...at, providers: async () => null })).not.toMatch(/Installed:|No other/)
    const random = [{ source: 'hashicorp/random', version: '3.6.0' }]
    expect(await hintFor(failed, { ...at, providers: async () => random })).toBe(
      'Hint: the provider hashicorp/random is installed as 3.6.0, and not as the code asks for it. Let the code accept ' +
        'that version.',
    )
  })

  it('of many diagnostics in one entry are at most two', async () => {
    const detail = ['a', 'b', 'c'].map((name) => `An input variable with the name "${name}" has not been declared.`)
    const many = {
      ...at,
      declared: async () => readDeclarations(['variable "aa" {}\nvariable "bb" {}\nvariable "cc" {}']),
    }
    expect((await hintFor(error(detail.join('\n')), many)).split('\n')).toHaveLength(2)
  })
})

describe('the block of a name', () => {
  it('is found from the braces before it', () => {
    expect(blockPathAt(ROOT, 14, 'dayz')).toEqual(['rule', 'expiration'])
    expect(blockPathAt(ROOT, 19, 'idd')).toEqual(['rule'])
    expect(blockPathAt(ROOT, 23, 'foo')).toBeNull()
    expect(blockPathAt('resource "a" "b" {\n  x { y { z = 1 } }\n}\n', 2, 'z')).toEqual(['x', 'y'])
    expect(blockPathAt('x = 1\n', 1, 'x')).toBeNull()
  })
})
