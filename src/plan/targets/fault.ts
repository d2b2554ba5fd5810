import { withoutIndexes } from '../addresses.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import { parseDiagnostics } from '../diagnostics/parse.ts'

/** The engine's complaint about targets. */
export interface TargetingFault {
  /** Addresses that must be targets too. */
  missing: string[]
  /** Targets that are not addresses. */
  invalid: string[]
}

/**
 * Reads the engine's complaint about targets; null when there are other errors. Source: `prePlanVerifyTargetedMoves`
 * and `ParseTargetStr` of OpenTofu and Terraform, which quote addresses as Go does.
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

/** Returns targets with a reserved type, such as `var.x`; OpenTofu ignores them. Source: Terraform's `ParseTarget`. */
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
