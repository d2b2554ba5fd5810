import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { startGitHost } from '../../../dev/git-host/start.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { startOnce } from '../../helpers/start-once.ts'

const run = promisify(execFile)
const folder = temporaryFolder()
const host = startOnce(() => startGitHost({ data_dir: join(folder, 'host'), user: 'robot', token: 'secret-token' }))
let count = 0

const env = () => ({
  PATH: process.env.PATH,
  HOME: folder,
  GIT_TERMINAL_PROMPT: '0',
  GIT_SSL_CAINFO: host.ca_file,
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
})
const git = async (cwd: string, ...args: string[]) => (await run('git', args, { cwd, env: env() })).stdout.trim()
const withCredentials = (url: string) => url.replace('https://', 'https://robot:secret-token@')

async function clone(url: string, ...options: string[]): Promise<string> {
  const target = join(folder, `clone-${++count}`)
  await git(folder, 'clone', '--quiet', ...options, url, target)
  return target
}

async function fresh(files: Record<string, string> = { 'main.tf': 'locals {}\n' }) {
  const name = `fresh-${++count}`
  return { name, url: await host.addRepository({ owner: 'team', name, content: { files } }) }
}

async function pushBranch(url: string, branch: string, file: string, text: string): Promise<string> {
  const work = await clone(withCredentials(url))
  await git(work, 'checkout', '--quiet', '-b', branch)
  await writeFile(join(work, file), text)
  await git(work, 'add', '--all')
  await git(work, 'commit', '--quiet', '-m', 'change')
  await git(work, 'push', '--quiet', '--set-upstream', 'origin', branch)
  return git(work, 'rev-parse', 'HEAD')
}

interface Answer {
  status: number
  body: Record<string, unknown> & { message?: string; errors?: Record<string, string>[] }
  text: string
}
function call(method: string, path: string, options: { json?: unknown; auth?: string | null } = {}): Promise<Answer> {
  const auth = options.auth === undefined ? 'robot:secret-token' : options.auth
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (auth !== null) headers.authorization = `Basic ${Buffer.from(auth).toString('base64')}`
  return new Promise((resolve, reject) => {
    const call = httpsRequest(`${host.url}${path}`, { method, ca: host.caPem, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        const json = response.headers['content-type']?.startsWith('application/json') && text !== ''
        resolve({ status: response.statusCode ?? 0, body: json ? JSON.parse(text) : {}, text })
      })
    })
    call.once('error', reject)
    call.end(options.json === undefined ? undefined : JSON.stringify(options.json))
  })
}
const pulls = (name: string) => `/api/v3/repos/team/${name}/pulls`
const open = (name: string, json: unknown, auth?: string | null) => call('POST', pulls(name), { json, auth })
const read = (name: string, number: number) => call('GET', `${pulls(name)}/${number}`)
const merge = (name: string, number: number, json?: unknown) => call('PUT', `${pulls(name)}/${number}/merge`, { json })

