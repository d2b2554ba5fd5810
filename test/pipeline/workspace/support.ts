import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Config, GitConfig } from '../../../config/types.ts'
import { type GitHost, startGitHost } from '../../../dev/git-host/start.ts'
import { openWorkspace } from '../../../pipeline/workspace/open.ts'
import type { Workspace } from '../../../pipeline/workspace/workspace.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { ClaimedRound } from '../../../src/rounds/round.ts'
import { gitConfig } from '../../repository/support.ts'

export const USER = 'bot'
export const TOKEN = 'p@ss:w/rd%token'
/** The token as addresses and headers hold it. */
export const TOKEN_FORMS = [TOKEN, encodeURIComponent(TOKEN), Buffer.from(`${USER}:${TOKEN}`).toString('base64')]

type Content = Record<string, string | { symlink: string }>

/** A git host with a folder for clones, and helpers that open workspaces on it. */
export interface Site {
  host: GitHost
  folder: string
  config: Config
  lines: string[]
  add(files: Content, options?: { private?: boolean; empty?: boolean }): Promise<string>
  /** Opens a workspace with all files of its branch. */
  open(uri: string, round?: RoundChanges, signal?: AbortSignal): Promise<Workspace>
  /** Opens one with the files that a model may be shown; the others come with `complete`. */
  begin(uri: string, round?: RoundChanges, signal?: AbortSignal): Promise<Workspace>
  /** Opens a new repository in a session of its own. `at` makes paths in the engine root. */
  start(
    changes?: RoundChanges,
    files?: Content,
    options?: { private?: boolean },
  ): Promise<{ uri: string; session: string; workspace: Workspace; at(name: string): string }>
  remote(uri: string, ...args: string[]): Promise<string>
  close(): Promise<void>
}

export type RoundChanges = Partial<Omit<ClaimedRound, 'session'>> & {
  session?: string
  branch?: string
  root_path?: string | null
}

export async function startSite(git: Partial<GitConfig> = {}, hosted: { path?: string } = {}): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-'))
  const host = await startGitHost({
    data_dir: join(folder, 'host'),
    user: USER,
    token: TOKEN,
    samples: false,
    ...hosted,
  })
  const config = siteConfig(join(folder, 'uploads'), {
    base_url: host.url,
    host: host.host,
    ca_file: host.ca_file,
    user: USER,
    token: TOKEN,
    ...git,
  })
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line), level: 'debug' })
  let count = 0
  const site: Site = {
    host,
    folder,
    config,
    lines,
    add: (files, options) =>
      host.addRepository({
        owner: 'acme',
        name: `infra-${++count}`,
        content: options?.empty ? undefined : { files },
        private: options?.private,
      }),
    open: async (uri, changes, signal) => {
      const workspace = await site.begin(uri, changes, signal)
      await workspace.complete()
      return workspace
    },
    begin: (uri, changes, signal) => openWorkspace(config, round(uri, changes), { log, signal }),
    start: async (changes, files = { 'main.tf': 'x' }, options) => {
      const session = crypto.randomUUID()
      const uri = await site.add(files, options)
      const workspace = await site.open(uri, { session, ...changes })
      return { uri, session, workspace, at: (name) => join(workspace.iacRoot, name) }
    },
    remote: (uri, ...args) => git_(['--git-dir', host.pathOf(uri), ...args]),
    close: async () => {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return site
}

export function siteConfig(upload_folder: string, git: Partial<GitConfig> = {}): Config {
  const paths = {
    upload_folder,
    git_folder: `${upload_folder}-git`,
    session_plan_filename: 'session.plan',
    backend_override_filename: 'backend_override.tf',
  }
  return { git: gitConfig(git), paths, storage: { engine_state_bucket: '' } } as Config
}

export const SESSION = '11111111-2222-4333-8444-555555555555'

export function round(uri: string, changes: RoundChanges = {}): ClaimedRound {
  const { session = SESSION, branch = 'Platform/2026-01-31_235959-1a2b', root_path = null, ...rest } = changes
  return {
    id: 1,
    number: 1,
    fence: 1,
    attempt: 1,
    mode: 'generate',
    query: 'q',
    is_partial: false,
    history: [],
    base_commit: null,
    jobs: {},
    session: {
      id: 1,
      uuid: session,
      user_id: 1,
      username: 'u',
      operation: 'generate',
      provider: 'aws',
      scope_id: 'scope',
      workspace: { uri, branch, root_path },
      first_query: 'q',
      is_blocked: false,
      in_flight: true,
      current_status: 'started',
    },
    ...rest,
  }
}

const run = promisify(execFile)

/** Runs git without the platform's settings. */
export async function git_(args: string[], cwd?: string): Promise<string> {
  const identity = ['-c', 'user.name=Someone', '-c', 'user.email=someone@noreply.invalid', '-c', 'safe.directory=*']
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  return (await run('git', [...identity, ...args], { cwd, env })).stdout.trim()
}
