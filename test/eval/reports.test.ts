import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const text = v.pipe(v.string(), v.nonEmpty())
const common = { source: v.pipe(v.string(), v.regex(/^[\w.-]+\/[\w.-]+#\d+$/)), title: text, says: text, input: text }
const proof = v.record(text, text)
const tested = v.pipe(
  proof,
  v.check((tests) => Object.keys(tests).length > 0, 'names no test'),
)
const Reports = v.array(
  v.variant('verdict', [
    v.strictObject({ ...common, verdict: v.literal('right'), note: v.optional(text), tests: tested }),
    v.strictObject({ ...common, verdict: v.literal('mended'), was: text, tests: tested }),
    v.strictObject({ ...common, verdict: v.literal('left'), why: text, tests: proof }),
  ]),
)

const reports = v.parse(Reports, parse(readFileSync('eval/reports.yaml', 'utf8')))

describe('the reports of others', () => {
  it('are twenty and more, each of its own', () => {
    expect(reports.length).toBeGreaterThanOrEqual(20)
    expect(new Set(reports.map(({ source }) => source)).size).toBe(reports.length)
  })

  it.each(
    reports.flatMap(({ source, tests }) => Object.entries(tests).map((test) => [source, ...test])),
  )('%s is held by a test: %s, %s', (_, file, name) => {
    expect(existsSync(`test/${file}`)).toBe(true)
    expect(readFileSync(`test/${file}`, 'utf8')).toContain(name)
  })
})
