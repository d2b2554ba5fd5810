import { describe, expect, it } from 'vitest'
import { blockPathAt, readDeclarations } from '../../../src/plan/diagnostics/declarations.ts'
import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'
import { hintFor, type Surroundings } from '../../../src/plan/diagnostics/hints.ts'
import type { Block } from '../../../src/plan/schema/read-schema.ts'

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
}
const error = (detail: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: 'error',
  summary: 'Wrong',
  detail,
  file: 'main.tf',
  line: 1,
  context: null,
  address: null,
  snippet: '',
  count: 1,
  ...more,
})
const inBucket = (line: number) => ({ context: 'resource "aws_s3_bucket" "logs"', line })

describe('hints', () => {
  it.each<[string, Diagnostic, string]>([
    [
      'the outputs of a module',
      error('This object does not have an attribute named "vpcid".'),
      'Hint: outputs of module.net: vpc_id, subnet_ids.',
    ],
    [
      'the variables of a module',
      error('An argument named "foo" is not expected here.', { context: 'module "net"' }),
      'Hint: variables of module.net: name, cidr.',
    ],
    [
      'attributes of a resource',
      error('This object has no argument, nested block, or exported attribute named "arm".'),
      'Hint: nearest attributes of aws_s3_bucket: arn.',
    ],
    [
      'arguments of a resource',
      error('An argument named "buket" is not expected here.', inBucket(10)),
      'Hint: nearest arguments of aws_s3_bucket: bucket.',
    ],
    [
      'arguments of a nested block',
      error('An argument named "dayz" is not expected here.', inBucket(14)),
      'Hint: nearest arguments of aws_s3_bucket.rule.expiration: days.',
    ],
    [
      'arguments of a dynamic block',
      error('An argument named "idd" is not expected here.', inBucket(19)),
      'Hint: nearest arguments of aws_s3_bucket.rule: id.',
    ],
    [
      'the block into which an argument belongs',
      error('An argument named "days" is not expected here.', inBucket(11)),
      'Hint: aws_s3_bucket takes days inside of its block rule.expiration.',
    ],
    [
      'all that is taken where nothing is alike',
      error('Blocks of type "zzzzzz" are not expected here.', inBucket(11)),
      'Hint: arguments of aws_s3_bucket: bucket, region, tags, rule.',
    ],
    [
      'everything that is required',
      error('The argument "bucket" is required, but no definition was found.', inBucket(11)),
      'Hint: aws_s3_bucket requires bucket, region.',
    ],
    [
      'declared variables',
      error('An input variable with the name "dais" has not been declared.'),
      'Hint: declared input variables: days.',
    ],
    [
      'declared local values',
      error('A local value with the name "regio" has not been declared.'),
      'Hint: declared local values: region, tags.',
    ],
    [
      'a variable of the name of a local value',
      error('A local value with the name "days" has not been declared.'),
      'Hint: `var.days` exists. declared local values: region, tags.',
    ],
    [
      'a local value of the name of a variable, beside what the engine suggests',
      error('An input variable with the name "tags" has not been declared. Did you mean "days"?'),
      'Hint: `local.tags` exists.',
    ],
    [
      'a module of the name of a local value',
      error('A local value with the name "net" has not been declared.'),
      'Hint: `module.net` exists. declared local values: region, tags.',
    ],
    [
      'a resource of the name of a module',
      error('No module call named "logs" is declared in the root module.'),
      'Hint: `aws_s3_bucket.logs` exists. declared modules: net.',
    ],
    [
      'an output of the name of a variable',
      error('An input variable with the name "w" has not been declared.'),
      'Hint: an output w exists, which code of its own module cannot refer to. declared input variables: days.',
    ],
    [
      'a variable that is taken for a resource',
      error('A managed resource "variable" "days" has not been declared in the root module.'),
      'Hint: `var.days` exists.',
    ],
    [
      'declared modules',
      error('No module call named "nett" is declared in the root module.'),
      'Hint: declared modules: net.',
    ],
    [
      'declared resources',
      error('A managed resource "aws_s3_bucket" "log" has not been declared in the root module.'),
      'Hint: declared resources: aws_s3_bucket.logs.',
    ],
    [
      'a data source that is taken for a resource',
      error('A managed resource "aws_vpc" "main" has not been declared in the root module.'),
      'Hint: declared resources: data.aws_vpc.main.',
    ],
    [
      'an ephemeral resource that is taken for a managed one',
      error('A managed resource "random_password" "db" has not been declared in the root module.'),
      'Hint: declared resources: ephemeral.random_password.db.',
    ],
    [
      'ephemeral types',
      error('The provider hashicorp/random does not support ephemeral resource "random_pasword".'),
      'Hint: nearest types: random_password.',
    ],
    [
      'types',
      error('The provider hashicorp/aws does not support resource type "aws_s3_buket".'),
      'Hint: nearest types: aws_s3_bucket, aws_s3_object.',
    ],
  ])('name %s', async (_, diagnostic, hint) => {
    expect(await hintFor(diagnostic, at)).toBe(hint)
  })

  it.each<[string, Diagnostic]>([
    [
      'the engine has a suggestion',
      error('An argument named "buket" is not expected here. Did you mean "bucket"?', inBucket(10)),
    ],
    ['the module is not in the repository', error('This object does not have an attribute named "else".')],
    [
      'no schema is at hand',
      error('An argument named "x" is not expected here.', { context: 'resource "b_c" "d"', line: 11 }),
    ],
    ['nothing like it is declared', error('A managed resource "x" "y" has not been declared in the root module.')],
    ['the words are unknown', error('Something else.')],
  ])('are empty when %s', async (_, diagnostic) => {
    expect(await hintFor(diagnostic, at)).toBe('')
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
