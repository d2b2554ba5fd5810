import { link, mkdir, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assertNoForeignBackend } from '../../../pipeline/workspace/backend-override.ts'
import { createFileAccess } from '../../../pipeline/workspace/files/access.ts'
import { openWorkspace } from '../../../pipeline/workspace/open.ts'
import type { Workspace } from '../../../pipeline/workspace/workspace.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { round, type Site, startSite } from '../../pipeline/workspace/support.ts'
import { ADDED, BROKEN, done, goodLlm, write } from '../modes/scripts.ts'
import { firstRound, startStack } from '../modes/stack.ts'
import { attack } from './attack.ts'

const site: Site = startOnce(startSite)
const stack = startOnce(startStack)

const GROUP = 'what an engine run leaves in the workspace'
const MIB = 1024 * 1024

/** Writes one text and gives it many names, so that many files of it take no more of this disk than one. */
async function leave(
  iacRoot: string,
  { files, bytes, ending = 'tf' }: { files: number; bytes: number; ending?: string },
) {
  const source = join(dirname(iacRoot), `source-${crypto.randomUUID()}`)
  await writeFile(source, '# left by the engine\n'.repeat(Math.ceil(bytes / 21)).slice(0, bytes))
  await mkdir(join(iacRoot, 'left'), { recursive: true })
  for (let index = 0; index < files; index++) await link(source, join(iacRoot, 'left', `${index}.${ending}`))
}

/** Tries everything that reads or commits changes. Returns the text of the refusal, the same for all. */
async function refusalOf(workspace: Workspace, head: string): Promise<string> {
  const peak = process.resourceUsage().maxRSS
  const tries = [workspace.pendingChanges, () => workspace.branchDiff(), workspace.commitAndPush]
  const texts = new Set<string>()
  for (const attempt of tries) {
    const error = await attempt().then(
      () => new Error('it was read'),
      (reason: Error) => reason,
    )
    expect(error).toMatchObject({ code: 'ChangesTooLarge', status: 422 })
    texts.add(error.message)
  }
  expect((process.resourceUsage().maxRSS - peak) / 1024).toBeLessThan(64)
  expect(await workspace.head()).toBe(head)
  expect(texts.size).toBe(1)
  return [...texts].join()
}

async function opened(limits = {}) {
  const config = { ...site.config, git: { ...site.config.git, ...limits } }
  const uri = await site.add({ 'main.tf': 'x\n', '.gitignore': 'ignored/\n', 'large.tf': 'y\n'.repeat(MIB) })
  const workspace = await openWorkspace(config, round(uri, { session: crypto.randomUUID() }), { log: silentLogger })
  onTestFinished(() => workspace.dispose())
  return { config, workspace, head: await workspace.head() }
}

attack(GROUP, '1,500 small files', async () => {
  const { workspace, head } = await opened()
  await leave(workspace.iacRoot, { files: 1_500, bytes: 10 })
  const text = await refusalOf(workspace, head)
  expect(text).toMatch(/^More than 1000 files were changed or left in the workspace, for example 'left\/\d+\.tf', /)
  expect(text).toContain('(limit: git.max_change_files)')
  return text
})

attack(GROUP, '900 files of 1 MB', async () => {
  const { workspace, head } = await opened()
  await leave(workspace.iacRoot, { files: 900, bytes: 1_000_000 })
  const text = await refusalOf(workspace, head)
  expect(text).toMatch(/^900 files of 859 MiB together were changed or left .*git\.max_change_mib/)
  return text
})

attack(GROUP, 'one file of 10 TB', async () => {
  const { workspace, head } = await opened()
  const file = join(workspace.iacRoot, 'disk.tf\nlong')
  await writeFile(file, '')
  await truncate(file, 10 * 1024 ** 4)
  const text = await refusalOf(workspace, head)
  expect(text).toContain("One file of 10485760 MiB was changed or left in the workspace, for example 'disk.tf?long'.")
  expect(text).toContain('git.max_change_file_mib')
  return text
})

attack(GROUP, 'a large file of the repository that is made empty, whose diff shows all of it', async () => {
  const { workspace } = await opened({ max_change_mib: 1 })
  await writeFile(join(workspace.iacRoot, 'large.tf'), '')
  const error = await workspace.pendingChanges().catch((reason: Error) => reason)
  expect(error).toMatchObject({ code: 'ChangesTooLarge' })
  return (error as Error).message
})

attack(GROUP, 'an override file of 10 TB, which would be searched for a backend', async () => {
  const { workspace } = await opened()
  const file = join(workspace.iacRoot, 'x_override.tf')
  await writeFile(file, '')
  await truncate(file, 10 * 1024 ** 4)
  const refused = assertNoForeignBackend(workspace.iacRoot, 'backend_override.tf').catch((reason: Error) => reason)
  const text = String((await refused) ?? '')
  expect(text).toContain("The override file 'x_override.tf' is larger than 1000000 bytes")
  return text
})

attack(GROUP, 'hundreds of files of code that are read together', async () => {
  const { config, workspace } = await opened({ max_change_mib: 4 })
  await leave(workspace.iacRoot, { files: 400, bytes: 150_000 })
  const access = createFileAccess(config, workspace)
  const paths = (await access.survey()).files.map(({ path }) => path)
  const error = await access.readAll(paths).catch((reason: Error) => reason)
  expect(String(error)).toContain('files hold more than git.max_change_mib together')
  return String(error)
})

test('what fits, and what git ignores, is read and committed as before', async () => {
  const { workspace, head } = await opened({ max_change_files: 3, max_change_file_mib: 1, max_change_mib: 2 })
  await leave(workspace.iacRoot, { files: 2, bytes: MIB })
  await mkdir(join(workspace.iacRoot, 'ignored'))
  for (let index = 0; index < 5; index++) await writeFile(join(workspace.iacRoot, 'ignored', `${index}`), 'x')
  expect((await workspace.pendingChanges()).map(({ path }) => path)).toEqual(['left/0.tf', 'left/1.tf'])
  expect(await workspace.commitAndPush()).not.toBe(head)
})

attack(GROUP, 'a round whose engine leaves 1,500 files of 1 MB before the second attempt', async () => {
  const llm = goodLlm({
    task_complete: [write('second.tf', BROKEN), done('First try.'), write('second.tf', ADDED), done('Mended.')],
  })
  const base = stack.context(llm)
  const run: typeof base.iac.run = async (kind, body, ...rest) => {
    if (kind === 'validate') await leave(body.workspace_path, { files: 1_500, bytes: 1_000_000 })
    return await base.iac.run(kind, body, ...rest)
  }
  const context = { ...base, iac: { ...base.iac, run } }
  const peak = process.resourceUsage().maxRSS
  const session = await firstRound(stack, context)
  expect(session.statuses.at(-1)).toBe('failed')
  expect(session.messages.at(-1)).toMatch(/^runner failed: More than 1000 files were changed or left in the workspace/)
  expect((process.resourceUsage().maxRSS - peak) / 1024).toBeLessThan(300)
  expect(await stack.git(session.repo_uri, 'show', `${session.branch}:second.tf`)).toBe(BROKEN)
  return String(session.messages.at(-1))
})
