import { describe, expect, test } from 'vitest'
import { findUnknownArguments, readProviderSchema } from '../../../dev/prompt-lint/schema.ts'

const text = { type: 'string', description_kind: 'plain' }
const schema = readProviderSchema({
  format_version: '1.0',
  provider_schemas: {
    'registry.example/acme/acme': {
      provider: { version: 0, block: {} },
      resource_schemas: {
        acme_bucket: {
          version: 1,
          block: {
            attributes: {
              id: { ...text, optional: true, computed: true },
              name: { ...text, required: true },
              url: { ...text, computed: true },
              acl: { ...text, optional: true, deprecated: true },
              routes: { type: ['set', ['object', { to: 'string' }]], optional: true },
            },
            block_types: {
              rule: {
                nesting_mode: 'list',
                block: {
                  attributes: { age: { type: 'number', optional: true } },
                  block_types: { action: { min_items: 1, block: {} } },
                },
              },
              timeouts: { nesting_mode: 'single', block: {} },
            },
          },
        },
        acme_old: { version: 0, block: { deprecated: true } },
      },
      data_source_schemas: {
        acme_zone: { version: 0, block: { attributes: { filter: { ...text, optional: true } } } },
      },
    },
    'registry.example/acme/empty': {},
  },
})
const found = (hcl: string) =>
  findUnknownArguments(schema, hcl).map(({ path, problem, line }) => `${line}: ${path} ${problem}`)
const bucket = (body: string) => found(`resource "acme_bucket" "a" {\n  name = "x"\n${body}\n}\n`)

describe('arguments that the provider does not know', () => {
  test('what it knows passes', () => {
    const code = `
      for_each = var.all
      depends_on = [acme_old.x]
      routes { to = "a" }
      rule {
        age = 1
        action {}
      }
      dynamic "rule" {
        for_each = var.rules
        iterator = one
        content {
          age = one.value
          action {}
        }
      }
      lifecycle { prevent_destroy = true }
      timeouts { create = "5m" }`
    expect(bucket(code)).toEqual([])
    expect(found('data "acme_zone" "a" {\n  filter = "x"\n}\n')).toEqual([])
  })

  test.each([
    ['  size = 1', '3: acme_bucket.size does not exist'],
    ['  url = "x"', '3: acme_bucket.url cannot be set'],
    ['  acl = "x"', '3: acme_bucket.acl is deprecated'],
    ['  rule = [{}]', '3: acme_bucket.rule is a block, not an argument'],
    ['  id {}', '3: acme_bucket.id is an argument, not a block'],
    ['  logging {}', '3: acme_bucket.logging does not exist'],
    ['  rule {\n    days = 1\n    action {}\n  }', '4: acme_bucket.rule.days does not exist'],
    ['  rule {}', '3: acme_bucket.rule.action is required'],
    ['  dynamic "rules" {\n    content {}\n  }', '3: acme_bucket.rules does not exist'],
    ['  rule {\n    count = 1\n    action {}\n  }', '4: acme_bucket.rule.count does not exist'],
    ['  constructor = 1', '3: acme_bucket.constructor does not exist'],
  ])('%j', (body, finding) => {
    expect(bucket(body)).toEqual([finding])
  })

  test('types: unknown, deprecated, missing arguments, of other providers', () => {
    expect(found('resource "acme_buckets" "a" {}\n')).toEqual(['1: acme_buckets is no type of its provider'])
    expect(found('data "acme_bucket" "a" {}\n')).toEqual(['1: acme_bucket is no type of its provider'])
    expect(found('resource "acme_old" "a" {}\n')).toEqual(['1: acme_old is deprecated'])
    expect(found('resource "acme_bucket" "a" {}\n')).toEqual(['1: acme_bucket.name is required'])
    expect(found('resource "other_thing" "a" {\n  x = 1\n}\nmodule "m" {\n  y = 2\n}\n')).toEqual([])
  })

  test('another document is refused', () => {
    expect(() => readProviderSchema({ resource_schemas: {} })).toThrow()
  })
})
