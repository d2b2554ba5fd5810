import { describe, expect, it } from 'vitest'
import { providerRegion } from '../../../src/plan/imports/aws-import-forms.ts'
import { isResourceAddress } from '../../../src/plan/imports/check-pairs.ts'
import {
  findUnmanaged,
  identityOf,
  importExceptions,
  isArgument,
  parseIdentifiers,
} from '../../../src/plan/imports/inventory.ts'
import { followMoves, importFeedback, stateAlignment } from '../../../src/plan/imports/pairs.ts'
import { planOf, planWith } from '../fixtures.ts'

describe('importExceptions', () => {
  it('reads bullets, with backticks or without, and nothing else', () => {
    const markdown = [
      '# Never imported',
      'Each bullet is an identifier, like `arn:aws:s3:::example`.',
      '- `arn:aws:s3:::logs` belongs to audit',
      '  * arn:aws:s3:::backups',
      '+   my-project roles/owner user:somebody@example.org  ',
      '-',
      '- ``',
      '1. arn:aws:s3:::numbered',
      '-arn:aws:s3:::no-blank',
    ].join('\r\n')
    expect(importExceptions(markdown)).toEqual([
      'arn:aws:s3:::logs',
      'arn:aws:s3:::backups',
      'my-project roles/owner user:somebody@example.org',
      '``',
    ])
  })

  it('finds none in the shipped texts', async () => {
    const { readSeedPrompts } = await import('../../../src/runtime/prompts.ts')
    const prompts = [...(await readSeedPrompts())].filter(([name]) => name.endsWith('-guidelines-import_exceptions'))
    expect(prompts.map(([name]) => name).sort()).toEqual(
      ['aws', 'azure', 'gcp', 'oci'].map((cloud) => `${cloud}-guidelines-import_exceptions`),
    )
    for (const [, { body }] of prompts) expect(importExceptions(body)).toEqual([])
  })
})

describe('unmanagedResources', () => {
  it('keeps the first spelling, in code-point order', () => {
    const lists = { scope: ['/B', '/a', '/b', '/A', '/C'], state: ['/c'], exceptions: [] }
    expect(findUnmanaged(lists, identityOf('azure')).ids).toEqual(['/B', '/a'])
    expect(findUnmanaged(lists, identityOf('oci')).ids).toEqual(['/A', '/B', '/C', '/a', '/b'])
  })

  it('does not mind identifiers that are names of object members', () => {
    const lists = { scope: ['__proto__', 'constructor'], state: ['toString'], exceptions: [] }
    expect(findUnmanaged(lists, identityOf('aws')).ids).toEqual(['__proto__', 'constructor'])
  })
})

describe('parseIdentifiers', () => {
  it('reads a list of texts', () => expect(parseIdentifiers(' ["a", "b"]\n', 'scope')).toEqual(['a', 'b']))
  it.each(['', 'null', '{}', '"a"', '[1]', '[["a"]]', '["a"'])('refuses %j without repeating it', (text) => {
    expect(() => parseIdentifiers(text, 'state')).toThrow(
      'iac service returned an unexpected response: the state identifiers are no JSON list of texts.',
    )
  })
})

describe('isArgument', () => {
  it.each(['a', 'my-project roles/owner user:x', '/subscriptions/1/Größe', 'a'.repeat(4096)])('takes %j', (text) =>
    expect(isArgument(text)).toBe(true))
  it.each(['', '  ', '-a', 'a\nb', 'a\0b', '\ud800', 'a'.repeat(4097)])('refuses %j', (text) =>
    expect(isArgument(text)).toBe(false))
})

describe('isResourceAddress', () => {
  it.each([
    'a.b',
    'aws_s3_bucket.logs[0]',
    'aws_s3_bucket.logs["a.b \\" ]"]',
    'module.m.a.b',
    'module.m["x"].module.n[1].a.b["y"]',
    'a.größe_1',
  ])('takes %j', (text) => expect(isResourceAddress(text)).toBe(true))
  it.each([
    '',
    'a',
    'a.b.c',
    'module.m',
    'data.a.b',
    'module.m.data.a.b',
    'a.b[x]',
    'a.b["x]',
    'a.b[0',
    '-a.b',
    'a.b ',
    'a.b\n',
    '$(id).b',
    'var.a.b',
    'module.a',
  ])('refuses %j', (text) => expect(isResourceAddress(text)).toBe(false))
})

