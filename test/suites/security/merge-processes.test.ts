import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { change, planOf, provideWorld } from '../contract/world.ts'
import { attack } from './attack.ts'

const run = promisify(execFile)
const world = provideWorld()
const CREATED = planOf(change('aws_s3_bucket.logs', ['create'], { after: { bucket: 'logs' } }))

/** Runs git in the bare repository of a session. */
async function gitAt(uri: string, args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
  const { stdout } = await run('git', ['-C', world.pathOf(uri), ...identity, ...args])
  return stdout.trim()
}

/** Opens a session whose first round a real worker completes, and its pull request. */
async function openedPullRequest() {
  Object.assign(world.sidecar, { touches_disk: true, plan: CREATED })
  const { uuid, workspace } = await world.first('generate')
  expect((await world.call('PUT', '/repository/pr', { session_id: uuid })).status).toBe(201)
  return { uuid, ...workspace }
}

/** Adds a commit to the branch, as anyone with push access can. */
async function pushTo(uri: string, branch: string): Promise<void> {
  const commit = await gitAt(uri, ['commit-tree', `${branch}^{tree}`, '-p', branch, '-m', 'One more'])
  await gitAt(uri, ['update-ref', `refs/heads/${branch}`, commit])
}

const merge = (uuid: string) => world.call('PUT', '/repository/pr/merge', { session_id: uuid })

attack('merging what nobody reviewed', 'a push after the round of a real worker', async () => {
  const { uuid, uri, branch } = await openedPullRequest()
  const before = await gitAt(uri, ['rev-parse', 'main'])
  await pushTo(uri, branch)
  const refused = await merge(uuid)
  const { detail } = (await refused.json()) as { detail: string }
  expect([refused.status, await gitAt(uri, ['rev-parse', 'main'])]).toEqual([409, before])
  return `409: ${detail}`
})

test('a further round reviews what was pushed, and then it can be merged', async () => {
  const { uuid, uri, branch } = await openedPullRequest()
  await pushTo(uri, branch)
  expect((await merge(uuid)).status).toBe(409)
  Object.assign(world.sidecar, { touches_disk: true, plan: CREATED })
  expect((await world.run('generate', { session_id: uuid, q: 'Look again' })).current_status).toBe('completed')
  expect((await merge(uuid)).status).toBe(204)
})

test('a plan that was applied can be merged', async () => {
  const { uuid, uri, branch } = await openedPullRequest()
  const reviewed = await gitAt(uri, ['rev-parse', branch])
  expect((await world.run('apply', { session_id: uuid })).current_status).toBe('completed')
  expect((await merge(uuid)).status).toBe(204)
  expect(await gitAt(uri, ['rev-parse', 'main^2'])).toBe(reviewed)
})