describe('cloning and pushing', () => {
  test('anyone clones a sample, shallow and without blobs too', async () => {
    const [web] = host.repositories
    const work = await clone(web ?? '', '--depth', '1', '--filter=blob:none', '--no-checkout')
    expect((await git(work, 'ls-tree', '-r', '--name-only', 'HEAD')).split('\n')).toContain('modules/service/main.tf')
    expect(await git(work, 'rev-parse', '--abbrev-ref', 'origin/HEAD')).toBe('origin/main')
  })

  test('any reachable commit can be fetched by its id', async () => {
    const { url } = await fresh()
    const first = await git(await clone(url), 'rev-parse', 'HEAD')
    await pushBranch(url, 'later', 'a.tf', '# later\n')
    const work = await clone(url, '--depth', '1', '--branch', 'later')
    await git(work, 'fetch', '--quiet', '--depth', '1', 'origin', first)
    expect(await git(work, 'rev-parse', 'FETCH_HEAD')).toBe(first)
  })

  test('a clone without the certificate authority is refused', async () => {
    const [web] = host.repositories
    const attempt = run('git', ['ls-remote', web ?? ''], {
      cwd: folder,
      env: { ...env(), GIT_SSL_CAINFO: '/dev/null' },
    })
    await expect(attempt).rejects.toThrow(/certificate/i)
  })

  test('a push needs the credentials, and right ones', async () => {
    const { url } = await fresh()
    const work = await clone(url)
    await git(work, 'commit', '--quiet', '--allow-empty', '-m', 'empty')
    await expect(git(work, 'push', 'origin', 'HEAD:main')).rejects.toThrow(
      /could not read Username|Authentication failed/,
    )
    const wrong = url.replace('https://', 'https://robot:guess@')
    await expect(git(work, 'push', wrong, 'HEAD:main')).rejects.toThrow(/Authentication failed|could not read/)
    await git(work, 'push', '--quiet', withCredentials(url), 'HEAD:main')
    expect(await git(await clone(url), 'log', '-1', '--format=%s')).toBe('empty')
  })

  test('a large push arrives whole, from a shallow clone as well', async () => {
    const { url } = await fresh()
    // Above one megabyte after compression git sends in chunks.
    const text = `# ${randomBytes(1_500_000).toString('base64')}\n`
    const work = await clone(withCredentials(url), '--depth', '1')
    await git(work, 'checkout', '--quiet', '-b', 'large')
    await writeFile(join(work, 'large.tf'), text)
    await git(work, 'add', '--all')
    await git(work, 'commit', '--quiet', '-m', 'large')
    await git(work, 'push', '--quiet', 'origin', 'large')
    const copy = await clone(url, '--branch', 'large')
    expect(await readFile(join(copy, 'large.tf'), 'utf8')).toBe(text)
  })

  test('a private repository hides itself', async () => {
    const url = await host.addRepository({
      owner: 'team',
      name: 'hidden',
      content: { files: { 'main.tf': '' } },
      private: true,
    })
    await expect(git(folder, 'ls-remote', url)).rejects.toThrow()
    expect(await git(folder, 'ls-remote', withCredentials(url))).toContain('refs/heads/main')
    expect((await call('GET', `${pulls('hidden')}/1`, { auth: null })).status).toBe(404)
    expect((await call('GET', '/team/hidden', { auth: null })).status).toBe(404)
  })

  test('an unknown repository and an empty one answer as such', async () => {
    await expect(git(folder, 'ls-remote', withCredentials(`${host.url}/team/nothing.git`))).rejects.toThrow(
      /not found/i,
    )
    await expect(git(folder, 'ls-remote', `${host.url}/..%2f..%2fetc/passwd.git`)).rejects.toThrow()
    const url = await host.addRepository({ owner: 'team', name: 'empty' })
    await expect(git(folder, 'ls-remote', '--exit-code', url)).rejects.toMatchObject({ code: 2 })
  })
})

