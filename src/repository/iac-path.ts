/** Outcome of a lexical check of `iac_path`; null stands for the repository root. */
export type PathCheck = { ok: true; path: string | null } | { ok: false; text: string }

const NOT_RELATIVE = "iac_path must be a repo-relative path (not absolute) and must not contain '..' segments"
const FORBIDDEN_CHARACTER = 'iac_path must not contain backslashes or control characters'

/**
 * The lexical rules for the engine root inside a repository. Whether the directory exists is known
 * only after the clone.
 */
export function checkIacPath(value: string | null | undefined): PathCheck {
  if (value === null || value === undefined || value === '') return { ok: true, path: null }
  if (Array.from(value).some(isForbidden)) return { ok: false, text: FORBIDDEN_CHARACTER }
  if (value.startsWith('/') || /^[a-z]:/i.test(value) || value.split('/').includes('..'))
    return { ok: false, text: NOT_RELATIVE }
  return { ok: true, path: value }
}

const isForbidden = (character: string): boolean => character === '\\' || character < ' ' || character === '\u007f'
