import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import type { GitProvider } from '../../config/types.ts'
import type { Account } from '../../dev/git-host/accounts.ts'
import { openWorkspace } from '../../pipeline/workspace/open.ts'
import { createLogger, silentLogger } from '../../src/base/log.ts'
import { createPullRequestHost } from '../../src/pull-requests/host-of.ts'
import { readReachableHead } from '../../src/repository/head.ts'
import { assertMayPush } from '../../src/repository/push-right.ts'
import { findRootModules } from '../../src/repository/root-modules.ts'
import { apiHeaders, gitAuthorization } from '../../src/repository/sign-in.ts'
import { startTrustedHost } from '../helpers/git-host-core.ts'
import { startOnce } from '../helpers/start-once.ts'
import { round, siteConfig } from '../pipeline/workspace/support.ts'
import { gitConfig, gitContext } from './support.ts'

const APP: Account = {
  user: 'x-access-token',
  token: 'ghs_0123456789abcdefghijklmnopqrstuvwxyz',
  scheme: 'bearer',
  app: true,
  lacks: { path: /\/protection$/, words: 'Resource not accessible by integration' },
}
const LAPSING: Account = { ...APP, token: 'ghs_abcdefghijklmnopqrstuvwxyz0123456789' }
const FINE: Account = {
  user: '',
  token: 'github_pat_11ABCDEFG_0123456789',
  lacks: { path: /\/(protection|check-runs)$/, words: 'Resource not accessible by personal access token' },
}
const READING: Account = {
  user: '',
  token: 'github_pat_11ABCDEFG_reading',
  no_push: 'Write access to repository not granted.',
}
const PROJECT: Account = { user: '', token: 'glpat-project' }
const LEGACY: Account = {
  user: 'gitlab+deploy-token-1',
  token: 'deploy-token-without-prefix',
  no_push: 'You are not allowed to push code to this project.',
}
const JOB: Account = { user: 'gitlab-ci-token', token: 'glcbt-64_abc' }
const PERSONAL: Account = { user: '', token: 'a'.repeat(52) }
const ENTRA: Account = {
  user: '',
  token: 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiI0OTliODRhYyJ9.c2lnbmF0dXJl',
  scheme: 'only_bearer',
}

const accounts = [APP, LAPSING, FINE, READING, PROJECT, LEGACY, JOB, PERSONAL, ENTRA]
const host = startOnce(() => startTrustedHost({ accounts }))
const run = promisify(execFile)
const signal = new AbortController().signal
let uploads: string

beforeAll(async () => {
  uploads = await mkdtemp(join(tmpdir(), 'tokens-'))
  return () => rm(uploads, { recursive: true, force: true })
})

let made = 0
/** Adds a private repository, which only shows itself to those who sign in. */
const add = () =>
  host.addRepository({
    owner: 'acme',
    name: `infra-${++made}`,
    private: true,
    content: { files: { 'main.tf': 'resource "terraform_data" "a" {}\n' } },
  })
const settings = (account: Pick<Account, 'token'>, provider: GitProvider = 'GITHUB', user = 'bot') => ({
  provider,
  user,
  token: account.token,
  base_url: host.url,
  host: host.host,
  ca_file: host.ca_file,
})
const open = (uri: string, git: ReturnType<typeof settings>, session = crypto.randomUUID(), changes = {}) =>
  openWorkspace(siteConfig(uploads, git), round(uri, { session, ...changes }), { log: silentLogger })
const at = async (uri: string, ...args: string[]) =>
  (await run('git', ['--git-dir', host.pathOf(uri), ...args])).stdout.trim()
const BRANCH = round('').session.workspace.branch
const confirm = async () => {}

