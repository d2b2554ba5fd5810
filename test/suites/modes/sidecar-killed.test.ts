import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import { engineOnPath } from '../../helpers/engine.ts'
import { eventually } from '../../helpers/eventually.ts'
import { useFolder } from '../../helpers/folder.ts'
import { type LoggingProcess, startLogging } from '../../helpers/logging-process.ts'
import { recordedJobs } from './apply-world.ts'
import { ADDED, goodLlm, MAIN } from './scripts.ts'
import { firstRound, type Stack, startStack } from './stack.ts'

let stack: Stack
const folder = useFolder()
const sidecars: LoggingProcess[] = []
beforeAll(async () => {
  stack = await startStack()
})
afterAll(async () => {
  for (const { child } of sidecars) child.kill('SIGKILL')
  await stack.close()
})

/** Wraps the real engine so that its first plan reports its start and then hangs. */
async function hangingEngine(mark: string): Promise<string> {
  const real = await engineOnPath()
  const path = join(folder.path, 'engine')
  await writeFile(
    path,
    `#!/bin/sh\nif [ "$1" = plan ] && [ ! -e '${mark}' ]; then touch '${mark}'; exec sleep 300; fi\n` +
      `exec '${real}' "$@"\n`,
  )
  await chmod(path, 0o755)
  return path
}

/** Starts the sidecar as a process and returns it with its address. */
async function startSidecar(binary: string, port: string): Promise<LoggingProcess & { url: string }> {
  const sidecar = startLogging(['sidecars/main.ts', 'iac'], {
    HOME: folder.path,
    PLATFORM_PORT: port,
    PLATFORM_HOST: '127.0.0.1',
    PLATFORM_IAC_TOKEN: stack.config.services.iac.token,
    IAC_BINARY: binary,
    IAC_DATA_DIR: join(folder.path, 'jobs'),
    IAC_STOP_GRACE_SECONDS: '0.2',
    // The engine of these tests is a script that leaves files outside of its workspace.
    IAC_SANDBOX: 'none',
  })
  sidecars.push(sidecar)
  const { url } = await sidecar.said('iac service ready')
  return { ...sidecar, url: String(url) }
}

it('a round outlives its sidecar: killed in the middle of a plan and started again, the plan is made anew', async () => {
  const mark = join(folder.path, 'planning')
  const binary = await hangingEngine(mark)
  const first = await startSidecar(binary, '0')
  const polled = new Set<string>()
  const iac = createIacClient(
    { ...stack.config.services.iac, endpoint: first.url, job_poll_interval: 0.2 },
    {
      fetch: (input, init) => {
        polled.add(String(input))
        return fetch(input, init)
      },
      log: silentLogger,
    },
  )
  const context = stack.context(goodLlm(), { iac })
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const round = firstRound(stack, context, { repo_uri })

  await eventually(() => expect(existsSync(mark)).toBe(true))
  // The engine may begin before the service has recorded its process and before the worker knows the job.
  await eventually(() => {
    const planning = recordedJobs(join(folder.path, 'jobs', 'jobs')).find(({ kind }) => kind === 'plan')
    expect(planning?.process).toBeTruthy()
    expect(polled).toContain(`${first.url}/v1/jobs/${planning?.job_id}`)
  })
  first.child.kill('SIGKILL')
  await startSidecar(binary, new URL(first.url).port)

  const session = await round
  expect(session.statuses.at(-1)).toBe('completed')
  expect(session.statuses.filter((status) => status === 'generating')).toHaveLength(1)
  expect(session.in_flight).toBe(false)
  expect(await stack.git(repo_uri, 'show', `${session.branch}:second.tf`)).toBe(ADDED)
})
