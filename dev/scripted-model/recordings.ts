import { PROVIDER_RECORDINGS } from './provider-recordings.ts'
import type { Edit, Files, Recording, Statement } from './recording.ts'
import { SMALL_RECORDINGS } from './small-recordings.ts'

const TYPE = 'terraform_data'
const named = (name: string) => [{ path: 'input.name', op: 'contains', value: name }]

/** The statement that something with this name is created. */
const created = (text: string, words: string, name: string): Statement => ({
  kind: 'resource_count',
  text,
  words,
  type: TYPE,
  action: 'create',
  op: 'at_least',
  value: '1',
  where: named(name),
})
const onlyAdds = (words: string): Statement => ({
  kind: 'no_deletions',
  text: 'Nothing that exists is destroyed.',
  words,
})

const ELSEWHERE =
  'This recording was made for the sample repository samples/web-platform, and this one looks different.'

/** The service that a request names. */
export const serviceOf = (request: string): string =>
  /\b(orders|payments|storefront)\b/i.exec(request)?.[1]?.toLowerCase() ?? 'orders'

const hasConventions = (files: Files) =>
  /name_prefix/.test(files['locals.tf'] ?? '') && /common_tags/.test(files['locals.tf'] ?? '')

const queue: Recording = {
  name: 'queue',
  matches: (request) => /\bqueues?\b/i.test(request) && !/\b(replay|retention|keep)\b/i.test(request),
  reads: () => ['locals.tf', 'variables.tf', 'outputs.tf'],
  obstacle: (request, listing, files) => {
    if (!hasConventions(files)) return ELSEWHERE
    const file = `${serviceOf(request)}-queue.tf`
    return listing.includes(file) ? `The queue is already there: ${file} holds it. Nothing has to be changed.` : null
  },
  edits: (request, files) => {
    const service = serviceOf(request)
    const first = /^output "[^"]+" \{$/m.exec(files['outputs.tf'] ?? '')?.[0]
    const output =
      `output "${service}_queue_id" {\n  description = "Work queue of the ${service} service."\n  value       = ` +
      `terraform_data.${service}_queue.id\n}\n`
    const separate: Edit[] = first ? [{ replace: 'outputs.tf', search: first, by: `${output}\n${first}` }] : []
    return [{ write: `${service}-queue.tf`, content: queueFile(service) + (first ? '' : `\n${output}`) }, ...separate]
  },
  summary: (request) => {
    const service = serviceOf(request)
    return (
      `Added a work queue for the ${service} service with a dead-letter queue that keeps messages for 14 days, ` +
      "an alarm when the oldest message waits longer than five minutes, and an output with the queue's id."
    )
  },
  statements: (request) => {
    const service = serviceOf(request)
    return [
      created(
        `A work queue for the ${service} service is created.`,
        `a work queue for the ${service} service`,
        `${service}-work`,
      ),
      created('A dead-letter queue is created.', 'with a dead-letter queue', `${service}-dead-letter`),
      {
        kind: 'attribute',
        text: 'An alarm watches how long messages wait.',
        words: 'an alarm',
        type: TYPE,
        path: 'input.metric',
        op: 'contains',
        value: 'age',
      },
      {
        kind: 'attribute',
        text: 'The work queue hands what it cannot deliver to the dead-letter queue.',
        words: 'with a dead-letter queue',
        type: TYPE,
        name: `${service}_queue`,
        path: 'input.dead_letter_queue',
        op: 'exists',
      },
      onlyAdds('Add'),
    ]
  },
  title: (request) => `Add a work queue for the ${serviceOf(request)} service`,
}

/**
 * A file that uses `local.tags`, which does not exist in the repository. The engine says so, and the repair finds the
 * right name.
 */
