import type { LockedProvider } from '../../src/plan/schema/lock-file.ts'

/** The versions of a provider that the texts of a cloud are written for. */
export interface Claim {
  source: string
  /** Versions as written, for example `5` or `2.38`, the lowest first. */
  versions: readonly string[]
}

const CLAIM = /\bWritten for versions? (\d[\d.]*?)(?: and (\d[\d.]*?))? of the provider `([\w-]+\/[\w-]+)`/

/** Returns what a text about creating resources says it is written for; null when it does not say. */
export function claimOf(body: string): Claim | null {
  const [, first, second, source] = CLAIM.exec(body) ?? []
  if (first === undefined || source === undefined) return null
  return { source, versions: second === undefined ? [first] : [first, second] }
}

const majorOf = (version: string): number => Number(version.split('.', 1)[0])

/** Reports whether an installed provider is one that a claim is about, in a version that it does not name. */
export const isBeyond = ({ source, versions }: Claim, installed: LockedProvider): boolean =>
  installed.source === source && !versions.some((version) => majorOf(version) === majorOf(installed.version))

/**
 * What a provider has only since a major version: references and arguments of resources, as found missing in the schema
 * of the version before (hashicorp/aws 5.100.0).
 */
const ONLY_SINCE: readonly { source: string; since: number; pattern: RegExp; name: string }[] = [
  { source: 'hashicorp/aws', since: 6, pattern: /\bdata\.aws_region\.\w+\.region\b/, name: 'data.aws_region.*.region' },
  { source: 'hashicorp/aws', since: 6, pattern: /^\s*region\s*=/, name: 'the argument region' },
]

/** A line that names the major version may say what is special about it. */
const names = (line: string, major: number) => new RegExp(`\\b(?:provider|version|in) ${major}\\b`, 'i').test(line)

/** Finds what the lowest version of a claim does not have, in lines that do not name the version that has it. */
export function findTooNew(
  { source, versions: [lowest = ''] }: Claim,
  body: string,
): { line: number; message: string }[] {
  const rules = ONLY_SINCE.filter((rule) => rule.source === source && majorOf(lowest) < rule.since)
  return body.split('\n').flatMap((text, index) =>
    rules
      .filter(({ pattern, since }) => pattern.test(text) && !names(text, since))
      .map(({ name, since }) => ({
        line: index + 1,
        message: `has ${name}, which exists since version ${since}; the texts are written for ${lowest} as well`,
      })),
  )
}
