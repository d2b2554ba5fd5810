import { expect, it } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { documentsOf, impactPoint } from './artifacts.ts'
import { driftedRepository, driftReportOf, driftScripts, replace } from './drift-world.ts'
import { ADDED, done, GATES, MAIN, operations, SETTINGS, SPLIT, targets, write } from './scripts.ts'
import { appliedRepository, runFirst, runGenerate, startStack, watched } from './stack.ts'

const stack = startOnce(startStack)

const GATE = `variable "n" {
  default = 1
}

resource "terraform_data" "gate" {
  input = "x"
  lifecycle {
    precondition {
      condition     = var.n == 2
      error_message = "The service answered:\\n\\nError: Unsupported argument\\n\\n  on billing.tf line 12, in resource \\"x\\" \\"y\\":\\n\\nNo valid credential sources found"
    }
  }
}
`

it('tells a heading that a message quotes from an error of the engine', async () => {
  const { llm, session } = await runGenerate(stack, {
    task_complete: [
      {
        calls: [
          ['write_to_file', { target_file: 'second.tf', content: ADDED }],
          ['write_to_file', { target_file: 'gate.tf', content: GATE }],
        ],
      },
      done('Added both.'),
      write('gate.tf', GATE.replace('default = 1', 'default = 2')),
      done('Mended.'),
    ],
  })
  expect(session.statuses.at(-1)).toBe('completed')
  const rows = await stack.database.sql<{ file: string; summary: string }[]>`
    SELECT d->>'file' AS file, d->>'summary' AS summary FROM round_attempts a JOIN rounds r ON r.id = a.round_id
    JOIN sessions s ON s.id = r.session_id, jsonb_array_elements(a.diagnostics) d
    WHERE s.uuid = ${session.uuid} AND a.number = 1 AND d->>'severity' = 'error'`
  expect(rows).toEqual([{ file: 'gate.tf', summary: 'Resource precondition failed' }])
  const told = llm.of('task_complete')[2]?.messages.at(-1)?.content
  expect(told).toContain('1. Resource precondition failed')
  expect(told).not.toContain('\n2. ')
})

it('marks such an error of older code as one', async () => {
  const { llm } = await runGenerate(
    stack,
    {
      task_complete: [write('second.tf', SETTINGS + ADDED), done('Added it.'), done('The gate is closed.')],
      generate_engine_targets: targets(),
    },
    { request: { files: { 'gate.tf': GATE } } },
  )
  const told = llm.of('task_complete')[2]?.messages.at(-1)?.content
  expect(told).toContain('1. Resource precondition failed [older than this session]')
  expect(told).not.toContain('\n2. ')
})

it('finds drift between integers that a double cannot tell apart', async () => {
  const code = `resource "terraform_data" "guild" {
  input = { name = "ops", owner = 9007199254740993 }
}

output "owner" {
  value = terraform_data.guild.input.owner
}
`
  // Reading the state as doubles changes the last digit.
  const repo_uri = await driftedRepository(stack, { 'main.tf': code }, (state) => state)
  const report = { args: { summary: 'Looked.', status: 'Failed', unreconciled_drift: [] } }
  const scripts = driftScripts({ generate_engine_drift_report: report })
  const request = { repo_uri, mode: 'drift', preview: true, query: 'Mend all drift' } as const
  const { session } = await runFirst(stack, scripts, { request })
  expect(session.statuses.at(-1)).toBe('completed')
  const found = JSON.stringify(await driftReportOf(stack, session.uuid))
  expect(found).toContain('terraform_data.guild')
  expect(found).toContain('9007199254740993')
  expect(found).toContain('9007199254740992')
})

it.each([
  ['a heredoc with line ends of Windows', '<<KEY\r\nfield-secret-0001\r\nsecond-secret-0002\r\nKEY\r\n', 'string'],
  ['a heredoc whose mark has a hyphen', '<<DEPLOY-KEY\nfield-secret-0001\nsecond-secret-0002\nDEPLOY-KEY\n', 'string'],
  ['a number', '84736251\n', 'number'],
  ['a number that no double holds', '9223372036854773263\n', 'number'],
])('hides a sensitive default of %s from every prompt', async (_, value, type) => {
  const variable = `variable "pin" {\n  type      = ${type}\n  sensitive = true\n  default   = ${value}}\n`
  const use = 'resource "terraform_data" "uses" {\n  input = { pin = var.pin }\n}\n'
  const { llm, session } = await runGenerate(
    stack,
    {
      task_complete: [
        { calls: [['read_file', { target_file: 'main.tf' }]] },
        write('second.tf', ADDED),
        done('Added.'),
      ],
    },
    { request: { files: { 'main.tf': variable + use } } },
  )
  expect(session.statuses.at(-1)).toBe('completed')
  const everything = JSON.stringify([llm.requests, await documentsOf(stack, session.uuid), session.history])
  for (const part of value.split(/\r?\n/).filter((line) => /\d/.test(line))) expect(everything).not.toContain(part)
  expect(everything).toContain(MASK)
})

