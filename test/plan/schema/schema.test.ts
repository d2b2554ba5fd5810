import { describe, expect, it } from 'vitest'
import { readLockFile } from '../../../src/plan/schema/lock-file.ts'
import { createProviderSchema } from '../../../src/plan/schema/provider-schema.ts'
import {
  declaredTypes,
  mentionedTypes,
  nearNames,
  type TypeSchema,
  typesNamedIn,
} from '../../../src/plan/schema/read-schema.ts'
import { renderType, renderTypes, typeText } from '../../../src/plan/schema/render.ts'
import type { SchemaParts, SchemaRequest } from '../../../src/services/iac/contract.ts'

const attribute = (fields: object) => ({ type: 'string', description_kind: 'plain', ...fields })
const schemaOf = (block: unknown, type = 'aws_bucket'): TypeSchema => ({
  mode: 'resource',
  type,
  provider: 'registry.terraform.io/hashicorp/aws',
  version: '5.1.0',
  schema: { version: 1, block },
})

describe('a schema as text', () => {
  it('has what code may set first, with types, flags and nested blocks', () => {
    const text = renderType(
      schemaOf({
        attributes: {
          arn: attribute({ computed: true, description: 'Not told.' }),
          tags: attribute({ type: ['map', 'string'], optional: true, computed: true }),
          secret: attribute({ optional: true, sensitive: true, write_only: true }),
          old: attribute({ optional: true, deprecated: true }),
          bucket: attribute({ required: true, description: 'The  name\nof it.' }),
          grant: {
            nested_type: { nesting_mode: 'list', attributes: { id: attribute({ required: true }) } },
            optional: true,
          },
        },
        block_types: {
          timeouts: { nesting_mode: 'single', block: {} },
          logging: { nesting_mode: 'set', block: { attributes: { target: attribute({ optional: true }) } } },
          rule: {
            nesting_mode: 'list',
            min_items: 1,
            max_items: 2,
            block: { block_types: { filter: { nesting_mode: 'single', block: { deprecated: true } } } },
          },
        },
      }),
      5000,
    )
    expect(text).toBe(
      [
        'resource "aws_bucket" (hashicorp/aws 5.1.0)',
        '  bucket: string, required # The name of it.',
        '  grant: list of object, optional',
        '    id: string, required',
        '  old: string, optional, deprecated',
        '  secret: string, optional, sensitive, write-only',
        '  tags: map(string), optional, computed',
        '  arn: string, read-only',
        '  block rule: list, at least 1, at most 2',
        '    block filter: single, optional, deprecated',
        '  block logging: set, optional',
        '    target: string, optional',
      ].join('\n'),
    )
  })

  it('gives up descriptions, then read-only attributes and depth, before it is cut', () => {
    const attributes = (count: number, fields: object) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `name_${index}`,
          attribute({ ...fields, description: 'd'.repeat(400) }),
        ]),
      )
    const deep = (depth: number): object => ({
      attributes: attributes(5, { optional: true }),
      ...(depth > 0 && { block_types: { deeper: { nesting_mode: 'list', block: deep(depth - 1) } } }),
    })
    const block = {
      attributes: { ...attributes(10, { optional: true }), arn: attribute({ computed: true }) },
      block_types: { a: { block: deep(6) } },
    }
    const texts = [10_000, 1_800, 1_100, 600, 200].map((limit) => renderType(schemaOf(block), limit) ?? '')
    expect(texts[0]).toContain('# ddd')
    expect(texts[1]).not.toContain('#')
    expect(texts[1]).toContain('arn')
    expect(texts[2]).not.toContain('arn')
    expect(texts[3]).toContain('{ name_0, name_1')
    expect(texts[4]).toContain('cut')
    expect(
      texts
        .map((text) => text.length)
        .every((length, index) => length <= ([10_000, 1_800, 1_100, 600, 200][index] ?? 0)),
    ).toBe(true)
  })

  it('of a type as large as a cluster has the name of every block, and says what each needs', () => {
    const inner = {
      attributes: {
        tier: attribute({ required: true }),
        ...Object.fromEntries(
          Array.from({ length: 9 }, (_, index) => [`size_${index}`, attribute({ optional: true })]),
        ),
        status: attribute({ computed: true }),
      },
      block_types: { window: { nesting_mode: 'list', min_items: 1, block: {} } },
    }
    const names = Array.from({ length: 40 }, (_, index) => `part_${index}`)
    const block_types = Object.fromEntries(names.map((name) => [name, { nesting_mode: 'list', block: inner }]))
    const grant = { nested_type: { nesting_mode: 'set', attributes: inner.attributes }, optional: true }
    const text = (limit: number) => renderType(schemaOf({ attributes: { grant }, block_types }), limit) ?? ''
    expect(text(7_000)).toContain('  block part_39: list, optional { tier (required), window (required), size_0,')
    expect(text(7_000)).toContain('  grant: set of object, optional { tier (required), size_0,')
    expect(text(7_000)).not.toContain('status')
    for (const name of names) expect(text(2_000)).toContain(`  block ${name}: list, optional`)
    expect(text(2_000)).not.toContain('cut')
  })

  it.each([null, 'rubbish', [], {}, { block: [] }, { block: 1 }])('is nothing for %j', (schema) => {
    expect(renderType({ ...schemaOf({}), schema }, 1000) ?? '').not.toContain(':')
  })

  it('survives parts that are of no known form', () => {
    const text = renderType(
      schemaOf({
        attributes: { a: { type: 7, required: 'yes' }, b: { type: ['set', ['odd']] } },
        block_types: { c: { block: 3 } },
      }),
      500,
    )
    expect(text).toContain('aws_bucket')
  })

  it.each<[unknown, string]>([
    ['dynamic', 'any'],
    [['list', ['map', 'number']], 'list(map(number))'],
    [['object', { a: 'string', b: ['set', 'bool'] }, ['b']], 'object({a: string, b?: set(bool)})'],
    [['tuple', ['string', 'number']], 'tuple([string, number])'],
    [[], 'any'],
    [null, 'any'],
  ])('type %j is %s', (type, text) => {
    expect(typeText(type)).toBe(text)
  })

  it('of several types keeps to the room and tells which are in it', () => {
    const block = {
      attributes: Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`name_${index}`, attribute({ optional: true })]),
      ),
    }
    const { text, keys: told } = renderTypes(
      [schemaOf(block, 'aws_a'), schemaOf(block, 'aws_b'), schemaOf(block, 'aws_c')],
      {
        type: 400,
        total: 900,
      },
    )
    expect(text.length).toBeLessThanOrEqual(900)
    expect(told.slice(0, 2)).toEqual(['resource aws_a', 'resource aws_b'])
  })
})