describe('pull requests', () => {
  test('create, read, merge: the merge commit is on the base branch', async () => {
    const { name, url } = await fresh()
    const head_sha = await pushBranch(url, 'feature', 'queue.tf', '# queue\n')
    const created = await open(name, { title: 'Queue', head: 'feature', base: 'main', body: 'text' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      number: 1,
      state: 'open',
      mergeable: null,
      html_url: `${host.url}/team/${name}/pull/1`,
    })
    expect((await read(name, 1)).body).toMatchObject({ mergeable: true, merged: false, head: { sha: head_sha } })
    const merged = await merge(name, 1)
    expect(merged).toMatchObject({ status: 200, body: { merged: true } })
    const work = await clone(url)
    expect(await git(work, 'rev-parse', 'HEAD')).toBe(merged.body.sha)
    const subject = `${head_sha} Merge pull request #1 from team/feature`
    expect(await git(work, 'log', '-1', '--format=%P %s')).toContain(subject)
    expect((await read(name, 1)).body).toMatchObject({ state: 'closed', merged: true, mergeable: null })
    expect((await merge(name, 1)).status).toBe(405)
  })

  test('their pages open and show hostile text as text', async () => {
    const { name, url } = await fresh()
    const evil = '</pre><script>alert(1)</script><img src=x onerror=alert(1)> "\'&'
    await pushBranch(url, 'feature', 'queue.tf', `# ${evil}\n`)
    await open(name, { title: evil, head: 'feature', base: 'main', body: evil })
    for (const path of [`/team/${name}`, `/team/${name}/pull/1`]) {
      const { text } = await call('GET', path, { auth: null })
      expect(text).toContain(
        '&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &quot;&#39;&amp;',
      )
      expect(text).not.toMatch(/<script|<img/)
    }
    expect((await call('GET', `/team/${name}`, { auth: null })).text).toContain('git clone')
    expect((await call('GET', `/team/${name}/pull/9`, { auth: null })).status).toBe(404)
  })

  test('conflicting branches are not mergeable', async () => {
    const { name, url } = await fresh()
    await pushBranch(url, 'ours', 'main.tf', 'locals { a = 1 }\n')
    await pushBranch(url, 'theirs', 'main.tf', 'locals { a = 2 }\n')
    for (const head of ['ours', 'theirs']) await open(name, { title: head, head, base: 'main' })
    expect((await merge(name, 1, {})).status).toBe(200)
    expect((await read(name, 2)).body).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
    const refused = { status: 405, body: { message: 'Pull Request is not mergeable' } }
    expect(await merge(name, 2)).toMatchObject(refused)
  })

  test('what cannot be a pull request is 422 with the reason', async () => {
    const { name, url } = await fresh()
    await pushBranch(url, 'feature', 'a.tf', '# a\n')
    for (const [json, error] of [
      [{ title: 'x', head: 'main', base: 'main' }, { message: 'No commits between main and main' }],
      [
        { title: 'x', head: 'gone', base: 'main' },
        { resource: 'PullRequest', field: 'head', code: 'invalid' },
      ],
      [
        { title: 'x', head: 'feature', base: 'gone' },
        { field: 'base', code: 'invalid' },
      ],
      [
        { head: 'feature', base: 'main' },
        { field: 'title', code: 'missing_field' },
      ],
    ])
      expect(await open(name, json)).toMatchObject({
        status: 422,
        body: { message: 'Validation Failed', errors: [error] },
      })
    expect((await open(name, { title: 'x', base: 'main' })).body.message).toContain(`"head" wasn't supplied`)
    expect((await open(name, { title: 'x', head: 'feature', base: 'main' })).status).toBe(201)
    const again = await open(name, { title: 'x', head: 'team:feature', base: 'main' })
    expect(again.body.errors?.[0]?.message).toBe('A pull request already exists for team:feature.')
  })

  test('two requests at once make one pull request', async () => {
    const { name, url } = await fresh()
    await pushBranch(url, 'feature', 'a.tf', '# a\n')
    const json = { title: 'x', head: 'feature', base: 'main' }
    const answers = await Promise.all([open(name, json), open(name, json)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 422])
  })

  test('a changed head, a missing repository, wrong and missing credentials', async () => {
    const { name, url } = await fresh()
    await pushBranch(url, 'feature', 'a.tf', '# a\n')
    const json = { title: 'x', head: 'feature', base: 'main' }
    expect((await open(name, json, null)).status).toBe(401)
    expect((await open(name, json, 'robot:wrong')).status).toBe(401)
    expect((await open('missing', json)).status).toBe(404)
    await open(name, json)
    expect((await merge(name, 1, { sha: '0'.repeat(40) })).status).toBe(409)
    expect((await merge(name, 7)).status).toBe(404)
  })
})

test('a restart keeps certificate, branches and pull requests, and seeds nothing twice', async () => {
  const data_dir = join(folder, 'restart')
  const first = await startGitHost({ data_dir, user: 'robot', token: 'secret-token' })
  const options = { env: { ...env(), GIT_SSL_CAINFO: first.ca_file } }
  const work = join(folder, `clone-${++count}`)
  await run('git', ['clone', '--quiet', withCredentials(first.repositories[0] ?? ''), work], options)
  await run('git', ['-C', work, 'push', '--quiet', 'origin', 'HEAD:kept'], options)
  await first.close()
  const second = await startGitHost({ data_dir, user: 'robot', token: 'secret-token' })
  try {
    expect(second.caPem).toBe(first.caPem)
    const branches = await run('git', ['ls-remote', '--heads', second.repositories[0] ?? ''], options)
    expect(branches.stdout).toContain('refs/heads/kept')
  } finally {
    await second.close()
  }
})
