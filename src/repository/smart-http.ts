import { type Fetch, type OutboundResponse, send } from '../base/http.ts'
import { readLines } from './packets.ts'

/** A remote repository over HTTP, for the reading half of git's smart protocol, versions 1 and 2. */
export interface Remote {
  /** What the server can do, and its HEAD. Errors: `GitStatusError`, `OutboundError`, plain ones. */
  discover(): Promise<Discovery>
  /** Sends a request to `git-upload-pack`. Errors: `GitStatusError`, `OutboundError`. */
  call(packets: string, version: Discovery['version'], maxBytes: number): Promise<Uint8Array<ArrayBuffer>>
}

export interface Discovery {
  version: 1 | 2
  /** Version 1: the names alone. Version 2: the lines, such as `fetch=shallow filter`. */
  capabilities: string[]
  /** The commit of HEAD and its branch, where version 1 says them; version 2 has to be asked. */
  head: RemoteHead | null
}

/** The commit and branch that a remote's HEAD points at. `branch` is null when the server does not name it. */
export interface RemoteHead {
  commit: string
  branch: string | null
}

/** A git server answered with another status than 200. */
export class GitStatusError extends Error {
  readonly status: number
  constructor(status: number) {
    super(`the git server answered with HTTP ${status}`)
    this.name = 'GitStatusError'
    this.status = status
  }
}

/** Lists of references of large repositories have some megabytes. */
const MAX_DISCOVERY_BYTES = 32 * 1024 * 1024

/**
 * Redirects are not followed, so that no request, with its credentials, goes to another host.
 * @param options.login sent when the server asks for it, and with every later request
 * @param options.timeoutMs for each request, from the connection to the end of the answer
 */
export function openRemote(
  fetch: Fetch,
  url: URL,
  options: { timeoutMs: number; signal?: AbortSignal; login: { user: string; password: string } | null },
): Remote {
  let authorization: Record<string, string> = {}
  const ask = async (request: Parameters<typeof send>[1]): Promise<OutboundResponse> => {
    const answer = await send(fetch, {
      ...request,
      headers: { ...request.headers, ...authorization },
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      redirect: 'manual',
    })
    // Azure DevOps answers 203 with a page for signing in where others answer 401.
    const isChallenge = answer.status === 401 || answer.status === 203
    if (isChallenge && options.login && !authorization.authorization) {
      authorization = { authorization: basic(options.login) }
      return ask(request)
    }
    if (answer.status !== 200) throw new GitStatusError(answer.status)
    return answer
  }
  return {
    discover: async () => {
      const { body } = await ask({
        url: `${url.href}/info/refs?service=git-upload-pack`,
        headers: { 'git-protocol': 'version=2' },
        timeoutMs: options.timeoutMs,
        maxBytes: MAX_DISCOVERY_BYTES,
      })
      return readDiscovery(body)
    },
    call: async (packets, version, maxBytes) => {
      const { body } = await ask({
        url: `${url.href}/git-upload-pack`,
        method: 'POST',
        headers: {
          'content-type': 'application/x-git-upload-pack-request',
          accept: 'application/x-git-upload-pack-result',
          ...(version === 2 ? { 'git-protocol': 'version=2' } : {}),
        },
        body: new TextEncoder().encode(packets),
        timeoutMs: options.timeoutMs,
        maxBytes,
      })
      return body
    },
  }
}

function basic({ user, password }: { user: string; password: string }): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

/** Lines of an advertisement that are looked at. Version 2 has about ten, version 1 names HEAD in its first. */
const MAX_LINES = 64

function readDiscovery(body: Uint8Array): Discovery {
  const lines = readLines(body, MAX_LINES).filter((line) => !line.startsWith('# service='))
  const [first, ...others] = lines
  if (first === undefined) throw new Error('the server does not speak the smart protocol of git')
  if (first === 'version 2') return { version: 2, capabilities: others, head: null }
  const [reference = '', names = ''] = first.split('\0')
  const [, commit, name] = /^([0-9a-f]{40}) (.+)$/.exec(reference) ?? []
  if (commit === undefined) throw new Error('the server does not speak the smart protocol of git')
  const capabilities = names.trim().split(' ')
  const target = capabilities.find((text) => text.startsWith('symref=HEAD:'))?.slice('symref=HEAD:'.length)
  return { version: 1, capabilities, head: name === 'HEAD' ? { commit, branch: branchOf(target) } : null }
}

/** The branch that a reference like `refs/heads/main` names. */
export const branchOf = (reference: string | undefined): string | null =>
  reference?.replace(/^refs\/heads\//, '') ?? null
