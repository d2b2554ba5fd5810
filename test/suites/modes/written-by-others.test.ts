import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { ADDED, done, targets, write } from './scripts.ts'
import { runGenerate, startStack } from './stack.ts'

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
      task_complete: [write('second.tf', ADDED), done('Added it.'), done('The gate is closed.')],
      generate_engine_targets: targets(),
    },
    { request: { files: { 'gate.tf': GATE } } },
  )
  const told = llm.of('task_complete')[2]?.messages.at(-1)?.content
  expect(told).toContain('1. Resource precondition failed [older than this session]')
  expect(told).not.toContain('\n2. ')
})
