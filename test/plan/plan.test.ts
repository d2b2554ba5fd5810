import { describe, expect, it } from 'vitest'
import { PlatformError } from '../../src/base/errors.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { changesJson } from './fixtures.ts'

const errorOf = (text: string): PlatformError => {
  try {
    parsePlan(text)
  } catch (error) {
    if (error instanceof PlatformError) return error
  }
  throw new Error('no platform error')
}

describe('parsePlan', () => {
  it('reads a real document', () => {
    const plan = parsePlan(changesJson)
    expect(plan.resource_changes).toHaveLength(10)
    expect(plan.document.terraform_version).toBe('1.11.4')
  })

  it.each(['2.0', '2.1', '3', '10.4.1'])('refuses format %s', (format_version) => {
    const error = errorOf(JSON.stringify({ format_version }))
    expect(error.message).toBe('Engine plan json output major format change.')
    expect(error.status).toBe(502)
  })

  it.each(['0.1', '1.0', '1.99', '1'])('accepts format %s', (format_version) => {
    expect(parsePlan(JSON.stringify({ format_version })).resource_changes).toEqual([])
  })

  it.each([
    ['no JSON', 'Error: no plan S3cret'],
    ['an empty text', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no format', '{}'],
    ['an odd format', '{"format_version": "latest"}'],
    [
      'a change without actions',
      '{"format_version": "1.2", "resource_changes": [{"address": "a.b", "type": "a", "name": "b", "change": {}}]}',
    ],
  ])('answers 502 for %s, without quoting it', (_, text) => {
    const error = errorOf(text)
    expect(error.status).toBe(502)
    expect(JSON.stringify([error.message, error.cause])).not.toContain('S3cret')
  })

  it.each([
    ['aws_s3_bucket.logs', 'aws_s3_bucket', 'logs'],
    ['module.a["x.y"].aws_s3_bucket.logs["k.l"]', 'aws_s3_bucket', 'logs'],
    ['odd', '', ''],
  ])('reads type and name of %s from the address when they are not told', (address, type, name) => {
    const change = { actions: ['create'], before: null, after: {} }
    const text = JSON.stringify({ format_version: '1.0', resource_changes: [{ address, change }] })
    expect(parsePlan(text).resource_changes).toMatchObject([{ address, type, name, mode: 'managed' }])
  })

  it('takes null and absent resource_changes for none', () => {
    expect(parsePlan('{"format_version": "1.2", "resource_changes": null}').resource_changes).toEqual([])
  })
})
