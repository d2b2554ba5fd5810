/**
 * Names the state of one engine root: SHA-256 (lower-case hex, 64 characters) of repository, scope and
 * path, so that every session on the same three shares one state.
 * @param repository https URL as stored with the session
 * @param iac_path relative to the repository root; null, empty and `.` name the root itself
 */
export async function projectId(repository: string, scope_id: string, iac_path: string | null): Promise<string> {
  const text = [canonicalRepository(repository), scope_id.trim().toLowerCase(), canonicalPath(iac_path ?? '')].join(
    '\n',
  )
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** `host/path` in lower case, without scheme, user, port, surrounding slashes and one `.git` ending. */
function canonicalRepository(repository: string): string {
  const url = new URL(repository.trim())
  const path = trimSlashes(trimSlashes(url.pathname).replace(/\.git$/i, ''))
  return `${url.hostname.toLowerCase()}/${path.toLowerCase()}`
}

function canonicalPath(path: string): string {
  const segments = path.trim().split('/')
  return segments.filter((segment) => segment !== '' && segment !== '.').join('/')
}

const trimSlashes = (text: string): string => text.replace(/^\/+|\/+$/g, '')
