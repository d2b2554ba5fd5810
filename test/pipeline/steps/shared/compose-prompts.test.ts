import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { composePrompts, templatesFor } from '../../../../pipeline/steps/shared/compose-prompts.ts'
import { notFound } from '../../../../src/base/errors.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { type Script, said } from '../scripted-llm.ts'
import { createSteps, schemaDouble } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder(beforeEach)

const RESOURCES =
  '# Templates\n\n- `s3_bucket`: object storage\n- `sqs_queue`: queues\n- `tables`: `google_bigquery_table`'
const ABBREVIATIONS = '# Names\n\n- aws_s3_bucket: s3\n- aws_sqs_queue: sqs\n- google_bigquery_table: bq'
const PROMPTS = { 'aws-guidelines-resources_list': RESOURCES, 'aws-guidelines-abbreviations': ABBREVIATIONS }
const BUILT_IN = { 'main.tf': 'resource "terraform_data" "x" {}\n' }
const AWS = { 'main.tf': 'resource "aws_vpc" "main" {}\n' }

const chooses = (templates: string[], abbreviations: string[] = []): Script => ({ args: { templates, abbreviations } })

/** Composes in a repository with these files. Returns the prompts that were read, and the request to the model. */
async function compose(
  files: Record<string, string>,
  options: {
    script?: Script | Script[]
    query?: string
    prompts?: Record<string, string>
    missing?: string[]
    types?: Record<string, unknown>
  } = {},
) {
  const { script = chooses([]), query = 'Make it cheaper', prompts = PROMPTS, missing = [], types } = options
  const read: string[] = []
  const body = async (name: string) => {
    read.push(name)
    if (missing.includes(name)) throw notFound(`Prompt not found: ${name}`)
    return new Map(Object.entries(prompts)).get(name) ?? `body of ${name}`
  }
  const world = await steps.world({
    context: { prompts: { body } },
    scripts: { construct_information: script },
    query,
    ...(types && { additions: { schema: schemaDouble(types).schema } }),
  })
  if (types) world.kit.engine.initialised = true
  const root = folder.path
  await promisify(execFile)('git', ['init', '--quiet', root])
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text)
  Object.assign(world.workspace, { iacRoot: root, clone: root, gitDirectory: join(root, '.git') })
  const composed = composePrompts(world.kit).then(
    (conventions) => ({ conventions, error: undefined }),
    (error: unknown) => ({ conventions: undefined, error }),
  )
  return { ...(await composed), read, calls: world.llm.of('construct_information') }
}

describe('a repository that uses other providers only', () => {
  it('gets no reference material, and no model is asked', async () => {
    const { conventions, calls } = await compose(BUILT_IN)
    expect(conventions).toEqual({ templates: [], templateNames: [], abbreviations: [], concernsCloud: false })
    expect(calls).toEqual([])
  })

  it.each(['Add an aws_s3_bucket for logs', 'Add an S3 bucket'])('gets it when the request is: %s', async (query) => {
    const { conventions, calls } = await compose(BUILT_IN, { query, script: chooses(['s3_bucket']) })
    expect(conventions?.templates).toEqual(['body of aws-resources-s3_bucket'])
    expect(said(calls[0])).toContain('`s3_bucket`')
    expect(said(calls[0])).not.toContain('bigquery')
  })

  it('may have a catalogue of another form, from which the model chooses as before', async () => {
    const list = 'Landing zone: `landing`.'
    const prompts = { 'aws-guidelines-resources_list': list, 'aws-guidelines-abbreviations': 'x = y' }
    const { conventions } = await compose(BUILT_IN, { prompts, script: chooses(['landing'], ['x = y']) })
    expect(conventions).toMatchObject({ templates: ['body of aws-resources-landing'], abbreviations: ['x = y'] })
  })
})

describe('the model chooses', () => {
  it('from the entries of the providers in play', async () => {
    const { calls } = await compose(AWS)
    expect(calls).toHaveLength(1)
    for (const part of ['`s3_bucket`', '`sqs_queue`', 'aws_sqs_queue: sqs']) expect(said(calls[0])).toContain(part)
    expect(said(calls[0])).not.toContain('bigquery')
  })

  it('for the cloud of the session where the repository is empty', async () => {
    const { calls } = await compose({}, { script: chooses(['s3_bucket']) })
    expect(calls).toHaveLength(2)
    expect(said(calls[0])).toContain('`sqs_queue`')
    expect(said(calls[0])).not.toContain('bigquery')
  })

  it('once when it chooses nothing, or nothing that exists', async () => {
    expect((await compose(AWS)).calls).toHaveLength(1)
    const options = { script: chooses(['imagined']), missing: ['aws-resources-imagined'] }
    const { conventions, calls } = await compose(AWS, options)
    expect(calls).toHaveLength(1)
    expect(conventions?.templates).toEqual([])
  })

  it('once when there is nothing left to add', async () => {
    const all = chooses(['s3_bucket', 'sqs_queue'], ['- aws_s3_bucket: s3', 'aws_sqs_queue: sqs'])
    expect((await compose(AWS, { script: all })).calls).toHaveLength(1)
    expect((await compose(AWS, { script: chooses(['s3_bucket', 'sqs_queue']) })).calls).toHaveLength(2)
  })

  it('a second time what the first choice depends on, without the names that do not exist', async () => {
    const { conventions, calls, read } = await compose(AWS, {
      missing: ['aws-resources-imagined'],
      script: [
        chooses(['s3_bucket', 'imagined'], ['- aws_s3_bucket: s3']),
        chooses(['aws-resources-sqs_queue', 's3_bucket'], ['aws_s3_bucket: s3', '- aws_sqs_queue: sqs']),
      ],
    })
    expect(conventions).toEqual({
      templates: ['body of aws-resources-s3_bucket', 'body of aws-resources-sqs_queue'],
      templateNames: ['aws-resources-s3_bucket', 'aws-resources-sqs_queue'],
      abbreviations: ['aws_s3_bucket: s3', 'aws_sqs_queue: sqs'],
    })
    const [first, second] = calls
    expect(calls).toHaveLength(2)
    expect(first?.tools?.map(({ name }) => name)).toEqual(['construct_information'])
    expect(second?.messages[0]).toEqual(first?.messages[0])
    expect(second?.messages.at(-1)?.content).toMatch(/Templates:\n- s3_bucket\nAbbreviations:\n- aws_s3_bucket: s3\n/)
    expect(said(second)).not.toContain('imagined')
    expect(read.filter((name) => name.endsWith('s3_bucket'))).toHaveLength(1)
  })
})

