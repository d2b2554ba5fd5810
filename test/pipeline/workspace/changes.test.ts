import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeOverride } from '../../../pipeline/workspace/backend-override.ts'
import type { Workspace } from '../../../pipeline/workspace/workspace.ts'
import { type Logger, silentLogger } from '../../../src/base/log.ts'
import { storageConfig } from '../../data/storage/config.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { git_, round, startSite, TOKEN_FORMS } from './support.ts'

const site = startOnce(startSite)

const BRANCH = 'Platform/2026-01-31_235959-1a2b'
const LONG = Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join('')

const opened = (files: Parameters<typeof site.add>[0], root_path: string | null = null) =>
  site.start({ root_path }, files)

const NOT_THERE = '0000000000000000000000000000000000000000'
const names = (uri: string) => site.remote(uri, 'ls-tree', '-r', '--name-only', BRANCH)

describe('commit and push', () => {
  it('makes one commit by the configured author with the fixed message', async () => {
    const { uri, workspace, at } = await opened({ 'main.tf': 'x\n', 'old.tf': 'y' })
    await writeFile(at('main.tf'), 'changed\n')
    await writeFile(at('new.tfvars'), 'a = 1\n')
    await rm(at('old.tf'))
    const commit = await workspace.commitAndPush()
    expect(await site.remote(uri, 'rev-parse', BRANCH)).toBe(commit)
    expect(await site.remote(uri, 'log', '-1', '--format=%an <%ae> %cn %s', BRANCH)).toBe(
      'Platform <platform@noreply.invalid> Platform Platform changes',
    )
    expect(await names(uri)).toBe('main.tf\nnew.tfvars')
    expect(await site.remote(uri, 'rev-parse', `${BRANCH}^`)).toBe(await site.remote(uri, 'rev-parse', 'main'))
  })

  it('tells of the commit when only the push is left, and of none when nothing changed', async () => {
    const { uri, workspace, at } = await opened({ 'main.tf': 'x\n' })
    const told: string[] = []
    await workspace.commitAndPush((commit) => told.push(commit))
    expect(told).toEqual([])
    await writeFile(at('main.tf'), 'changed\n')
    const commit = await workspace.commitAndPush((made) => told.push(made))
    expect(told).toEqual([commit])
    expect(await site.remote(uri, 'rev-parse', BRANCH)).toBe(commit)
  })

  it('puts the files back as they were in a commit, in the next one', async () => {
    const { uri, workspace, at } = await opened({ 'live/main.tf': 'x\n', 'other/far.tf': 'z\n' }, 'live')
    await writeFile(at('main.tf'), 'good\n')
    const good = await workspace.commitAndPush()
    await writeFile(at('main.tf'), 'worse\n')
    await writeFile(at('new.tf'), 'committed\n')
    await workspace.commitAndPush()
    await rm(at('main.tf'))
    await writeFile(at('pending.tf'), 'not committed\n')
    await writeFile(at('../other/far.tf'), 'changed\n')
    await mkdir(at('.terraform'))
    await writeFile(at('.terraform/kept'), '')
    await writeFile(at('backend_override.tf'), 'kept')
    await workspace.restore(good)
    expect(await workspace.commitAndPush()).not.toBe(good)
    expect(await site.remote(uri, 'diff', '--name-only', good, BRANCH)).toBe('')
    expect((await readdir(at('.'))).sort()).toEqual(['.terraform', 'backend_override.tf', 'main.tf'])
    await expect(workspace.restore(NOT_THERE)).rejects.toMatchObject({ status: 500 })
  })

  it('tells which files differ from an earlier commit, whatever happened between', async () => {
    const files = { 'live/main.tf': 'x\n', 'live/old.tf': 'y\n', 'other/far.tf': 'z\n' }
    const { workspace, at } = await opened(files, 'live')
    const since = await workspace.head()
    expect(await workspace.changedFiles(since)).toEqual([])
    await writeFile(at('main.tf'), 'changed\n')
    await writeFile(at('new.tf'), 'new\n')
    await writeFile(at('../other/far.tf'), 'outside of the root\n')
    await rm(at('old.tf'))
    await workspace.commitAndPush()
    expect(await workspace.changedFiles(since)).toEqual(['main.tf', 'new.tf', 'old.tf'])
    await writeFile(at('main.tf'), 'x\n')
    await workspace.commitAndPush()
    expect(await workspace.changedFiles(since)).toEqual(['new.tf', 'old.tf'])
    await expect(workspace.changedFiles(NOT_THERE)).rejects.toThrow()
  })

  it('makes none when nothing changed, and answers the head', async () => {
    const { uri, workspace } = await opened({ 'main.tf': 'x' })
    expect(await workspace.commitAndPush()).toBe(await site.remote(uri, 'rev-parse', 'main'))
  })

  it('leaves out what the engine and the platform leave in the work tree', async () => {
    const { uri, workspace, at } = await opened({ 'main.tf': 'x' })
    const states = ['terraform.tfstate', 'terraform.tfstate.backup', 'session.plan']
    for (const name of [...states, 'backend_override.tf', 'x_override.tf', 'crash.log', 'a.sh'])
      await writeFile(at(name), 'secret')
    await mkdir(at('.terraform/providers'), { recursive: true })
    await writeFile(at('.terraform/providers/x'), 'x')
    await writeFile(at('.terraform.lock.hcl'), 'lock')
    await workspace.commitAndPush()
    expect(await names(uri)).toBe('.terraform.lock.hcl\nmain.tf')
    expect(await site.remote(uri, 'show', `${BRANCH}:main.tf`)).toBe('x')
  })

  it('never commits the override file, not even where the repository holds one', async () => {
    const theirs = ['backend_override.tf', 'sub/Backend_Override.tf']
    const files = Object.fromEntries(theirs.map((name) => [name, 'theirs']))
    const { uri, workspace, at } = await opened({ ...files, 'main.tf': 'x' })
    for (const name of theirs) await writeFile(at(name), 'credentials')
    await writeFile(at('main.tf'), 'y')
    await workspace.commitAndPush()
    for (const name of theirs) expect(await site.remote(uri, 'show', `${BRANCH}:${name}`)).toBe('theirs')
    const shown = JSON.stringify([await workspace.pendingChanges(), await workspace.branchDiff()])
    expect(shown).not.toContain('credentials')
  })

  it('fails with the words of git, without path, address and secret, when the branch moved meanwhile', async () => {
    const { uri, workspace, at } = await opened({ 'main.tf': 'x' })
    const other = await site.remote(uri, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'by hand')
    await site.remote(uri, 'update-ref', `refs/heads/${BRANCH}`, other)
    await writeFile(at('main.tf'), 'y')
    const failure = await workspace.commitAndPush().catch((error) => error)
    expect(failure).toMatchObject({ status: 500, message: expect.stringContaining('rejected') })
    expect(failure.message).not.toContain(site.folder)
    expect(failure.message).not.toContain(site.host.host)
    expect(await site.remote(uri, 'rev-parse', BRANCH)).toBe(other)
  })

  it('stops when the run is given up', async () => {
    const run = new AbortController()
    const workspace = await site.open(await site.add({ 'main.tf': 'x' }), {}, run.signal)
    await writeFile(`${workspace.iacRoot}/main.tf`, 'y')
    run.abort(new Error('given up'))
    await expect(workspace.commitAndPush()).rejects.toThrow('given up')
  })
})

