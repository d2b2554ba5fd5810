import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { GATES, goodRound } from './scripts.ts'
import { firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)

type Event = Record<string, unknown> & { type: string }

it('a generate round tells what it does, in order, and never what is in it', async () => {
  const context = stack.context(scriptedLlm(goodRound()), { orchestration: GATES })
  const session = await firstRound(stack, context)
  expect(session.failures).toEqual([])
  const rows = await stack.database.sql<{ event: Event }[]>`
    SELECT e.event FROM round_events e JOIN sessions s ON s.id = e.session_id
    WHERE s.uuid = ${session.uuid} AND e.channel = 'activity' ORDER BY e.id`
  const events = rows.map(({ event }) => event)
  const of = (type: string) => events.filter((event) => event.type === type)
  const at = (wanted: Partial<Event>) =>
    events.findIndex((event) => Object.entries(wanted).every(([key, value]) => event[key] === value))

  expect(of('attempt.began')[0]).toMatchObject({ attempt: 1, task: 'generate', reason: null })
  expect(of('attempt.began').at(-1)).toMatchObject({ attempt: 1, task: 'converge', reason: null })
  expect(of('file.written')).toEqual([
    { type: 'file.written', path: 'second.tf', lines_added: expect.any(Number), lines_removed: 0 },
  ])
  expect(of('tool.called')).toContainEqual(
    expect.objectContaining({ chain: 'IAC_GENERATOR', path: 'second.tf', outcome: 'ok' }),
  )
  expect(new Set(of('artifact.uploaded').map(({ kind }) => kind))).toEqual(
    new Set(['changes', 'plans', 'outputs', 'reports', 'compliance']),
  )
  // Every chain that began has ended.
  const chains = (type: string) =>
    of(type)
      .map(({ chain }) => String(chain))
      .toSorted()
  expect(chains('chain.ended')).toEqual(chains('chain.began'))
  const order = [
    at({ type: 'attempt.began', task: 'generate' }),
    at({ type: 'chain.began', chain: 'IAC_GENERATOR' }),
    at({ type: 'tool.called', path: 'second.tf' }),
    at({ type: 'chain.ended', chain: 'IAC_GENERATOR' }),
    at({ type: 'file.written' }),
    at({ type: 'artifact.uploaded', kind: 'plans' }),
    at({ type: 'attempt.began', task: 'converge' }),
    at({ type: 'artifact.uploaded', kind: 'reports' }),
  ]
  expect(order).not.toContain(-1)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  const text = JSON.stringify(events)
  for (const content of [
    'Add a second greeting',
    'terraform_data',
    'token-of-the-git-host',
    stack.config.paths.upload_folder,
  ])
    expect(text).not.toContain(content)
})
