import { matchesWildcard } from '../../../src/base/text.ts'
import { PROGRAM_KINDS, type ProgramKind } from './findings.ts'

/** A permission that the operator gives the code of some repositories. */
export interface Permission {
  kinds: readonly ProgramKind[]
  /** `host/path` in lower case, in which `*` stands for any text. */
  repository: string
}

const PATTERN = /^([a-z]+|\*):([^\s:/]+(?::\d+)?(?:\/[^\s:]*)?)$/

/** Reads an entry such as `exec:github.com/acme/*`. Returns what is wrong with any other text. */
export function parsePermission(text: string): Permission | string {
  const [, name, repository = ''] = PATTERN.exec(text.toLowerCase()) ?? []
  const kinds = PROGRAM_KINDS.filter((kind) => name === '*' || name === kind)
  if (kinds.length > 0 && !repository.endsWith('.git')) return { kinds, repository }
  return `must be <kind>:<repository>, such as exec:github.com/acme/*, with one of the kinds ${PROGRAM_KINDS.join(', ')}, *`
}

/** @param repository `host/path`; without it, only entries for every repository count */
export function permittedKinds(permissions: readonly Permission[], repository: string | undefined): ProgramKind[] {
  const matching = permissions.filter((each) => each.repository === '*' || matches(each.repository, repository ?? ''))
  return [...new Set(matching.flatMap(({ kinds }) => kinds))]
}

// A host may read an escaped path in another way than this pattern.
const matches = (pattern: string, repository: string): boolean =>
  !repository.includes('%') && matchesWildcard(pattern, repository.toLowerCase())
