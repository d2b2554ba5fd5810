import type { Edit, Recording } from './recording.ts'

/** A recorded piece of work whose edits are the same whatever the request says. */
interface SmallWork {
  name: string
  /** Fits the requests for it. */
  request: RegExp
  /** The file that is read when no edit replaces a part of one. */
  reads?: string
  edits: Edit[]
  summary: string
}

/** Makes the recording of a small piece of work. It can be played where the parts that it replaces stand. */
export function small({ name, request, reads = 'main.tf', edits, summary }: SmallWork): Recording {
  const replaced = edits.flatMap((edit) => ('replace' in edit ? [edit] : []))
  const files = replaced.length > 0 ? [...new Set(replaced.map((edit) => edit.replace))] : [reads]
  return {
    name,
    matches: (text) => request.test(text),
    reads: () => files,
    obstacle: (_, listing, read) => {
      const missing = replaced.find((edit) => !read[edit.replace]?.includes(edit.search))
      const present = edits.find((edit) => 'write' in edit && listing.split('\n').includes(edit.write))
      if (missing) return `This recording was made for another repository: ${missing.replace} looks different here.`
      return present && 'write' in present ? `${present.write} is already there. Nothing has to be changed.` : null
    },
    edits: () => edits,
    summary: () => summary,
    statements: () => [],
    title: () => summary.split(/\.(?:\s|$)/)[0] ?? name,
  }
}

const days = (name: string, value: number) => `name           = "${name}"\n    retention_days = ${value}`
const keep = (name: string, from: number, to: number): Edit => ({
  replace: 'backups.tf',
  search: days(name, from),
  by: days(name, to),
})

const NIGHTLY_ARCHIVE = `resource "terraform_data" "nightly_archive" {
  input = {
    name     = "nightly-archive"
    schedule = "0 1 * * *"
  }
}

`
const METRICS_RULE = (log: boolean) => `resource "terraform_data" "firewall_metrics" {
  input = {
    name    = "\${local.prefix}-metrics"
    network = terraform_data.network.id
    port    = 9100
    sources = ["10.40.0.0/16"]
    log     = ${log}
  }
}
`
const queueBlock = (name: string) => `resource "terraform_data" "queue_${name}" {
  input = {
    name           = "${name}"
    retention_days = 4
  }
}
`
const QUEUES = ['orders', 'payments', 'search']
const storeBlock = (name: string, label: string, size: number, prefix: string) => `resource "terraform_data" "${name}" {
  input = {
    name    = "\${${prefix}}-${label}"
    size_mb = ${size}
  }
}
`
const move = (from: string, to: string) => `moved {\n  from = ${from}\n  to   = ${to}\n}\n`
const alarm = (name: string, label: string, queue: string) => `resource "terraform_data" "${name}" {
  input = {
    name      = "${label}"
    queue     = terraform_data.${queue}.id
    metric    = "oldest_message_age_seconds"
    threshold = 300
  }
}
`