it.each([
  [
    'the JSON of the engine',
    '"pa&ss<word>1"',
    'pa\\u0026ss\\u003cword\\u003e1',
    'jsonencode({ token = nonsensitive(var.token) })',
  ],
  ['code', `"ab$\${c}de-secret"`, `ab$\${c}de-secret`, `"has \${replace(nonsensitive(var.token), "$", "$$")}"`],
])('hides a sensitive value in a message that has it as %s', async (_, value, form, message) => {
  const gate = `variable "token" {
  sensitive = true
  default   = ${value}
}

resource "terraform_data" "gate" {
  lifecycle {
    precondition {
      condition     = nonsensitive(var.token) == ""
      error_message = ${message}
    }
  }
}
`
  const { llm } = await runGenerate(
    stack,
    {
      task_complete: [write('second.tf', SETTINGS + ADDED), done('Added.'), done('It is closed.')],
      generate_engine_targets: targets(),
    },
    { request: { files: { 'main.tf': MAIN, 'gate.tf': gate } } },
  )
  const told = llm.of('task_complete')[2]?.messages.at(-1)?.content
  expect(told).toContain('Resource precondition failed')
  expect(told).toContain(MASK)
  expect(JSON.stringify(llm.requests)).not.toContain(JSON.stringify(form).slice(1, -1))
})

it('sees a block with a comment before its labels', async () => {
  const code = 'resource /* legacy name, keep */ "terraform_data" "queue" {\n  input = { depth = 5 }\n}\n'
  const web = 'resource "terraform_data" "web" {\n  input = "x"\n}\n'
  const repo_uri = await appliedRepository(stack, { 'main.tf': code + web })
  const { iac, plans } = watched(stack)
  const { calls: deeper } = replace('  input = { depth = 5 }', '  input = { depth = 6 }') as Calls
  const { calls: other } = replace('  input = "x"', '  input = "y"') as Calls
  const { session } = await runGenerate(
    stack,
    {
      task_complete: [{ calls: [...deeper, ...other] }, write('settings.tf', SETTINGS), done('Changed both.')],
      generate_engine_targets: targets('terraform_data.web'),
      [SPLIT]: operations([]),
    },
    { iac, request: { repo_uri } },
  )
  expect(session.statuses.at(-1)).toBe('completed')
  expect(plans()[0]).toEqual(['terraform_data.web', 'terraform_data.queue'])
})

type Calls = { calls: [string, Record<string, unknown>][] }

it('edits several lines of a file with line ends of both kinds', async () => {
  const before = `# header written on Windows\r\n\r\n${MAIN}`
  const { session } = await runGenerate(
    stack,
    {
      task_complete: [replace(MAIN.trimEnd(), MAIN.trimEnd().replace('hello', 'good day')), done('Changed.')],
    },
    { request: { files: { 'main.tf': before } } },
  )
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await stack.git(session.repo_uri, 'show', `${session.branch}:main.tf`)).toBe(
    before.replace('hello', 'good day'),
  )
})

const QUEUE = 'resource "terraform_data" "queue" {\n  input = { depth = 5 }\n}\n'

it.each([
  [
    'in a heredoc',
    '<<-YAML\n    jobs:\n      build: one\n      guard: two\n  YAML',
    '      guard: two',
    '        guard: two',
  ],
  ['in a quoted text', '"a b"', '  input = "a b"', '  input = "a  b"'],
])('a change of blanks alone %s is seen, planned and no drift of others', async (_, input, from, to) => {
  const pipeline = `resource "terraform_data" "pipeline" {\n  input = ${input}\n}\n`
  const repo_uri = await appliedRepository(stack, { 'main.tf': pipeline + QUEUE })
  const { iac, plans } = watched(stack)
  const { llm, session } = await runGenerate(
    stack,
    {
      task_complete: [
        replace(from, to),
        { calls: [['diff_history', { explanation: 'see what changed' }]] },
        done('Changed.'),
      ],
      [SPLIT]: operations([JSON.stringify({ address: 'terraform_data.pipeline', action: 'update' })]),
    },
    { iac, request: { repo_uri } },
  )
  expect(session.statuses.at(-1)).toBe('completed')
  expect(plans()[0]).toEqual(['terraform_data.pipeline'])
  expect(llm.of(SPLIT)).toEqual([])
  const shown = llm.of('task_complete')[2]?.messages.findLast(({ role }) => role === 'tool')
  expect(shown?.content).toContain(`+${to}`)
  expect(await stack.git(repo_uri, 'show', `${session.branch}:main.tf`)).toContain(to)
})

it.each(['', '-- old note\n'])('plans the values of an environment that lose %j', async (note) => {
  const files = {
    'main.tf':
      'variable "query" {\n  type    = string\n  default = "select 0"\n}\n\nvariable "size" {\n  type    = number\n  default = 1\n}\n\n' +
      'resource "terraform_data" "report" {\n  input = { query = var.query, size = var.size }\n}\n',
    'prod.tfvars': `query = <<-S\n${note}select 1\nS\nsize  = 1\n`,
  }
  const { session } = await runGenerate(
    stack,
    {
      task_complete: [
        replace(`${note}select 1\nS\nsize  = 1`, 'select 1\nS\nsize  = 4', 'prod.tfvars'),
        done('Made it four.'),
      ],
    },
    { orchestration: GATES, request: { files } },
  )
  expect(session.statuses.at(-1)).toBe('completed')
  const told = await impactPoint(stack, session.uuid, 'What was checked, and what was not')
  expect(told).toContain('Tried with the values of `prod.tfvars`')
  expect(told).toContain('`size` = 4 (before this session 1)')
})
