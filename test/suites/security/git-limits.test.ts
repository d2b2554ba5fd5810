import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { openWorkspace } from '../../../pipeline/workspace/open.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { round, type Site, startSite } from '../../pipeline/workspace/support.ts'
import { attack } from './attack.ts'

const site: Site = startOnce(startSite)
const run = promisify(execFile)

const GROUP = 'size of a clone'

/** Opens a workspace under a limit that refuses it. Returns the text, and checks that nothing is left on the disk. */
async function refusalOf(uri: string, limits: { max_clone_mib?: number; max_clone_files?: number }): Promise<string> {
  const session = crypto.randomUUID()
  const config = { ...site.config, git: { ...site.config.git, ...limits } }
  const opening = openWorkspace(config, round(uri, { session }), { log: silentLogger })
  const error = await opening.then(
    () => new Error('it was cloned'),
    (reason: Error) => reason,
  )
  expect(error).toMatchObject({ code: 'RepositoryTooLarge', status: 422 })
  expect(await readdir(join(site.config.paths.upload_folder, session))).toEqual([])
  expect(await readdir(site.config.paths.git_folder)).not.toContain(session)
  return error.message
}

/** Writes commits into the bare repository behind an address, in the language of `git fast-import`. */
async function fastImport(uri: string, write: (out: NodeJS.WritableStream) => void): Promise<void> {
  const path = join(site.folder, `import-${crypto.randomUUID()}`)
  const out = createWriteStream(path)
  write(out)
  await new Promise<void>((resolve) => out.end(resolve))
  await run('sh', ['-c', 'git fast-import --quiet --force < "$0"', path], {
    env: { ...process.env, GIT_DIR: site.host.pathOf(uri) },
  })
}
const COMMIT = 'commit refs/heads/main\ncommitter A <a@b.c> 0 +0000\ndata 0\n'

/** Creates a repository with one more commit, whose files are written in that language. */
async function repositoryWith(writeFiles: (out: NodeJS.WritableStream) => void): Promise<string> {
  const uri = await site.add({ 'main.tf': 'x' })
  await fastImport(uri, (out) => {
    out.write(COMMIT)
    writeFiles(out)
  })
  return uri
}

/** Creates a repository whose folders hold the same ten folders each, so many levels deep, with `leaves` in the last. */
async function bomb(depth: number, leaves: (blob: string) => string[]): Promise<string> {
  const uri = await site.add({ 'main.tf': 'x' })
  const makeTree = async (lines: string[]): Promise<string> => {
    const child = run('git', ['--git-dir', site.host.pathOf(uri), 'mktree'])
    child.child.stdin?.end(lines.map((line) => `${line}\n`).join(''))
    return (await child).stdout.trim()
  }
  let tree = await makeTree(leaves(await site.remote(uri, 'rev-parse', 'main:main.tf')))
  for (let level = 0; level < depth; level++)
    tree = await makeTree(Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}`))
  const commit = await site.remote(uri, 'commit-tree', tree, '-m', 'bomb')
  await site.remote(uri, 'update-ref', 'refs/heads/main', commit)
  return uri
}

attack(GROUP, 'files that a small pack inflates to at the checkout', async () => {
  const uri = await repositoryWith((out) => {
    const zeros = '0'.repeat(8 * 1024 * 1024)
    for (let number = 0; number < 5; number++)
      out.write(`M 100644 inline ${number}.tf\ndata ${zeros.length + 1}\n${number}${zeros}\n`)
  })
  const { stdout } = await run('du', ['-sk', join(site.host.pathOf(uri), 'objects')])
  expect(Number.parseInt(stdout, 10)).toBeLessThan(2_000)
  const text = await refusalOf(uri, { max_clone_mib: 32 })
  expect(text).toContain('(limit: git.max_clone_mib)')
  return text
})

attack(GROUP, 'a tree whose folders repeat each other: 10 billion files in a dozen objects', async () => {
  const uri = await bomb(9, (blob) => Array.from({ length: 10 }, (_, index) => `100644 blob ${blob}\tf${index}`))
  const started = performance.now()
  const text = await refusalOf(uri, { max_clone_files: 50_000 })
  expect(performance.now() - started).toBeLessThan(30_000)
  expect(text).toContain('(limit: git.max_clone_files)')
  return text
})

attack(GROUP, 'folders without number, each with one file', async () => {
  const uri = await repositoryWith((out) => {
    for (let number = 0; number < 40; number++)
      out.write(`M 100644 inline ${number}/${'d/'.repeat(50)}f.tf\ndata 1\nx\n`)
  })
  return await refusalOf(uri, { max_clone_files: 1_000 })
})

attack(GROUP, 'empty folders that repeat each other', async () =>
  refusalOf(await bomb(10, () => []), { max_clone_files: 50_000 }),
)

attack(GROUP, 'a pack that fills the disk while it is fetched', async () => {
  const uri = await repositoryWith((out) => {
    for (let number = 0; number < 24; number++) {
      const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)).buffer)
      const body = Buffer.concat(
        Array.from({ length: 32 }, (_, index) => Buffer.from(noise.map((byte) => byte ^ index))),
      )
      out.write(`M 100644 inline ${number}.bin\ndata ${body.length}\n`)
      out.write(body)
      out.write('\n')
    }
  })
  return await refusalOf(uri, { max_clone_mib: 2 })
})

attack(GROUP, 'history that is fetched later for the merge base', async () => {
  const { uri, session, workspace: first } = await site.start()
  await writeFile(join(first.clone, 'mine.tf'), 'mine')
  const base_commit = await first.commitAndPush()
  await first.dispose()
  await fastImport(uri, (out) => {
    for (let number = 0; number < 4; number++) {
      const body = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)).buffer)
      for (let mask = 1; mask <= 10; mask++) {
        const text = Buffer.from(body.map((byte) => byte ^ mask))
        out.write(`${COMMIT}${number === 0 && mask === 1 ? 'from refs/heads/main^0\n' : ''}`)
        out.write(`M 100644 inline large.bin\ndata ${text.length}\n`)
        out.write(text)
        out.write('\n')
      }
    }
    out.write(`${COMMIT}D large.bin\n`)
  })
  const config = { ...site.config, git: { ...site.config.git, max_clone_mib: 1 } }
  const workspace = await openWorkspace(config, round(uri, { session, number: 2, base_commit }), { log: silentLogger })
  const error = await workspace.branchDiff().catch((reason: Error) => reason)
  expect(error).toMatchObject({ code: 'RepositoryTooLarge', status: 422 })
  await workspace.dispose()
  return (error as Error).message
})
