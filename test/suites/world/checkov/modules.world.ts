import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePlan } from '../../../../src/plan/plan.ts'
import { evaluateRules } from '../../../../src/rules/evaluate.ts'
import { awsEnvironment } from '../aws/engine.ts'
import { type Moto, startMoto } from '../aws/moto.ts'
import { planExamples } from './module-plans.ts'

const python = process.env.WORLD_CHECKOV_PYTHON ?? ''
const modules = process.env.WORLD_MODULES ?? ''

/**
 * Part of the resources of good modules with a finding that locks. Some examples show on purpose what is open, and are
 * rightly refused; fewer resources would tell nothing of the rest.
 */
const MOST_LOCKING = 0.02
const LEAST_RESOURCES = 500

let home: string
let moto: Moto
beforeAll(async () => {
  if (modules === '') return
  home = await mkdtemp(join(tmpdir(), 'world-modules-'))
  moto = await startMoto(process.env.WORLD_MOTO ?? '', home)
}, 300_000)
afterAll(async () => {
  await moto?.service.stop()
  if (home) await rm(home, { recursive: true, force: true })
})

describe.skipIf(modules === '')('plans of public modules', () => {
  it('are seldom refused, by far less than Checkov finds', async () => {
    const plans = join(home, 'plans')
    await mkdir(plans)
    const lines: string[] = []
    const locking = new Set<string>()
    let resources = 0
    await planExamples(modules, home, awsEnvironment(moto.url), async (example) => {
      if ('why' in example) {
        lines.push(`not planned: ${example.name}: ${example.why}`)
        return
      }
      await writeFile(join(plans, `${example.name.replaceAll('/', '.')}.json`), example.json)
      const plan = parsePlan(example.json)
      resources += plan.resource_changes.filter(
        ({ mode, type }) => mode === 'managed' && type.startsWith('aws_'),
      ).length
      const { findings } = evaluateRules(plan, { targets: [], grades: {}, code: example.code })
      for (const { rule_id, severity, resource, message } of findings)
        if (severity === 'error' || severity === 'critical') {
          locking.add(`${example.name} ${resource}`)
          lines.push(`${rule_id}: ${example.name}: ${resource}: ${message}`)
        }
    })
    const script = new URL('plans.py', import.meta.url).pathname
    const { stdout } = await promisify(execFile)(python, [script, plans], {
      maxBuffer: 2 ** 28,
      env: { ...process.env, LOG_LEVEL: 'ERROR' },
    })
    const reports = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    const failed = reports.reduce((sum, report) => sum + Object.keys(report.failed).length, 0)
    lines.push(`${resources} resources: ${locking.size} with a finding that locks, ${failed} that Checkov fails`)
    console.log(lines.join('\n'))
    expect(resources).toBeGreaterThanOrEqual(LEAST_RESOURCES)
    expect(locking.size / resources).toBeLessThanOrEqual(MOST_LOCKING)
    expect(locking.size).toBeLessThan(failed)
  }, 7_200_000)
})
