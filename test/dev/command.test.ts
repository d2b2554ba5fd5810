import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('a command ends only when a slow reader has all of its output', async () => {
  const program = fileURLToPath(new URL('fixtures/long-output.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  // Until here nobody reads, and the pipe holds far less than the program has written.
  await once(child.stderr, 'data')
  const lines = (await text(child.stdout)).trimEnd().split('\n')
  expect(lines).toHaveLength(20_001)
  expect(lines.at(-1)).toBe('the last line')
  expect(await ended).toEqual([0, null])
})
