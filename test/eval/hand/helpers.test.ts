import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { type HelperTask, runHelper } from '../../../eval/hand/helpers.ts'
import { startHandEndpoint } from '../../../eval/hand/server.ts'
import { readOptions } from '../../../eval/options.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { startOnce } from '../../helpers/start-once.ts'

const RUN = fileURLToPath(new URL('../../../eval/run.ts', import.meta.url))
const folder = temporaryFolder()
const endpoint = startOnce(() => startHandEndpoint({ folder, autoStatus: true, pollMs: 5 }))

interface Ended {
  code: number
  out: string
  err: string
}

/** Runs a helper as its own process, as people do. */
const spawnHelper = (...args: string[]) =>
  new Promise<Ended>((resolve) => {
    execFile(process.execPath, [RUN, '--hand', '--folder', folder, ...args], (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })

async function helper(...args: string[]): Promise<Ended> {
  const options = readOptions(['--hand', '--folder', folder, ...args])
  if (!options?.hand) throw new Error('no helper')
  const out = vi.spyOn(console, 'log').mockImplementation(() => {})
  const err = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    const code = await runHelper(options.hand, options.hand.task as HelperTask, options.json)
    return { code, out: `${out.mock.calls.join('\n')}\n`, err: `${err.mock.calls.join('\n')}\n` }
  } finally {
    out.mockRestore()
    err.mockRestore()
  }
}

it('a call is shown, refused, answered and counted from the command line', async () => {
  expect(await helper('--next', '--wait', '1')).toMatchObject({ code: 3, err: 'No call waits yet.\n' })
  const next = spawnHelper('--next')
  const asked = fetch(`${endpoint.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'hand',
      messages: [{ role: 'user', content: 'Add a queue.' }],
      tools: [{ type: 'function', function: { name: 'task_complete', description: 'Ends.', parameters: {} } }],
    }),
  })
  expect(await next).toMatchObject({ code: 0, out: expect.stringMatching(/CALL 1: task_complete[\s\S]*Add a queue/) })
  const file = join(folder, 'own.json')
  await writeFile(file, '{"tool_calls": [{"name": "done"}]}')
  expect(await helper('--answer', '1', file)).toMatchObject({ code: 1, err: expect.stringContaining('no tool "done"') })
  expect(await helper('--answer', '1', join(folder, 'none.json'))).toMatchObject({ code: 1 })
  await writeFile(file, '{"tool_calls": [{"name": "task_complete"}]}')
  expect(await helper('--answer', '1', file)).toMatchObject({ code: 0, out: expect.stringContaining('task_complete') })
  expect(await (await asked).json()).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
  expect((await helper('--stats')).out).toMatch(/^1 task_complete +task_complete +\d+/m)
  const { out } = await helper('--stats', '--json')
  expect(JSON.parse(out)).toMatchObject({ total: { calls: 1 }, called: { task_complete: 1 } })
  expect(await helper('--show', '7')).toMatchObject({ code: 1 })
})
