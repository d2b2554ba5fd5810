import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configSchema } from './config-schema.ts'
import { CHART, chartTools, EXAMPLES, example, run, template } from './rendered.ts'
import { LOCATION } from './schemas.ts'

const { helm, kubeconform, schemas } = chartTools()

interface Judged {
  resources: { kind: string; name: string; status: string; msg: string }[]
}

async function judge(manifests: string): Promise<Judged['resources']> {
  const options = ['-output', 'json', '-verbose', '-schema-location', join(schemas, LOCATION)]
  const { output } = await run(kubeconform, [...options, '-'], manifests)
  return (JSON.parse(output) as Judged).resources
}

describe.each(EXAMPLES)('the values %s', (name) => {
  it('pass the lint of Helm', async () => {
    const { code, output } = await run(helm, ['lint', '--strict', CHART, '--values', example(name)])
    expect([code, output]).toEqual([0, expect.stringContaining('0 chart(s) failed')])
  })

  it('make objects that follow the schemas of their kinds', async () => {
    const { code, output } = await template(helm, name)
    expect([code, code === 0 ? '' : output]).toEqual([0, ''])
    const judged = await judge(output)
    expect(judged.length).toBeGreaterThan(10)
    expect(judged.filter(({ status }) => status !== 'statusValid')).toEqual([])
  })
})

describe('the schemas', () => {
  it.each([
    ['an unknown field of a container', '          image: ', '          imagee: x\n          image: ', 'Deployment'],
    ['a wrong type', 'automountServiceAccountToken: false', 'automountServiceAccountToken: "no"', 'ServiceAccount'],
    ['an unknown word', 'policyTypes: [Ingress, Egress]', 'policyTypes: Ingress', 'NetworkPolicy'],
    ['a field of another version', '  minReplicaCount: ', '  minimum: 1\n  minReplicaCount: ', 'ScaledObject'],
    ['an unknown field of a monitor', '    - { port: metrics, ', '    - { ports: x, port: metrics, ', 'ServiceMonitor'],
  ])('see %s', async (_what, right, wrong, kind) => {
    const { output } = await template(helm, 'keda')
    expect(output).toContain(right)
    const refused = (await judge(output.replace(right, wrong))).filter(({ status }) => status !== 'statusValid')
    expect(refused.map((each) => each.kind)).toEqual([kind])
  })
})

it('the schema of the values knows every field of the configuration file, and no other', async () => {
  const schema = JSON.parse(await readFile(join(CHART, 'values.schema.json'), 'utf8')) as { $defs: { config: object } }
  expect(schema.$defs.config, 'run: npx node test/suites/chart/write-schema.ts').toEqual(await configSchema())
})
