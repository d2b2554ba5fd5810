import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { createProcesses } from '../chaos/processes.ts'
import { recordedJobs } from './apply-world.ts'
import { ADDED, goodLlm } from './scripts.ts'
import { firstRound, startStack } from './stack.ts'

const stack = startOnce(startStack)
const processes = startOnce(() => createProcesses(stack))

it('a round outlives its sidecar: killed in the middle of a plan and started again, the plan is made anew', async () => {
  await processes.closeGate('plan')
  const first = await processes.sidecar()
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
  const round = firstRound(stack, stack.context(goodLlm(), { iac }))

  await eventually(() => expect(existsSync(processes.mark)).toBe(true))
  // The engine may begin before the service has recorded its process and before the worker knows the job.
  await eventually(() => {
    const [planning, ...others] = recordedJobs(processes.jobs_folder).filter(({ kind }) => kind === 'plan')
    expect(planning?.process).toBeTruthy()
    // Without a state the code from before the session is not planned.
    expect(others).toEqual([])
    expect(polled).toContain(`${first.url}/v1/jobs/${planning?.job_id}`)
  })
  first.child.kill('SIGKILL')
  await processes.sidecar(new URL(first.url).port)

  const session = await round
  expect(session.statuses.at(-1)).toBe('completed')
  expect(session.statuses.filter((status) => status === 'generating')).toHaveLength(1)
  expect(session.in_flight).toBe(false)
  expect(await stack.git(session.repo_uri, 'show', `${session.branch}:second.tf`)).toBe(ADDED)
})