const queueFile = (service: string): string => `locals {
  ${service}_queue_tags = merge(local.tags, { service = "${service}" })
}

resource "terraform_data" "${service}_dead_letter_queue" {
  input = {
    name           = "\${local.name_prefix}-${service}-dead-letter"
    retention_days = 14
    tags           = local.${service}_queue_tags
  }
}

resource "terraform_data" "${service}_queue" {
  input = {
    name                       = "\${local.name_prefix}-${service}-work"
    visibility_timeout_seconds = 60
    retention_days             = 4
    max_receives               = 5
    dead_letter_queue          = terraform_data.${service}_dead_letter_queue.id
    tags                       = local.${service}_queue_tags
  }
}

resource "terraform_data" "${service}_queue_alarm" {
  input = {
    name              = "\${local.name_prefix}-${service}-queue-age"
    queue             = terraform_data.${service}_queue.id
    metric            = "oldest_message_age_seconds"
    threshold         = 300
    evaluation_period = 60
    notify            = var.owner
    tags              = local.${service}_queue_tags
  }
}
`

const noQueue = (service: string) =>
  `There is no queue of the ${service} service in this session yet. Ask for the queue first.`

const retention: Recording = {
  name: 'retention',
  matches: (request) => /\b(keep|retain|retention)\b/i.test(request) && /\b\d{1,3} days\b/i.test(request),
  reads: (request) => [`${serviceOf(request)}-queue.tf`],
  obstacle: (request, listing) =>
    listing.includes(`${serviceOf(request)}-queue.tf`) ? null : noQueue(serviceOf(request)),
  edits: (request, files) => {
    const file = `${serviceOf(request)}-queue.tf`
    const days = /\b(\d{1,3}) days\b/i.exec(request)?.[1]
    const search = /name +=.*-dead-letter"\n +retention_days += \d+/.exec(files[file] ?? '')?.[0]
    return search ? [{ replace: file, search, by: search.replace(/\d+$/, `${days}`) }] : []
  },
  summary: (request) =>
    `The dead-letter queue of the ${serviceOf(request)} service now keeps messages for the time that was asked for.`,
  statements: (request) => {
    const days = /\b(\d{1,3}) days\b/i.exec(request)?.[1] ?? ''
    const words = `keep dead letters for ${days} days`
    return [
      {
        kind: 'attribute',
        text: `The dead-letter queue keeps messages for ${days} days.`,
        words,
        type: TYPE,
        name: '*dead_letter*',
        path: 'input.retention_days',
        op: 'eq',
        value: days,
      },
    ]
  },
  title: (request) => `Keep dead letters of the ${serviceOf(request)} service longer`,
}

const replay: Recording = {
  name: 'replay',
  matches: (request) => /\breplay/i.test(request),
  reads: (request) => [`${serviceOf(request)}-queue.tf`],
  obstacle: (request, listing) =>
    listing.includes(`${serviceOf(request)}-queue.tf`) ? null : noQueue(serviceOf(request)),
  edits: (request) => {
    const service = serviceOf(request)
    const content = `resource "terraform_data" "${service}_replay_job" {
  input = {
    name     = "\${local.name_prefix}-${service}-replay"
    schedule = "0 3 * * *"
    source   = terraform_data.${service}_dead_letter_queue.id
    target   = terraform_data.${service}_queue.id
    tags     = local.${service}_queue_tags
  }
}
`
    return [{ write: `${service}-replay.tf`, content }]
  },
  summary: (request) =>
    `Added a job that moves the dead letters of the ${serviceOf(request)} service back into its work queue ` +
    'every night at three.',
  statements: (request) => [
    created('A job that replays dead letters is created.', 'replay the dead letters', `${serviceOf(request)}-replay`),
  ],
  title: (request) => `Replay the dead letters of the ${serviceOf(request)} service`,
}

const exportJob: Recording = {
  name: 'export job',
  matches: (request) => /\bexport\b/i.test(request),
  reads: () => ['jobs.tf'],
  obstacle: (_, listing, files) => {
    if (!/nightly_export/.test(files['jobs.tf'] ?? ''))
      return (
        'This recording was made for the root ingest/batch of the sample repository samples/data-platform, and ' +
        'this one looks different.'
      )
    return listing.includes('hourly-export.tf')
      ? 'The hourly export is already there. Nothing has to be changed.'
      : null
  },
  edits: () => [
    {
      write: 'hourly-export.tf',
      content: `resource "terraform_data" "hourly_export" {
  input = {
    name     = "hourly-export"
    schedule = "0 * * * *"
    source   = "warehouse_clicks"
  }
}
`,
    },
  ],
  summary: () => 'Added an export job that runs every hour, beside the nightly one.',
  statements: () => [
    {
      kind: 'attribute',
      text: 'A job runs every hour.',
      words: 'hourly',
      type: TYPE,
      path: 'input.schedule',
      op: 'matches',
      value: '0 * * * *',
    },
  ],
  title: () => 'Add an hourly export job',
}