describe('what the schema says', () => {
  const argument = (required = true) => ({ type: 'string', required })
  const TYPES = {
    aws_msk_cluster: {
      block: {
        attributes: { cluster_name: argument(), configuration_queue: argument(false) },
        block_types: {
          broker: {
            min_items: 1,
            block: { attributes: { client_subnets: argument(), source_security_groups: argument() } },
          },
          extra: { block: { attributes: { bucket: argument() } } },
        },
      },
    },
    aws_subnet: { block: { attributes: { vpc_id: argument() } } },
    aws_vpc: { block: { attributes: {} } },
    aws_security_group: { block: { attributes: {} } },
    aws_sqs_queue: { block: { attributes: {} } },
  }
  const prompts = {
    'aws-guidelines-resources_list': ['bucket', 'queue', 'subnet', 'security_group', 'vpc']
      .map((name) => `- \`${name}\`: for it`)
      .join('\n'),
    'aws-guidelines-abbreviations': '- aws_subnet: snet\n- aws_vpc: vpc\n- aws_sqs_queue: sqs',
    'aws-resources-subnet': '# Subnet (`aws_subnet`)',
    'aws-resources-vpc': '# Network (`aws_vpc`)',
    'aws-resources-security_group': '# Filter (`aws_security_group`)',
    'aws-resources-queue': '# Queue (`aws_sqs_queue`)',
  }
  const MSK = { query: 'Create an MSK cluster', prompts, types: TYPES }

  it('decides on dependencies, also after an empty first choice, and no second question is asked', async () => {
    const { conventions, calls } = await compose({}, MSK)
    expect(calls).toHaveLength(1)
    expect(conventions?.templateNames).toEqual(
      ['subnet', 'security_group', 'vpc'].map((name) => `aws-resources-${name}`),
    )
    expect(conventions?.abbreviations).toEqual(['aws_subnet: snet', 'aws_vpc: vpc'])
  })

  it('adds nothing that the code has, or that a choice does not require', async () => {
    const files = { 'main.tf': 'resource "aws_vpc" "main" {}\nresource "aws_security_group" "main" {}\n' }
    expect((await compose(files, MSK)).conventions?.templateNames).toEqual(['aws-resources-subnet'])
    const queue = await compose(AWS, { ...MSK, query: 'Add it', script: chooses(['queue']) })
    expect(queue.calls).toHaveLength(1)
    expect(queue.conventions?.templateNames).toEqual(['aws-resources-queue'])
  })

  it('is asked of the model where no schema tells', async () => {
    const { calls } = await compose(AWS, { ...MSK, types: { aws_other: {} }, script: chooses(['queue']) })
    expect(calls).toHaveLength(2)
  })
})

describe('a prompt that is not there', () => {
  it('ends the round when the catalogue lists it', async () => {
    const { error } = await compose(AWS, { script: chooses(['sqs_queue']), missing: ['aws-resources-sqs_queue'] })
    expect(String(error)).toContain('Prompt not found: aws-resources-sqs_queue')
  })

  it('ends the round when the registry fails', async () => {
    const body = async (name: string) =>
      name.includes('-resources-') ? Promise.reject(new Error('registry down')) : 'body'
    const scripts = { construct_information: chooses(['s3_bucket']) }
    const { kit } = await steps.world({ context: { prompts: { body } }, scripts })
    await expect(composePrompts(kit)).rejects.toThrow('registry down')
  })
})

describe('templatesFor', () => {
  const queue =
    '# Queue (`aws_sqs_queue`)\n\n```hcl\nresource "aws_sqs_queue_policy" "x" {\n}\ndata "aws_iam_role" "y" {\n}\n```'
  const network = '# Networks\n\n```hcl\n  resource "aws_vpc" "x" {}\n```'
  const house = '# Rules of the house'
  const role = '# Roles (`aws_iam_role_policy`)'
  const conventions = {
    templates: [queue, network, house, role],
    templateNames: ['sqs_queue', 'vpc', 'house', 'iam_role'].map((name) => `aws-resources-${name}`),
  }

  it.each<[string[], string[]]>([
    [['aws_sqs_queue'], [queue, house]],
    [
      ['aws_sqs_queue_policy', 'aws_vpc'],
      [queue, network, house],
    ],
    [['aws_iam_role'], [house, role]],
    [[], [house]],
  ])('keeps for %j those that are about one of them', (types, expected) => {
    expect(templatesFor(conventions, types)).toEqual(expected)
  })

  it('needs no names', () => {
    expect(templatesFor({ templates: [queue, network] }, new Set(['aws_vpc']))).toEqual([network])
  })
})