describe('pending changes', () => {
  it('hold whole new files and diffs with full context, relative to the engine root', async () => {
    const files = { 'infra/main.tf': LONG, 'infra/old.tf': 'gone\n', 'other/x.tf': 'x' }
    const { workspace, at } = await opened(files, 'infra')
    await writeFile(at('main.tf'), LONG.replace('line 30', 'LINE 30'))
    await rm(at('old.tf'))
    await mkdir(at('net'))
    await writeFile(at('net/vpc.tf'), 'vpc\n')
    const changes = await workspace.pendingChanges()
    expect(changes.map(({ path, new_file }) => [path, new_file])).toEqual([
      ['main.tf', false],
      ['old.tf', false],
      ['net/vpc.tf', true],
    ])
    const [changed, deleted, added] = changes
    expect(changed?.content).toMatch(/^diff --git main\.tf main\.tf\n/)
    for (const line of [' line 0\n', '-line 30\n', '+LINE 30\n', ' line 59\n']) expect(changed?.content).toContain(line)
    expect(deleted?.content).toContain('-gone')
    expect(added?.content).toBe('vpc\n')
    await workspace.commitAndPush()
    expect(await workspace.pendingChanges()).toEqual([])
  })

  it('of the run compare with its start, whatever its attempts committed between', async () => {
    const files = {
      'infra/main.tf': LONG,
      'infra/back.tf': 'was\n',
      'infra/again.tf': 'one\ntwo\n',
      'infra/type.tf': 'x\n',
    }
    const { workspace, at } = await opened(files, 'infra')
    const blank = ' \n'
    await writeFile(at('main.tf'), `${LONG}added\n${blank}`)
    await writeFile(at('new.tf'), 'first\n')
    await writeFile(at('lost.tf'), 'x\n')
    await writeFile(at('back.tf'), 'is\n')
    await rm(at('again.tf'))
    await workspace.commitAndPush()
    await writeFile(at('main.tf'), `${LONG}diff --git added again\n${blank}`)
    await writeFile(at('new.tf'), 'last\n')
    await rm(at('lost.tf'))
    await writeFile(at('back.tf'), 'was\n')
    await writeFile(at('again.tf'), 'one\n')
    await rm(at('type.tf'))
    await symlink('main.tf', at('type.tf'))
    const changes = await workspace.runChanges()
    expect(changes.map(({ path, new_file }) => [path, new_file])).toEqual([
      ['again.tf', false],
      ['main.tf', false],
      ['type.tf', false],
      ['new.tf', true],
    ])
    const [again, main, type, added] = changes.map(({ content }) => content)
    expect(again).toMatch(/ one\n-two\n$/)
    expect(main).toMatch(/^diff --git main\.tf main\.tf\n[\s\S]* line 59\n\+diff --git added again\n\+ \n$/)
    expect(type).toMatch(/^diff --git type\.tf type\.tf\ndeleted file[\s\S]*\ndiff --git type\.tf type\.tf\nnew file/)
    expect(added).toBe('last\n')
    await workspace.commitAndPush()
    expect(await workspace.runChanges()).toEqual(changes)
  })

  it.each([
    ['alone', 'a    b\nc\n'],
    ['beside another change', 'a    b\nd\n'],
  ])('show a change of blanks %s, as the diff of the branch does', async (_, text) => {
    const { workspace, at } = await opened({ 'main.tf': 'a b\nc\n' })
    await writeFile(at('main.tf'), text)
    expect((await workspace.pendingChanges())[0]?.content).toContain('+a    b')
    expect((await workspace.branchDiff())[0]?.text).toContain('+a    b')
  })

  it('survive odd names, a renamed file, a symlink and a huge file', async () => {
    const { workspace, at } = await opened({ 'a.tf': LONG, '*.tf': 'x\n', 'b.tf': 'y\n' })
    await rm(at('a.tf'))
    await writeFile(at('moved.tf'), LONG)
    await writeFile(at('*.tf'), 'changed\n')
    await writeFile(at('--output=x\ny.tf'), 'odd\n')
    await writeFile(at('huge.tf'), 'h'.repeat(1_200_000))
    await symlink('/etc/passwd', at('link.tf'))
    const changes = await workspace.pendingChanges()
    expect(changes.map(({ path, new_file }) => [path, new_file])).toEqual([
      ['*.tf', false],
      ['a.tf', false],
      ['--output=x\ny.tf', true],
      ['huge.tf', true],
      ['moved.tf', true],
    ])
    expect(changes[0]?.content).not.toContain('b.tf')
    expect(changes[3]?.content.length).toBeLessThan(1_001_000)
  })
})

