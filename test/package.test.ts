import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './helpers/folder.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const folder = temporaryFolder()

const messages = (lines: string[]) =>
  lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).message)

/** Starts the iac sidecar as an operator does: npm, its shell, and the service. */
async function startWithNpm() {
  const child = spawn('npm', ['run', 'sidecar', '--', 'iac'], {
    cwd: ROOT,
    env: {
      ...process.env,
      PLATFORM_IAC_TOKEN: 'token-1',
      PLATFORM_HOST: '127.0.0.1',
      PLATFORM_PORT: '0',
      IAC_DATA_DIR: folder,
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  // Emitted when the last process that holds the pipe has ended, not when npm has.
  const closed = once(child, 'close').then(([code]) => code)
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      if (line.includes('"iac service ready"')) resolve()
    })
  })
  await Promise.race([ready, closed.then(() => Promise.reject(new Error(lines.join('\n'))))])
  return { pid: child.pid ?? 0, lines, closed }
}

describe('npm scripts', () => {
  it('run files that exist', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const files = Object.values(scripts).flatMap((command) => command.split(' ').filter((word) => word.endsWith('.ts')))
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) await access(join(ROOT, file))
  })

  it('pass SIGTERM on to the service, which ends in order and leaves nothing behind', async () => {
    const { pid, lines, closed } = await startWithNpm()
    process.kill(pid, 'SIGTERM')
    expect(await closed).toBe(0)
    expect(messages(lines).filter((text) => text === 'stopping')).toHaveLength(1)
  })

  it('end in order on Ctrl-C, which the terminal sends to all and npm passes on once more', async () => {
    const { pid, lines, closed } = await startWithNpm()
    process.kill(-pid, 'SIGINT')
    expect(await closed).toBe(0)
    expect(messages(lines).filter((text) => text === 'stopping')).toHaveLength(1)
  })
})
