import { describe, expect, it } from 'vitest'
import { providerRegion } from '../../../src/plan/imports/identifiers.ts'
import { parsePlan } from '../../../src/plan/plan.ts'

const resource = (address: string, key: string) => ({ address, mode: 'managed', provider_config_key: key })
const plan = parsePlan(
  JSON.stringify({
    format_version: '1.2',
    variables: { region: { value: 'eu-west-1' }, number: { value: 7 } },
    configuration: {
      provider_config: {
        aws: { name: 'aws', expressions: { region: { constant_value: 'eu-central-1' } } },
        'aws.west': { name: 'aws', alias: 'west', expressions: { region: { references: ['var.region'] } } },
        'aws.local': { name: 'aws', expressions: { region: { references: ['local.region'] } } },
        'aws.joined': { name: 'aws', expressions: { region: { references: ['var.region', 'var.number'] } } },
        'aws.number': { name: 'aws', expressions: { region: { references: ['var.number'] } } },
        'aws.plain': { name: 'aws' },
        'module.net:aws': { name: 'aws', expressions: { region: { constant_value: 'us-east-1' } } },
      },
      root_module: {
        resources: ['aws', 'west', 'local', 'joined', 'number', 'plain'].map((name) =>
          resource(`aws_x.${name}`, name === 'aws' ? 'aws' : `aws.${name}`),
        ),
        module_calls: {
          net: {
            module: {
              resources: [resource('aws_x.aws', 'module.net:aws')],
              module_calls: { inner: { module: { resources: [resource('aws_x.aws', 'aws')] } } },
            },
          },
        },
      },
    },
  }),
)

describe('providerRegion', () => {
  it.each([
    ['aws_x.aws', 'eu-central-1'],
    ['aws_x.aws[0]', 'eu-central-1'],
    ['aws_x.west["a.b"]', 'eu-west-1'],
    ['module.net["x.y"].aws_x.aws', 'us-east-1'],
    ['module.net.module.inner[1].aws_x.aws', 'eu-central-1'],
    ['aws_x.local', null],
    ['aws_x.joined', null],
    ['aws_x.number', null],
    ['aws_x.plain', null],
    ['aws_x.unknown', null],
    ['module.other.aws_x.aws', null],
    ['', null],
  ])('of %s is %s', (address, region) => {
    expect(providerRegion(plan, address)).toBe(region)
  })

  it('of a plan without code is not known', () => {
    expect(providerRegion(parsePlan('{"format_version":"1.2"}'), 'aws_x.aws')).toBeNull()
  })
})