describe('branch diff', () => {
  it('is empty at first, then shows commits, edits and new files against the default branch', async () => {
    const files = { 'infra/gone.tf': 'gone\n', 'infra/long.tf': LONG, 'infra/main.tf': 'one\n', 'other.tf': 'x' }
    const { workspace, at } = await opened({ ...files, 'infra/t.tf': 'x\n' }, 'infra')
    expect(await workspace.branchDiff()).toEqual([])
    await writeFile(at('main.tf'), 'two\n')
    await writeFile(at('added.tf'), 'committed\n')
    await rm(at('gone.tf'))
    await rm(at('long.tf'))
    await writeFile(at('renamed.tf'), LONG)
    await workspace.commitAndPush()
    await writeFile(at('main.tf'), 'diff --git a b\n@@ -1 +1 @@\n')
    await writeFile(at('new.tf'), 'fresh\n')
    await rm(at('t.tf'))
    await symlink('main.tf', at('t.tf'))
    await writeFile(at('gone.tf'), 'back\n')
    expect(await workspace.branchDiff()).toEqual([
      { path: 'added.tf', change: 'new', text: 'committed\n' },
      { path: 'main.tf', change: 'changed', text: '@@ -1 +1,2 @@\n-one\n+diff --git a b\n+@@ -1 +1 @@' },
      { path: 'renamed.tf', change: 'renamed', text: '' },
      { path: 't.tf', change: 'changed', text: '(not shown: no regular file)' },
      { path: 'gone.tf', change: 'changed', text: 'back\n' },
      { path: 'new.tf', change: 'new', text: 'fresh\n' },
    ])
  })

  it('says where it was cut, and names every file', async () => {
    const large = 'a line of the file\n'.repeat(150_000)
    const { workspace, at } = await opened({ 'a.tf': large, 'b.tf': large, 'c.tf': 'one\n' })
    for (const name of ['a.tf', 'b.tf', 'c.tf']) await writeFile(at(name), 'short\n')
    const diff = await workspace.branchDiff()
    expect(diff.map(({ path, text }) => [path, text.endsWith('(cut: the diff is too long)')])).toEqual([
      ['a.tf', false],
      ['b.tf', true],
      ['c.tf', true],
    ])
  })

  it('finds the merge base in a shallow clone, also far behind, for several callers and after the default branch moved', async () => {
    const { uri, workspace, at } = await opened({ 'main.tf': 'one\n' })
    await writeFile(at('mine.tf'), 'mine\n')
    const base_commit = await workspace.commitAndPush()
    let tip = await site.remote(uri, 'rev-parse', 'main')
    const tree = await site.remote(uri, 'rev-parse', `${BRANCH}^{tree}`)
    for (let count = 0; count < 5; count++)
      tip = await site.remote(uri, 'commit-tree', tree, '-p', tip, '-m', `upstream ${count}`)
    await site.remote(uri, 'update-ref', 'refs/heads/main', tip)
    const later = await site.open(uri, { session: crypto.randomUUID(), number: 2, base_commit })
    const [diff, ...others] = await Promise.all([later.branchDiff(), later.branchDiff(), later.branchDiff()])
    expect(diff).toEqual([{ path: 'mine.tf', change: 'new', text: 'mine\n' }])
    expect(others).toEqual([diff, diff])
    expect(await git_(['--git-dir', later.gitDirectory, 'rev-parse', '--is-shallow-repository'])).toBe('false')
  })

  it('is an error when there is no common history', async () => {
    const { uri, workspace } = await opened({ 'main.tf': 'one\n' })
    const orphan = await site.remote(uri, 'commit-tree', 'main^{tree}', '-m', 'another beginning')
    await site.remote(uri, 'update-ref', 'refs/heads/main', orphan)
    const later = await site.open(uri, { session: crypto.randomUUID(), number: 2, base_commit: await workspace.head() })
    await expect(later.branchDiff()).rejects.toMatchObject({
      status: 500,
      message: expect.stringMatching(/^Git error when merging base: /),
    })
  })
})

