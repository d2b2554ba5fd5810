import type { RecordingInput } from '../../dev/scripted-model/recordings.ts'

/** A request of the bench: its repository, the work that the scripted model plays for it, and how it is asked. */
export interface SizedRequest {
  name: string
  request: string
  /** The engine root in the repository; null for the repository's own root. */
  iac_path: string | null
  files: Record<string, string>
  recording: RecordingInput
}

const VERSIONS = 'terraform {\n  required_version = ">= 1.5"\n}\n'
const LOCALS = `locals {
  name_prefix = "shop-dev"

  common_tags = {
    project     = "shop"
    environment = "dev"
    owner       = "platform-team"
  }
}
`

/** Makes a block of the built-in type, with what is usual beside its name. */
const block = (name: string, more = ''): string => `resource "terraform_data" "${name}" {
  input = {
    name = "\${local.name_prefix}-${name.replaceAll('_', '-')}"
${more}    tags = local.common_tags
  }
}
`

const queue = (service: string): string =>
  [
    block(`${service}_dead_letters`, '    retention_days = 14\n'),
    block(
      `${service}_queue`,
      `    retention_days = 4\n    max_receives = 5\n    dead_letters = terraform_data.${service}_dead_letters.input.name\n`,
    ),
    block(
      `${service}_queue_alarm`,
      `    metric = "oldest_message_age_seconds"\n    threshold = 600\n    queue = terraform_data.${service}_queue.input.name\n`,
    ),
  ].join('\n')

const small = (): Record<string, string> => ({
  'README.md': '# Shop\n\nThe infrastructure of the shop.\n',
  'versions.tf': VERSIONS,
  'locals.tf': LOCALS,
  'main.tf': ['network', 'storefront', 'orders', 'payments'].map((name) => block(name)).join('\n'),
  'outputs.tf': 'output "network" {\n  value = terraform_data.network.input.name\n}\n',
})

const created = (count: number, words: string): RecordingInput['statements'] => [
  {
    ...{ kind: 'resource_count', type: 'terraform_data', action: 'create', op: 'at_least', value: String(count) },
    ...{ text: `At least ${count} resources are created.`, words },
  },
]

const queueRequest = (name: string, service: string, rest: Pick<SizedRequest, 'files' | 'iac_path'>): SizedRequest => ({
  name,
  request: `Add a queue for the ${service} service, with a dead-letter queue and an alarm when messages wait too long.`,
  ...rest,
  recording: {
    name: `bench: ${name}`,
    request: `queue for the ${service} service`,
    reads: ['locals.tf', 'outputs.tf'],
    edits: [
      { write: `${service}.tf`, content: queue(service) },
      {
        replace: 'outputs.tf',
        search: 'output "network" {',
        by: `output "${service}_queue" {\n  value = terraform_data.${service}_queue.input.name\n}\n\noutput "network" {`,
      },
    ],
    summary: `Added the ${service} queue with its dead-letter queue and an alarm on the age of its oldest message in ${service}.tf.`,
    assumptions: ['Messages stay for 4 days, dead letters for 14.'],
    statements: created(3, 'a queue'),
  },
})

const PARTS = ['service', 'network', 'storage', 'database', 'cache', 'alarms', 'dashboards', 'access']

/** A root of 100 files that calls 10 of the 100 modules of its repository, which has 400 files. */
function mediumRepository(): Record<string, string> {
  const files = small()
  const name = (index: number) => String(index).padStart(3, '0')
  for (let index = 0; index < 100; index++) {
    const folder = `modules/m${name(index)}`
    files[`${folder}/main.tf`] =
      'resource "terraform_data" "this" {\n  input = { name = var.name, size = var.size }\n}\n'
    files[`${folder}/variables.tf`] =
      'variable "name" {\n  type = string\n}\n\nvariable "size" {\n  type    = number\n  default = 1\n}\n'
    files[`${folder}/outputs.tf`] = 'output "name" {\n  value = terraform_data.this.output.name\n}\n'
  }
  for (let index = 0; index < 85; index++)
    files[`app_${name(index)}.tf`] = [block(`app_${name(index)}`), block(`app_${name(index)}_log`)].join('\n')
  for (let index = 0; index < 10; index++)
    files[`module_${name(index)}.tf`] =
      `module "m${name(index)}" {\n  source = "./modules/m${name(index)}"\n  name   = "\${local.name_prefix}-m${name(index)}"\n}\n`
  return files
}

/** 1,250 roots of eight files. */
function largeRepository(): Record<string, string> {
  const files: Record<string, string> = {}
  for (let index = 0; index < 1250; index++) {
    const root = `stacks/s${String(index).padStart(4, '0')}`
    for (const [path, text] of Object.entries(small())) files[`${root}/${path}`] = text
    for (const extra of ['cache', 'search', 'mail']) files[`${root}/${extra}.tf`] = block(extra)
  }
  return files
}

/** The requests in the order of their size. The repositories are made when they are needed. */
export const sizedRequests = (): SizedRequest[] => [
  {
    name: 'tag',
    request: 'Give everything the tag cost_center with the value 4711.',
    iac_path: null,
    files: small(),
    recording: {
      name: 'bench: tag',
      request: 'the tag cost_center',
      reads: ['locals.tf'],
      edits: [
        {
          replace: 'locals.tf',
          search: '    owner       = "platform-team"',
          by: '    owner       = "platform-team"\n    cost_center = "4711"',
        },
      ],
      summary: 'Added the tag cost_center to the common tags in locals.tf, which every resource uses.',
      statements: [
        {
          ...{ kind: 'attribute', type: 'terraform_data', path: 'input.tags.cost_center', op: 'eq', value: '4711' },
          ...{ every: true, text: 'Every resource has the tag.', words: 'Give everything the tag cost_center' },
        },
      ],
    },
  },
  queueRequest('queue', 'thumbnails', { files: small(), iac_path: null }),
  {
    name: 'service of 8 files',
    request: 'Set up the recommendations service: network, storage, database, cache, alarms, dashboards and access.',
    iac_path: null,
    files: small(),
    recording: {
      name: 'bench: service',
      request: 'Set up the recommendations service',
      reads: ['locals.tf', 'main.tf'],
      edits: PARTS.map((part) => ({
        write: `recommendations-${part}.tf`,
        content: [1, 2, 3].map((index) => block(`recommendations_${part}_${index}`, '    size = 2\n')).join('\n'),
      })),
      summary: `Added the recommendations service in eight files, one for each of ${PARTS.join(', ')}.`,
      assumptions: ['Every part has three instances of size 2.'],
      statements: created(24, 'Set up the recommendations service'),
    },
  },
  queueRequest('400 files', 'invoices', { files: mediumRepository(), iac_path: null }),
  queueRequest('10,000 files', 'refunds', { files: largeRepository(), iac_path: 'stacks/s0625' }),
]
