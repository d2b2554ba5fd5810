import { createHash } from 'node:crypto'
import { appendFile, copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import {
  fakeEngine,
  pipe,
  SCOPE,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../../sidecars/iac/service.ts'
import { applyJobs, applyRound, contextOf, managedState, sessionWithPlan } from '../modes/apply-world.ts'
import { MAIN } from '../modes/scripts.ts'
import { planPath, type Stack, startStack } from '../modes/stack.ts'
import { attack } from './attack.ts'

const GROUP = 'what was reviewed is what is applied'
let stack: Stack
let service: TestService
beforeAll(async () => {
  stack = await startStack()
  service = await startTestService()
})
afterAll(async () => {
  await service.close()
  await stack.close()
})

const FILES = {
  'main.tf': `${MAIN}module "shared" {\n  source = "./shared"\n}\n`,
  'shared/main.tf': 'resource "terraform_data" "shared" {\n  input = filesha256("$' + '{path.module}/code.zip")\n}\n',
  'shared/code.zip': 'reviewed archive',
}

/** Changes the saved directory of a reviewed plan, and tries to apply it. */
async function applyAfter(change: (root: string) => Promise<void>): Promise<string> {
  const context = contextOf(stack)
  const session = await sessionWithPlan(stack, context, FILES)
  await change(planPath(stack, session.uuid))
  const round = await applyRound(stack, context, session.uuid)
  expect(round.statuses.at(-1)).toBe('failed')
  expect(applyJobs(stack, session.uuid)).toEqual([])
  expect(await managedState(context, session.repo_uri)).toEqual([])
  return round.messages.at(-1) ?? ''
}

const CHANGES: Record<string, (root: string) => Promise<void>> = {
  'an archive that the apply uploads is replaced': (root) =>
    writeFile(join(root, 'shared/code.zip'), 'hostile archive'),
  'a module is replaced, with the same length and name': async (root) => {
    const path = join(root, 'shared/main.tf')
    await writeFile(path, (await readFile(path, 'utf8')).replace('shared" {', 'hidden" {'))
  },
  'the list of installed modules points elsewhere': async (root) => {
    const path = join(root, '.terraform/modules/modules.json')
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('"shared"', '"elsewhere"'))
  },
  'the lock file names another provider': (root) =>
    appendFile(
      join(root, '.terraform.lock.hcl'),
      'provider "registry.terraform.io/attacker/evil" {\n  version = "1.0.0"\n}\n',
    ),
  'a file is added, with a name that is no UTF-8': (root) =>
    writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]), 'added'),
  'an archive becomes a link to one outside': async (root) => {
    await rename(join(root, 'shared/code.zip'), join(root, '..', 'code.zip'))
    await symlink('../../code.zip', join(root, 'shared/code.zip'))
  },
}
for (const [title, change] of Object.entries(CHANGES)) attack(GROUP, title, () => applyAfter(change))

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
const apply = (workspace_path: string, plan_sha256: string) =>
  service.run('/v1/apply', { workspace_path, ...SCOPE, plan_file: 'session.plan', plan_sha256 })

/** Makes a workspace with a reviewed plan, and the hash of its file. */
async function reviewed(): Promise<{ workspace_path: string; hash: string }> {
  const workspace_path = await service.workspace({ 'main.tf': MAIN })
  await planIn(workspace_path)
  return { workspace_path, hash: sha256(await readFile(join(workspace_path, 'session.plan'))) }
}
async function planIn(workspace_path: string): Promise<void> {
  await service.run('/v1/init', { workspace_path, ...SCOPE })
  await service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
}

const managed = async (workspace_path: string): Promise<string[]> =>
  JSON.parse((await service.run('/v1/import/state-resource-ids', { workspace_path })).result.stdout)

attack(GROUP, 'the plan file is exchanged between the check of the worker and the start of the job', async () => {
  const { workspace_path, hash } = await reviewed()
  const other = await service.workspace({ 'main.tf': MAIN.replace('greeting', 'hostile') })
  await planIn(other)
  await copyFile(join(other, 'session.plan'), join(workspace_path, 'session.plan'))
  const { result } = await apply(workspace_path, hash)
  expect(result.exit_code).toBe(1)
  expect(await managed(workspace_path)).toEqual([])
  // The reviewed file is applied, so the refusal is about the exchange alone.
  const kept = await reviewed()
  expect((await apply(kept.workspace_path, kept.hash)).result).toMatchObject({ exit_code: 0, stderr: '' })
  expect(await managed(kept.workspace_path)).toHaveLength(1)
  return result.stderr.split('\n').find((line: string) => line.includes('not the plan')) ?? ''
})

attack(GROUP, 'the plan file becomes a link, a folder or a pipe that nobody writes to', async () => {
  const { workspace_path, hash } = await reviewed()
  const path = join(workspace_path, 'session.plan')
  await rename(path, join(workspace_path, 'kept.plan'))
  const forms = [() => symlink('kept.plan', path), () => mkdir(path), async () => void pipe(path)]
  const texts: string[] = []
  for (const make of forms) {
    await make()
    const { result } = await apply(workspace_path, hash)
    expect(result.exit_code).toBe(1)
    texts.push(result.stderr)
    await rm(path, { recursive: true })
  }
  expect(new Set(texts).size).toBe(1)
  expect(await managed(workspace_path)).toEqual([])
  return texts[0]?.split('\n').find((line) => line.includes('no regular file')) ?? ''
})

attack(GROUP, 'the plan file is exchanged while the job runs', async () => {
  const folder = await temporaryFolder()
  const exchanging = await startTestService({ IAC_BINARY: await fakeEngine(folder) })
  try {
    // This engine exchanges the file first and then reads the one to apply.
    const command = 'echo hostile > session.plan\nfor plan; do :; done\nsha256sum < "$plan"; ls -l "$plan"\n'
    const workspace_path = await exchanging.workspace({ 'session.plan': 'reviewed', 'command.sh': command })
    const body = { workspace_path, ...SCOPE, plan_file: 'session.plan', plan_sha256: sha256('reviewed') }
    const { result } = await exchanging.run('/v1/apply', body)
    expect(result.stdout).toContain(sha256('reviewed'))
    expect(result.stdout).toMatch(/-r--r--r--/)
    expect(await readFile(join(workspace_path, 'session.plan'), 'utf8')).toBe('hostile\n')
    return 'the engine reads a copy of the service, which is not in the workspace and cannot be written'
  } finally {
    await exchanging.close()
  }
})