describe('at GitHub, a token', () => {
  const pullsOf = (uri: string, account: Account) => {
    const config = { git: gitConfig(settings(account)), orchestration: { pull_request_readiness_seconds: 2 } }
    return createPullRequestHost({ config: config as never, fetch: (input, init) => fetch(input, init) }, uri)
  }

  it.each([
    ['of an installation of an app', APP],
    ['with chosen permissions', FINE],
  ])('%s signs in, clones, pushes, opens, reads and merges', async (_, account) => {
    const uri = await add()
    const git = settings(account)
    const context = gitContext(git)
    expect(await readReachableHead(context, uri)).toMatchObject({ branch: 'main' })
    expect(await findRootModules(context, uri)).toMatchObject({ roots: ['.'], rootModules: [{ path: '.' }] })
    await assertMayPush(context, uri)
    const workspace = await open(uri, git)
    await writeFile(join(workspace.iacRoot, 'new.tf'), 'resource "terraform_data" "b" {}\n')
    const commit = await workspace.commitAndPush()
    await workspace.dispose()
    const pulls = pullsOf(uri, account)
    const { id } = await pulls.create({ title: 'Add b', description: 'Why.', head: BRANCH, base: 'main' }, signal)
    await host.setRules(uri, {
      protection: { required_status_checks: { strict: false, contexts: ['plan'] } },
      rules: [{ type: 'pull_request', parameters: { required_approving_review_count: 1 } }],
    })
    const read = await pulls.readiness(id, { commit, signal })
    expect(read.blockers.map(({ code }) => code)).not.toContain('permissions')
    expect(read.blockers.map(({ code }) => code)).toContain('reviews')
    expect(read.unknown.join()).toContain('no administrator')
    await host.setRules(uri, { allow_merge_commit: false })
    expect(await pulls.readiness(id, { commit, signal })).toMatchObject({ status: 'ready' })
    expect(await pulls.merge(id, { commit, confirm, signal })).toBe('merged')
    expect(await at(uri, 'show', 'main:new.tf')).toContain('"b"')
  })

  it('that may only read is told before a round, in the words of the host', async () => {
    const uri = await add()
    expect(await readReachableHead(gitContext(settings(READING)), uri)).toMatchObject({ branch: 'main' })
    await expect(assertMayPush(gitContext(settings(READING)), uri)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Write access to repository not granted.'),
    })
  })

  it('of an app that lapses amid a round keeps what was pushed, says why, and a new one goes on', async () => {
    const uri = await add()
    const session = crypto.randomUUID()
    const workspace = await open(uri, settings(LAPSING), session)
    await writeFile(join(workspace.iacRoot, 'new.tf'), '# first attempt\n')
    const first = await workspace.commitAndPush()
    const account = accounts.find(({ token }) => token === LAPSING.token)
    if (account) account.expired = true
    await writeFile(join(workspace.iacRoot, 'new.tf'), '# second attempt\n')
    const error = await workspace.commitAndPush().then(
      () => null,
      (reason: Error) => reason,
    )
    expect(error?.message).toMatch(/does not take the token of the platform \(401\).*lasts about an hour\./)
    expect(error?.message).not.toContain(LAPSING.token)
    await workspace.dispose()
    expect(await at(uri, 'rev-parse', BRANCH)).toBe(first)
    await expect(assertMayPush(gitContext(settings(LAPSING)), uri)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/has expired.*about an hour/),
    })
    const pulls = pullsOf(uri, LAPSING)
    await expect(pulls.readiness(1, { commit: first, signal })).rejects.toMatchObject({ status: 502 })
    const later = await open(uri, settings(APP), session, { number: 2, base_commit: first })
    expect(await later.head()).toBe(first)
    await later.dispose()
  })
})

describe('at GitLab, a token', () => {
  it.each([
    ['of a project, with any name', PROJECT, 'any-name'],
    ['of a job, with its one name', JOB, 'bot'],
  ])('%s clones and pushes', async (_, account, user) => {
    const uri = await add()
    const workspace = await open(uri, settings(account, 'GITLAB', user))
    await writeFile(join(workspace.iacRoot, 'new.tf'), '# new\n')
    expect(await workspace.commitAndPush()).toBe(await at(uri, 'rev-parse', BRANCH))
    await workspace.dispose()
  })

  it('for deployments reads with its own name alone, and pushes nothing', async () => {
    const uri = await add()
    const named = gitContext(settings(LEGACY, 'GITLAB', LEGACY.user))
    expect(await readReachableHead(named, uri)).toMatchObject({ branch: 'main' })
    await expect(assertMayPush(named, uri)).rejects.toMatchObject({
      message: expect.stringContaining('You are not allowed to push code'),
    })
    await expect(readReachableHead(gitContext(settings(LEGACY, 'GITLAB', 'bot')), uri)).rejects.toMatchObject({
      status: 400,
    })
  })

  it.each([
    ['a deploy token', 'gldt-abc'],
    ['a job token of a pipeline', 'glcbt-64_abc'],
  ])('that cannot open merge requests is told before a round: %s', async (kind, token) => {
    await expect(assertMayPush(gitContext(settings({ token }, 'GITLAB')), await add())).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`is ${kind}, with which GitLab opens no merge requests`),
    })
  })
})

describe('at Azure DevOps, a token', () => {
  it.each([
    ['of a person', PERSONAL, 'Basic', `Basic ${btoa(`:${PERSONAL.token}`)}`],
    ['of Entra', ENTRA, 'Bearer', `Bearer ${ENTRA.token}`],
  ])('%s signs in to git and interface in its own way', async (_, account, scheme, authorization) => {
    const git = gitConfig(settings(account, 'AZURE_DEVOPS'))
    expect(apiHeaders(git)).toEqual({ authorization })
    expect(gitAuthorization(git)).toMatch(`${scheme} `)
    const uri = await add()
    expect(await readReachableHead(gitContext(git), uri)).toMatchObject({ branch: 'main' })
    const workspace = await open(uri, settings(account, 'AZURE_DEVOPS'))
    await writeFile(join(workspace.iacRoot, 'new.tf'), '# new\n')
    expect(await workspace.commitAndPush()).toBe(await at(uri, 'rev-parse', BRANCH))
    await workspace.dispose()
  })
})

it('no token is in the log of a round', async () => {
  const lines: string[] = []
  const uri = await add()
  const config = siteConfig(uploads, settings({ token: 'ghs_unknown' }))
  const opened = openWorkspace(config, round(uri), { log: createLogger({ write: (line) => lines.push(line) }) })
  await expect(opened).rejects.toMatchObject({ message: 'git clone failed' })
  expect(lines.join()).toMatch(/does not take the token/)
  expect(lines.join()).not.toContain('ghs_unknown')
})