const datasetOf = (request: string): string => /\bthe (\w+) dataset\b/i.exec(request)?.[1]?.toLowerCase() ?? ''
const DATASETS = /^ {2}datasets = \{\n[\s\S]*?^ {2}\}$/m

const removeDataset: Recording = {
  name: 'remove dataset',
  matches: (request) => /\b(remove|delete|drop)\b/i.test(request) && datasetOf(request) !== '',
  reads: () => ['main.tf'],
  obstacle: (request, _, files) => {
    const datasets = DATASETS.exec(files['main.tf'] ?? '')?.[0]
    if (!datasets)
      return (
        'This recording was made for the root warehouse of the sample repository samples/data-platform, and ' +
        'this one looks different.'
      )
    const datasetNames = [...datasets.matchAll(/^ {4}(\w+) +=/gm)].map((match) => match[1])
    return datasetNames.includes(datasetOf(request))
      ? null
      : `There is no dataset ${datasetOf(request)}; there are ${datasetNames.join(', ')}.`
  },
  edits: (request, files) => {
    const search = DATASETS.exec(files['main.tf'] ?? '')?.[0]
    return search
      ? [{ replace: 'main.tf', search, by: search.replace(new RegExp(`^ {4}${datasetOf(request)} +=.*\n`, 'm'), '') }]
      : []
  },
  summary: (request) =>
    `Took the ${datasetOf(request)} dataset out of the warehouse. The data that it holds is lost when this is applied.`,
  statements: (request) => [
    {
      kind: 'resource_count',
      text: `The ${datasetOf(request)} dataset is gone.`,
      words: `remove the ${datasetOf(request)} dataset`,
      type: TYPE,
      action: 'delete',
      op: 'at_least',
      value: '1',
    },
  ],
  title: (request) => `Remove the ${datasetOf(request)} dataset from the warehouse`,
}

/**
 * Names of a value that does not exist. One recording tries them one after the other and never looks for the right one.
 */
export const GUESSES = [
  'second_region',
  'secondary_region',
  'region_b',
  'mirror_region',
  'other_region',
  'backup_region',
]
const MIRROR_FILE = /^\w+-mirror\.tf$/
export const isMirror = (file: string): boolean => MIRROR_FILE.test(file)

const mirror: Recording = {
  name: 'mirror',
  matches: (request) => /\bmirror\b/i.test(request),
  reads: () => ['locals.tf'],
  obstacle: (_, __, files) => (hasConventions(files) ? null : ELSEWHERE),
  edits: (request) => {
    const service = serviceOf(request)
    const content = `resource "terraform_data" "${service}_mirror" {
  input = {
    name   = "\${local.name_prefix}-${service}-mirror"
    region = local.${GUESSES[0]}
    tags   = local.common_tags
  }
}
`
    return [{ write: `${service}-mirror.tf`, content }]
  },
  summary: (request) => `Added a mirror of the ${serviceOf(request)} service in the second region.`,
  statements: (request) => [
    created(`A mirror of the ${serviceOf(request)} service is created.`, 'mirror', `${serviceOf(request)}-mirror`),
  ],
  title: (request) => `Mirror the ${serviceOf(request)} service`,
}

const RECORDINGS: readonly Recording[] = [
  ...PROVIDER_RECORDINGS,
  ...SMALL_RECORDINGS,
  retention,
  replay,
  mirror,
  removeDataset,
  queue,
  exportJob,
]

export const findRecording = (request: string): Recording | null =>
  RECORDINGS.find((recording) => recording.matches(request)) ?? null