describe('types in texts', () => {
  it('are those that code and diffs declare', () => {
    const code =
      'resource "aws_a" "x" {\n+resource "aws_b" "y" {}\n-  data "aws_c" "z" {}\n # resource "aws_no" "z"\n' +
      'resource "aws_a" "again" {}\nephemeral "aws_d" "e" {}\n'
    expect(declaredTypes(code)).toEqual([
      { mode: 'resource', type: 'aws_a' },
      { mode: 'resource', type: 'aws_b' },
      { mode: 'data', type: 'aws_c' },
      { mode: 'ephemeral', type: 'aws_d' },
    ])
  })

  it('are what prose and addresses name', () => {
    const found = mentionedTypes(
      'Use `aws_s3_bucket`, never module.x.aws_iam_role.y; see data.aws_ami.z, ephemeral.aws_kms_secrets.y and a/path_of/files.',
    )
    expect(found).toContainEqual({ mode: 'resource', type: 'aws_s3_bucket' })
    expect(found).toContainEqual({ mode: 'data', type: 'aws_ami' })
    expect(found).toContainEqual({ mode: 'ephemeral', type: 'aws_kms_secrets' })
    expect(found).not.toContainEqual({ mode: 'resource', type: 'path_of' })
  })

  it('that do not exist have neighbours', () => {
    const known = ['aws_s3_bucket', 'aws_s3_bucket_versioning', 'aws_lambda_function', 'google_storage_bucket']
    expect(nearNames('aws_s3_versioning', known)[0]).toBe('aws_s3_bucket_versioning')
    expect(nearNames('zzz', known)).toEqual([])
  })
})

