import { withoutIndexes } from '../addresses.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import { parseDiagnostics } from '../diagnostics/parse.ts'

/** What the engine says against the targets of a plan. */
export interface TargetingFault {
  /** Addresses that have to be targets as well. */
  missing: string[]
  /** Targets that are no addresses. */
  invalid: string[]
}

/**
 * Reads what the engine says when nothing but the targets is at fault; null when something else is, or is as well.
 * Source: `prePlanVerifyTargetedMoves` and `ParseTargetStr` of OpenTofu and Terraform, which quote addresses as Go
 * does.
 */
export function readTargetingFault(text: string): TargetingFault | null {
  const errors = parseDiagnostics(text).filter(({ severity }) => severity === 'error')
  if (errors.length === 0 || !errors.every(isAboutTargets)) return null
  return {
    missing: errors.flatMap(({ detail }) =>
      [...detail.matchAll(/^\s*-target=("(?:\\.|[^"\\])*")\s*$/gm)].flatMap(([, quoted = '']) => unquote(quoted)),
    ),
    invalid: errors.flatMap(({ summary }) => unquote(INVALID.exec(summary)?.[1] ?? '')),
  }
}

/**
 * Targets whose type is a word that the language reserves, in the root or in a module: `var.x`, `module.net.local.y`.
 * Terraform refuses them; OpenTofu plans as if they were not there. Source: `ParseTarget` of Terraform.
 */
export const reservedTargets = (targets: readonly string[]): string[] =>
  targets.filter((target) => RESERVED.test(withoutIndexes(target)))

const RESERVED = /^(?:module\.[^.]+\.)*(?:arg|count|each|lazy|local|path|self|template|terraform|var)\./

const INVALID = /^Invalid target (".*")$/

const isAboutTargets = ({ summary }: Diagnostic): boolean =>
  summary === 'Moved resource instances excluded by targeting' || INVALID.test(summary)

function unquote(quoted: string): string[] {
  try {
    const value: unknown = JSON.parse(quoted)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