describe('revision', () => {
  it('changes with the work tree and the commit, not with ignored files', async () => {
    const { workspace, at } = await opened({ 'main.tf': 'x' })
    const clean = await workspace.revision()
    expect(clean).toMatch(/^[0-9a-f]{64}$/)
    await writeFile(at('session.plan'), 'plan')
    expect(await workspace.revision()).toBe(clean)
    await writeFile(at('new.tf'), 'x')
    const dirty = await workspace.revision()
    await workspace.commitAndPush()
    expect(new Set([clean, dirty, await workspace.revision()]).size).toBe(3)
  })
})

describe('pin', () => {
  it('renames the whole clone and replaces the earlier one', async () => {
    const uri = await site.add({ 'infra/main.tf': 'x' })
    const session = crypto.randomUUID()
    const pinned = join(site.folder, 'uploads', session, 'saved-plan')
    for (const plan of ['first', 'second']) {
      const workspace = await site.open(uri, { session, number: 2, root_path: 'infra' })
      await writeFile(join(workspace.iacRoot, 'session.plan'), plan)
      await workspace.keep()
      await workspace.dispose()
      expect(await readFile(join(pinned, 'infra', 'session.plan'), 'utf8')).toBe(plan)
      expect(await readdir(join(pinned, '..'))).toEqual(['saved-plan'])
    }
  })
})

