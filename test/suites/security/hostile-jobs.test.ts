import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { useFolder } from '../../helpers/folder.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { fakeEngine, SCOPE, stage, startFakeService, startTestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'

// The attacker holds the token of the service, or has the worker send what it chose.
const FOLDER = 'folders that are no workspace'
const PLAN = 'names of plan files'
const QUEUE = 'jobs of one workspace'

const folder = useFolder()
const service = startOnce(startTestService)

/** Asks for a job in a folder. Returns the text of the refusal, which comes before there is a job. */
async function refusedFolder(workspace_path: string, to: Pick<typeof service, 'request'> = service): Promise<string> {
  const { status, body } = await to.request('POST', '/v1/init', { json: { workspace_path, ...SCOPE } })
  expect([status, body.job_id]).toEqual([404, undefined])
  return body.title
}

for (const path of ['/proc/self/cwd', '/proc/self/root/tmp', '/sys', '/sys/kernel'])
  attack(FOLDER, `the path ${path}`, () => refusedFolder(path))
attack(FOLDER, "the program's own files", () => refusedFolder(process.cwd()))
attack(FOLDER, 'the records of jobs in the data folder', () => refusedFolder(join(service.folder, 'data/jobs')))

attack(FOLDER, 'whatever lies outside of the root of workspaces, by name and through links', async () => {
  const root = join(folder.path, 'workspaces')
  const [inside, outside] = [join(root, 'session'), join(folder.path, 'workspaces-of-others')]
  for (const path of [inside, outside]) await mkdir(path, { recursive: true })
  await symlink(outside, join(root, 'link'))
  const bound = await startFakeService({ IAC_WORKSPACE_ROOT: root })
  const texts = await Promise.all(
    [root, outside, join(root, 'link'), join(root, '../workspaces-of-others'), service.folder].map((path) =>
      refusedFolder(path, bound),
    ),
  )
  expect(new Set(texts.map((text) => text.split(':')[0])).size).toBe(1)
  const kept = await bound.request('POST', '/v1/validate', { json: { workspace_path: inside } })
  expect(kept.status).toBe(202)
  return texts[0] ?? ''
})

attack(FOLDER, 'a workspace that becomes a link to the one of another session while its job waits', async () => {
  const engine = await fakeEngine(folder.path)
  const own = await startTestService({ IAC_BINARY: engine, IAC_MAX_PARALLEL: '1' })
  const { workspace_path, started, gate } = await stage(own, 'echo > started; cat gate')
  const running = await own.submit('/v1/validate', { workspace_path })
  await started.read()
  const victim = await own.workspace({ 'command.sh': 'echo ran in the workspace of a victim' })
  const parent = await own.workspace({ 'root/command.sh': 'echo ran' })
  const waiting = await own.submit('/v1/validate', { workspace_path: join(parent, 'root') })
  await rename(join(parent, 'root'), join(parent, 'moved'))
  await symlink(victim, join(parent, 'root'))
  await gate.write('go')
  await own.finished(running)
  const { result } = await own.finished(waiting)
  expect(result).toMatchObject({ exit_code: 1, stdout: '' })
  return result.stderr
})

const NAMES = ['main.tf', 'terraform.tfstate', '.terraform.lock.hcl', '.platform-state-credentials', 'plan']
for (const plan_file of NAMES)
  attack(PLAN, `a plan that is written over ${plan_file}`, async () => {
    const texts = Object.fromEntries(NAMES.map((name) => [name, name === 'main.tf' ? 'locals {}\n' : '']))
    const workspace_path = await service.workspace({ ...texts, 'terraform.tfstate': '{"version":4}' })
    const before = await contentsOf(workspace_path)
    for (const [route, scope] of [['plan', SCOPE] as const, ['show', {}] as const, ['apply', SCOPE] as const]) {
      const { result } = await service.run(`/v1/${route}`, { workspace_path, ...scope, plan_file })
      expect(result).toMatchObject({ exit_code: 1, stdout: '', stderr: expect.stringContaining('.plan') })
    }
    const { result } = await service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file })
    expect(await contentsOf(workspace_path)).toEqual(before)
    return result.stderr
  })

async function contentsOf(workspace: string): Promise<Record<string, string>> {
  const names = (await readdir(workspace)).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(workspace, name), 'utf8')])),
  )
}

attack(QUEUE, '2,000 jobs that wait for one workspace', async () => {
  const own = await startFakeService()
  const { workspace_path, started, gate } = await stage(own, 'echo > started; cat gate')
  const running = await own.submit('/v1/validate', { workspace_path })
  await started.read()
  const ask = () => own.request('POST', '/v1/validate', { json: { workspace_path } })
  const answers = await Promise.all(Array.from({ length: 2_000 }, ask))
  const accepted = answers.filter(({ status }) => status === 202)
  const refused = answers.filter(({ status }) => status === 503)
  expect([accepted.length, refused.length]).toEqual([32, 1_968])
  expect((await readdir(join(own.folder, 'data/jobs'))).filter((name) => name.endsWith('.json'))).toHaveLength(33)
  // Others are not held up by it.
  const other = await own.workspace({ 'command.sh': 'echo done' })
  expect((await own.run('/v1/validate', { workspace_path: other })).result.stdout).toBe('done\n')
  for (const { body } of accepted) await own.request('DELETE', `/v1/jobs/${body.job_id}`)
  await gate.write('go')
  await own.finished(running)
  expect((await ask()).status).toBe(202)
  return refused[0]?.body.title
})