/** Recorded work on the repositories of the evaluation. */
export const SMALL_RECORDINGS: readonly Recording[] = [
  small({
    name: 'backups',
    request: /^Every backup keeps 35 days/,
    edits: ['orders', 'clicks', 'sessions'].map((name) => keep(name, 14, 35)),
    summary: 'Every backup keeps 35 days.',
  }),
  small({
    name: 'backups elsewhere',
    request: /Make it 7 days elsewhere/,
    edits: ['clicks', 'sessions'].map((name) => keep(name, 35, 7)),
    summary: 'The backups of clicks and sessions keep 7 days. Orders stay at 35.',
  }),
  small({
    name: 'log of the metrics rule',
    request: /firewall rule for metrics write a log/,
    edits: [{ replace: 'firewall.tf', search: METRICS_RULE(false), by: METRICS_RULE(true) }],
    summary: 'The firewall rule for metrics writes a log.',
  }),
  small({
    name: 'end of the metrics rule',
    request: /Drop the metrics rule/,
    edits: [{ replace: 'firewall.tf', search: `\n${METRICS_RULE(true)}`, by: '' }],
    summary: 'Removed the firewall rule for metrics.',
  }),
  small({
    name: 'end of the archive job',
    request: /nightly archive job is no longer needed/,
    edits: [{ replace: 'jobs.tf', search: NIGHTLY_ARCHIVE, by: '' }],
    summary: 'Removed the nightly archive job.',
  }),
  small({
    name: 'queues with for_each',
    request: /Make one resource called queue with for_each/,
    edits: [
      {
        replace: 'queues.tf',
        search: QUEUES.map(queueBlock).join('\n'),
        by: [
          `resource "terraform_data" "queue" {
  for_each = toset(["orders", "payments", "search"])

  input = {
    name           = each.key
    retention_days = 4
  }
}
`,
          ...QUEUES.map((name) => move(`terraform_data.queue_${name}`, `terraform_data.queue["${name}"]`)),
        ].join('\n'),
      },
    ],
    summary: 'One resource with for_each stands for the three queues. Moved blocks keep what exists.',
  }),
  small({
    name: 'store module',
    request: /Move the cache and the session store into a new local module/,
    edits: [
      {
        replace: 'main.tf',
        search: [
          storeBlock('cache', 'cache', 512, 'local.prefix'),
          storeBlock('session_store', 'sessions', 256, 'local.prefix'),
        ].join('\n'),
        by: [
          'module "store" {\n  source = "./store"\n\n  prefix = local.prefix\n}\n',
          move('terraform_data.cache', 'module.store.terraform_data.cache'),
          move('terraform_data.session_store', 'module.store.terraform_data.session_store'),
        ].join('\n'),
      },
      { replace: 'main.tf', search: 'terraform_data.cache.output.name', by: 'module.store.cache_name' },
      {
        write: 'store/main.tf',
        content: [
          'variable "prefix" {\n  type = string\n}\n',
          storeBlock('cache', 'cache', 512, 'var.prefix'),
          storeBlock('session_store', 'sessions', 256, 'var.prefix'),
          'output "cache_name" {\n  value = terraform_data.cache.output.name\n}\n',
        ].join('\n'),
      },
    ],
    summary: 'The module store holds the cache and the session store. Moved blocks keep what exists.',
  }),
  small({
    name: 'alarm of the mail',
    request: /alarm called mail-age/,
    reads: 'alarms.tf',
    edits: [
      {
        write: 'mail-age.tf',
        content: `resource "terraform_data" "age_alarm" {
  input = {
    name      = "\${local.prefix}-age"
    threshold = 300
    tags      = local.common_tags
  }
}
`,
      },
    ],
    summary: 'Added the alarm mail-age, which fires when mail waits longer than 300 seconds.',
  }),
  small({
    name: 'audit days',
    request: /audit log for 400 days in production/,
    edits: [
      { replace: 'environments/production.tfvars', search: 'audit_days  = 90', by: 'audit_days  = 400' },
      { replace: 'environments/staging.tfvars', search: 'audit_days  = 45', by: 'audit_days  = 60' },
    ],
    summary: 'The audit log is kept for 400 days in production and for 60 days in staging.',
  }),
  small({
    name: 'alarm of the orders',
    request: /alarm called orders-age/,
    edits: [{ write: 'alarms.tf', content: alarm('orders_age', 'orders-age', 'orders_queue') }],
    summary: 'Added the alarm orders-age.',
  }),
  small({
    name: 'retention in German',
    request: /Warteschlange für Bestellungen soll Nachrichten 10 Tage/,
    edits: [
      {
        replace: 'queues.tf',
        search: 'name           = "orders"\n    retention_days = 4',
        by: 'name           = "orders"\n    retention_days = 10',
      },
    ],
    summary: 'Die Warteschlange für Bestellungen hebt Nachrichten 10 Tage lang auf.',
  }),
  small({
    name: 'alarm in Japanese',
    request: /payments-age のアラーム/,
    reads: 'queues.tf',
    edits: [{ write: 'alarms.tf', content: alarm('payments_age', 'payments-age', 'payments_queue') }],
    summary: '決済サービスのキューにアラーム payments-age を追加しました。',
  }),
]