describe('a hostile repository', () => {
  it('runs nothing: no hook, no filter, no submodule, no monitor', async () => {
    const mark = join(site.folder, 'ran')
    const script = `#!/bin/sh\ntouch ${mark}\n`
    const { workspace, at } = await opened({
      'main.tf': 'x',
      '.gitattributes': '* filter=evil diff=evil merge=evil\n*.tf text eol=crlf\n',
      '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ${mark}"\n\tupdate = !touch ${mark}\n`,
      '.gitconfig': `[core]\n\tfsmonitor = touch ${mark}\n[filter "evil"]\n\tsmudge = touch ${mark}\n`,
      'hooks/pre-commit': script,
      '.githooks/pre-push': script,
    })
    await mkdir(join(workspace.gitDirectory, 'hooks'), { recursive: true })
    for (const hook of ['pre-commit', 'post-commit', 'pre-push', 'post-checkout']) {
      await writeFile(join(workspace.gitDirectory, 'hooks', hook), script)
      await chmod(join(workspace.gitDirectory, 'hooks', hook), 0o755)
    }
    await writeFile(at('new.tf'), 'y')
    await workspace.pendingChanges()
    await workspace.branchDiff()
    await workspace.commitAndPush()
    await expect(stat(mark)).rejects.toThrow()
  })

  it('loses symlinks that lead out of the clone from the work tree, but not from the branch', async () => {
    const { uri, workspace } = await opened({
      'main.tf': 'x',
      'passwd.tf': { symlink: '/etc/passwd' },
      'up.tf': { symlink: '../../../../host' },
      'git.tf': { symlink: '.git/config' },
      'chain.tf': { symlink: 'passwd.tf' },
      'gone.tf': { symlink: '/nowhere/at/all' },
      'good.tf': { symlink: 'main.tf' },
      'sub/good.tf': { symlink: '../main.tf' },
    })
    expect((await readdir(workspace.iacRoot)).sort()).toEqual(['.platform-workspace', 'good.tf', 'main.tf', 'sub'])
    await writeFile(join(workspace.iacRoot, 'main.tf'), 'y')
    await workspace.commitAndPush()
    expect((await names(uri)).split('\n')).toHaveLength(8)
    expect(await workspace.pendingChanges()).toEqual([])
  })

  it('keeps an entry with the name of the mark that the platform puts into a clone', async () => {
    const { uri, workspace } = await opened({ 'main.tf': 'x', '.platform-workspace': 'theirs' })
    expect(await readFile(join(workspace.clone, '.platform-workspace'), 'utf8')).toBe('theirs')
    await writeFile(join(workspace.clone, '.platform-workspace'), 'changed')
    await writeFile(join(workspace.clone, 'main.tf'), 'y')
    await workspace.commitAndPush()
    expect(await site.remote(uri, 'show', `${BRANCH}:.platform-workspace`)).toBe('theirs')
    await workspace.dispose()
    const other = (await opened({ 'main.tf': 'x', '.gitignore': '!.platform-workspace\n' })).workspace
    expect(await readFile(join(other.clone, '.platform-workspace'), 'utf8')).toBe('')
    expect(await other.pendingChanges()).toEqual([])
  })

  it('loses folders the engine takes programs from', async () => {
    const plugin = 'registry.terraform.io/hashicorp/null/3.2.0/linux_amd64/terraform-provider-null'
    const { uri, workspace } = await opened({
      'main.tf': 'x',
      [`.terraform/providers/${plugin}`]: 'program',
      [`infra/terraform.d/plugins/${plugin}`]: 'program',
      'infra/.terraform': { symlink: '../main.tf' },
      'infra/terraform.data': 'kept',
    })
    await expect(stat(join(workspace.clone, '.terraform', 'providers', plugin))).rejects.toThrow()
    await expect(stat(join(workspace.clone, 'infra', 'terraform.d', 'plugins', plugin))).rejects.toThrow()
    expect(await readdir(join(workspace.clone, 'infra'))).not.toContain('.terraform')
    expect(await readFile(join(workspace.clone, 'infra', 'terraform.data'), 'utf8')).toBe('kept')
    await writeFile(join(workspace.clone, 'new.tf'), 'y')
    await workspace.commitAndPush()
    expect((await names(uri)).split('\n')).toHaveLength(6)
  })

  it('cannot put an option into a command by its branch or address', async () => {
    const uri = await site.add({ 'main.tf': 'x' })
    const mark = join(site.folder, 'option')
    const open = (branch: string, number = 1) => site.open(uri, { session: crypto.randomUUID(), branch, number })
    await expect(open(`--upload-pack=touch ${mark}`)).rejects.toMatchObject({ status: 500 })
    await expect(open('--force', 2)).rejects.toMatchObject({ status: expect.any(Number) })
    await expect(stat(mark)).rejects.toThrow()
  })
})