type Asked = Omit<SchemaRequest, 'workspace_path'>
const SOURCE = 'registry.opentofu.org/hashicorp/random'
const PASSWORD = { block: { attributes: { length: { type: 'number', required: true } } } }

/** Makes a service whose provider has these ephemeral types, and records its requests. */
function service(ephemeral_types: string[]) {
  const asked: Asked[] = []
  const schema = createProviderSchema(
    async (request): Promise<SchemaParts> => {
      asked.push(request)
      const resource_types = ['random_password']
      const provider = { resource_types, data_source_types: [], ephemeral_types, data_source_schemas: {} }
      const of = (types: string[] = []) => Object.fromEntries(types.map((type) => [type, PASSWORD]))
      return {
        providers: {
          [SOURCE]: {
            ...provider,
            resource_schemas: of(request.resource_types),
            ephemeral_resource_schemas: of(request.ephemeral_types),
          },
        },
        missing: [],
        left_out: [],
      }
    },
    () => true,
  )
  return { schema, asked }
}
const WANTED = [
  { mode: 'resource', type: 'random_password' },
  { mode: 'ephemeral', type: 'random_password' },
] as const

it('a resource and an ephemeral resource of the same name are told apart', async () => {
  const { schema } = service(['random_password'])
  expect(await schema.names()).toEqual({
    resource: ['random_password'],
    data: [],
    ephemeral: ['random_password'],
  })
  expect((await schema.of(WANTED))?.map(({ mode }) => mode)).toEqual(['resource', 'ephemeral'])
})

it('a service that names no ephemeral types is not asked for any, since an older one would refuse', async () => {
  const { schema, asked } = service([])
  expect((await schema.of(WANTED))?.map(({ mode }) => mode)).toEqual(['resource'])
  expect(asked).toEqual([{}, { resource_types: ['random_password'], data_source_types: [] }])
  expect(await schema.of([{ mode: 'ephemeral', type: 'random_password' }])).toEqual([])
})

describe('a lock file', () => {
  it('tells source, version and constraints of whole entries', () => {
    const text =
      '# Maintained by the engine.\n\nprovider "registry.opentofu.org/hashicorp/aws" {\n  version     = "6.2.0"\n' +
      '  constraints = ">= 5.0.0, < 7.0.0"\n  hashes = [\n    "h1:a",\n  ]\n}\n\nprovider "example.com/acme/own" {\n' +
      '  version = "1.0.0-beta1"\n}\n\nprovider "example.com/acme/broken" {\n}\n'
    expect(readLockFile(text)).toEqual([
      { source: 'hashicorp/aws', version: '6.2.0', constraints: '>= 5.0.0, < 7.0.0' },
      { source: 'acme/own', version: '1.0.0-beta1', constraints: null },
    ])
    expect(readLockFile('<<<<<<< HEAD\nprovider')).toEqual([])
  })
})

describe('types that a request names in words', () => {
  const existing = [
    'aws_msk_cluster',
    'aws_msk_cluster_policy',
    'aws_lambda_function',
    'aws_vpc',
    'aws_s3_bucket',
    'null',
  ]
  it.each([
    ['Create an MSK cluster in its own VPC', ['aws_msk_cluster', 'aws_vpc']],
    ['Two Lambda functions', ['aws_lambda_function']],
    ['A bucket', []],
    ['', []],
  ])('%j', (text, types) => expect(typesNamedIn(text, existing)).toEqual(types))
})
