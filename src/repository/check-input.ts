/** Result of checking the text alone; `text` is the caller's message and never repeats the input. */
type UriCheck = { ok: true; uri: string } | { ok: false; text: string }

const NOT_HTTPS = 'repo_uri must be an https:// URL with a host.'
const HOLDS_SECRET =
  "repo_uri must not embed a password or token; pass the repository URI without the ':<secret>' part (a bare " +
  'user@host prefix is fine).'

/**
 * Checks the text of a repository address without contacting the host, and returns it trimmed. The raw text is checked
 * before parsing, because the URL parser repairs input that must be refused (`https:host`, blanks, backslashes, an
 * empty password).
 */
export function checkRepositoryUri(value: string): UriCheck {
  const uri = value.trim()
  const authority = /^https:\/\/([^/?#]+)/i.exec(uri)?.[1]
  if (!authority || hasForbiddenCharacter(uri) || !URL.canParse(uri)) return { ok: false, text: NOT_HTTPS }
  const at = authority.lastIndexOf('@')
  const userinfo = authority.slice(0, Math.max(at, 0))
  if (/:|%3a/i.test(userinfo)) return { ok: false, text: HOLDS_SECRET }
  const host = authority.slice(at + 1)
  if (host === '' || host.startsWith(':') || /^(-|%2d)/i.test(userinfo)) return { ok: false, text: NOT_HTTPS }
  return { ok: true, uri }
}

/** Reports whether a text has blanks, control characters or backslashes, which the URL parser would change. */
function hasForbiddenCharacter(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code <= 0x20 || (code >= 0x7f && code <= 0x9f) || character === '\\' || /\s/.test(character)) return true
  }
  return false
}

/** Result of checking `iac_path`; a null path means the root of the repository. */
type PathCheck = { ok: true; path: string | null } | { ok: false; text: string }

const NOT_RELATIVE = "iac_path must be a repo-relative path (not absolute) and must not contain '..' segments"
const OUTER_BLANK = 'iac_path must not begin or end with a blank; blanks inside of it are part of the path'
const FORBIDDEN_CHARACTER = 'iac_path must not contain backslashes or control characters'

/** Checks the text of an engine root's path; only a clone can show if the directory exists. */
export function checkIacPath(value: string | null | undefined): PathCheck {
  if (value === null || value === undefined || value === '') return { ok: true, path: null }
  if (Array.from(value).some(isForbidden)) return { ok: false, text: FORBIDDEN_CHARACTER }
  if (value.startsWith('/') || /^[a-z]:/i.test(value) || value.split('/').includes('..'))
    return { ok: false, text: NOT_RELATIVE }
  if (value !== value.trim()) return { ok: false, text: OUTER_BLANK }
  return { ok: true, path: value }
}

const isForbidden = (character: string): boolean => character === '\\' || character < ' ' || character === '\u007f'