describe('the log', () => {
  it('never holds the token', () => {
    const log = site.lines.join('\n')
    for (const form of TOKEN_FORMS) expect(log).not.toContain(form)
  })
})

describe('the backend override', () => {
  const storage = storageConfig({
    provider: 'S3',
    engine_state_bucket: 'states',
    engine_state_filename: 'engine.tfstate',
    region: 'eu-west-1',
    access_key: 'access',
    secret_key: 'very-secret',
  })
  const write = (workspace: Workspace, changes: object, log = silentLogger) =>
    writeOverride(
      { ...site.config, storage: { ...storage, ...changes } },
      round('https://github.com/a/b').session,
      workspace.iacRoot,
      log,
    )

  it('is readable by this user alone, and logged without credentials', async () => {
    const { workspace, at } = await opened({ 'main.tf': 'x' })
    const lines: string[] = []
    const info: Logger['info'] = (message, fields) => void lines.push(JSON.stringify({ message, ...fields }))
    await write(workspace, {}, { ...silentLogger, info })
    expect((await stat(at('backend_override.tf'))).mode & 0o777).toBe(0o600)
    expect(await readFile(at('backend_override.tf'), 'utf8')).toContain('secret_key = "very-secret"')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/"provider":"S3","bucket":"states","key":"[0-9a-f]{64}\/engine\.tfstate"/)
    expect(lines[0]).not.toContain('very-secret')
  })

  it('is not written when state is not managed', async () => {
    const { workspace, at } = await opened({ 'main.tf': 'x' })
    await write(workspace, { engine_state_bucket: ' ' })
    await expect(stat(at('backend_override.tf'))).rejects.toThrow()
  })

  it('replaces whatever the repository holds under its name, and writes through no symlink', async () => {
    const { workspace, at } = await opened({ 'main.tf': 'kept', 'backend_override.tf': { symlink: 'main.tf' } })
    await write(workspace, {})
    await write(workspace, {})
    expect(await readFile(at('main.tf'), 'utf8')).toBe('kept')
    expect(await readFile(at('backend_override.tf'), 'utf8')).toContain('backend "s3"')
  })

  const foreign = (name: string) => `The override file '${name}' of the repository sets a state backend`
  it.each([
    ['zz_override.tf', 'terraform {\n  backend /* x */ "http" {}\n}', foreign('zz_override.tf')],
    ['override.tf', 'terraform { cloud {} }', foreign('override.tf')],
    ['y_override.tofu', 'terraform { backend "local" {} }', foreign('y_override.tofu')],
    ['a_override.tf.json', '{"terraform":{"\\u0062ackend":{"local":{}}}}', foreign('a_override.tf.json')],
    // OpenTofu would read it in the place of the override, whatever it says.
    ['backend_override.tofu', '# nothing\n', "OpenTofu reads the file 'backend_override.tofu'"],
  ])('is refused beside %s of the repository: %j', async (name, text, expected) => {
    const { workspace, at } = await opened({ 'main.tf': 'x', [name]: text })
    await expect(write(workspace, {})).rejects.toThrow(expected)
    await expect(stat(at('backend_override.tf'))).rejects.toThrow()
    await write(workspace, { engine_state_bucket: '' })
  })

  it('leaves other override files of the repository alone', async () => {
    const others = { 'zz_override.tf': 'variable "backend" {}', 'backends.tf': 'terraform { backend "s3" {} }' }
    const { workspace, at } = await opened({ 'main.tf': 'x', ...others })
    await write(workspace, {})
    expect(await readFile(at('backend_override.tf'), 'utf8')).toContain('backend "s3"')
  })

  it('is one error when it cannot be written', async () => {
    const { workspace } = await opened({ 'main.tf': 'x' })
    await rm(workspace.iacRoot, { recursive: true })
    const failure = { status: 500, message: 'Error Engine backend override render.' }
    await expect(write(workspace, {})).rejects.toMatchObject(failure)
  })
})