describe('stateAlignment', () => {
  const imported = [{ address: 'a.one', resource_id: '1' }]
  const prior_state = {
    values: { root_module: { resources: [{ address: 'a.one', mode: 'managed', values: { id: '1' } }] } },
  }

  it.each([
    ['update', ['update']],
    ['recreate', ['delete', 'create']],
    ['delete', ['delete']],
    ['forget', ['forget']],
  ])('names a resource that the plan would %s', (action, actions) => {
    expect(stateAlignment(imported, planOf([{ address: 'a.one', actions }], { prior_state }))).toEqual({
      aligned: false,
      text: `Not aligned: a plan after the import still changes 1 of 1 imported resources: a.one (${action}).`,
    })
  })

  it('is given when the plan leaves them alone, whatever else it does', () => {
    const plan = planOf(
      [
        { address: 'a.one', actions: ['no-op'] },
        { address: 'a.two', actions: ['create'] },
      ],
      { prior_state },
    )
    expect(stateAlignment(imported, plan)).toEqual({
      aligned: true,
      text:
        'Aligned: a plan after the import changes none of the imported resources (1). Beyond what was imported ' +
        'it has: a.two (create).',
    })
  })

  const waiting = { before: { name: 'web', wait_for_rollout: null }, after: { name: 'web', wait_for_rollout: true } }
  it.each([
    ['settings that an import cannot read', waiting, true],
    ['such a setting that the state has', { ...waiting, before: { name: 'web', wait_for_rollout: false } }, false],
    ['another argument as well', { ...waiting, after: { name: 'other', wait_for_rollout: true } }, false],
    ['a value that is not known yet', { ...waiting, after_unknown: { generation: true } }, false],
  ])('is given, with a note, when the plan updates %s: %j', (_, values, aligned) => {
    const change = { address: 'a.one', type: 'kubernetes_deployment_v1', actions: ['update'], ...values }
    expect(stateAlignment(imported, planOf([change], { prior_state }))).toEqual({
      aligned,
      text: aligned
        ? 'Aligned: a plan after the import changes none of the imported resources (1). The next apply writes ' +
          'settings of the provider into the state alone: a.one.'
        : 'Not aligned: a plan after the import still changes 1 of 1 imported resources: a.one (update).',
    })
  })

  it('is given for an object that moves, whose rows have the address that the code has for it', () => {
    const plan = planOf([{ address: 'a.kept', previous_address: 'a.one', actions: ['no-op'] }], { prior_state })
    const rows = followMoves(imported, plan, identityOf('aws'))
    expect(rows).toEqual([{ address: 'a.kept', resource_id: '1' }])
    expect(stateAlignment(rows, plan).text).toBe(
      'Aligned: a plan after the import changes none of the imported resources (1). The next apply moves in the state ' +
        'alone: a.one to a.kept.',
    )
    const changed = planOf([{ address: 'a.kept', previous_address: 'a.one', actions: ['update'] }], { prior_state })
    expect(stateAlignment(followMoves(imported, changed, identityOf('aws')), changed).text).toContain(
      'still changes 1 of 1 imported resources: a.kept (update)',
    )
  })

  it('is not given without the state or without a plan', () => {
    expect(stateAlignment(imported, planOf([])).text).toContain('a.one (not in the state)')
    expect(stateAlignment(imported, null)).toEqual({
      aligned: false,
      text: 'Not known: no plan could be made after the import.',
    })
  })
})

describe('importFeedback', () => {
  it('lists what is imported, each failure and what has no block', () => {
    const text = importFeedback({
      imported: [{ address: 'a.one', resource_id: '1' }],
      failures: [{ address: 'a.two', resource_id: '2', error: 'Error: no' }],
      unaddressed: ['3'],
      lost: [],
      takenOut: [{ address: 'a.three', resource_id: '5', error: 'the object has name "x", the block has "y"' }],
      free: ['a.two'],
      foreign: ['4'],
    })
    expect(text).toBe(
      [
        'Identifiers that wait for an import: 3. Blocks that the plan has for them: 1. Each needs one.',
        'Imported, leave their blocks where they are:\n- `a.one` (1)',
        'Imported and taken out of the state again, because the block is not that of the object. Write a block for each that has what the object has, or mend the block:\n- `a.three` (5): the object has name "x", the block has "y"',
        'Not imported:\n- `a.two` (2): Error: no',
        'No resource block of the plan was found for these identifiers:\n- 3',
        'Nothing was imported to these blocks:\n- a.two',
        'Not among the identifiers to import, so that nothing was done with them:\n- 4',
      ].join('\n\n'),
    )
  })
})

const resource = (address: string, key: string) => ({ address, mode: 'managed', provider_config_key: key })
const plan = planWith({
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
})

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
    expect(providerRegion(planWith({}), 'aws_x.aws')).toBeNull()
  })
})

describe('two spellings of one identifier', () => {
  it.each([
    ['azure', '/subscriptions/S/resourceGroups/Web', '/subscriptions/s/resourcegroups/web', true],
    ['aws', 'arn:aws:s3:::Web', 'arn:aws:s3:::web', false],
    ['gcp', 'web-prod roles/viewer user:a@example.com', 'web-prod/roles/viewer/user:a@example.com', true],
    [
      'gcp',
      'web-prod projects/web-prod/roles/own group:a@example.com',
      'web-prod/projects/web-prod/roles/own/group:a@example.com',
      true,
    ],
    ['gcp', 'web-prod roles/viewer user:a@example.com', 'web-prod/roles/editor/user:a@example.com', false],
    ['gcp', 'a bucket with blanks', 'a/bucket/with/blanks', false],
    ['oci', 'n/ns/b/logs of 2026', 'n/ns/b/logs/of/2026', false],
  ] as const)('%s: %s and %s', (provider, one, other, same) => {
    expect(identityOf(provider)(one) === identityOf(provider)(other)).toBe(same)
  })
})
