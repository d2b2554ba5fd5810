import { COMPUTED } from '../../plan/code/literal.ts'
import { fitsGlob } from '../intent/glob.ts'
import { deniesOthers, narrowingOf } from './conditions.ts'
import type { Principal, Statement } from './document.ts'
import { isEverything } from './patterns.ts'

/** Reports whether some statements of a policy of a resource allow everyone something. */
export const allowsAnyone = (statements: readonly Statement[]): boolean =>
  openStatements(statements).some((statement) => narrowingOf(statement) === 'open')

/**
 * Reports whether it is known only after the apply whether a policy of a resource allows everyone something. A principal
 * of a known kind that is unknown is the address of something, and not everyone.
 */
export const mayAllowAnyone = (statements: readonly Statement[]): boolean =>
  openStatements(statements).some((statement) => narrowingOf(statement) === 'unknown') ||
  statements.some(
    ({ allows, principals }) =>
      allows && principals.some(({ kind, value }) => kind === COMPUTED || (kind === '' && value === COMPUTED)),
  )

/** Returns the statements that allow everyone, as far as their conditions go. */
const openStatements = (statements: readonly Statement[]): Statement[] => {
  const denials = statements.filter(({ allows }) => !allows).filter(deniesOthers)
  return statements.filter(
    (statement) =>
      statement.allows && isForAnyone(statement) && !denials.some((denial) => coversStatement(denial, statement)),
  )
}

const isForAnyone = ({ principals, notPrincipals }: Statement): boolean =>
  principals.some(isAnyone) || notPrincipals.length > 0

/** Reports whether a principal is everyone: `*` of any kind, or a principal of every account. */
const isAnyone = ({ value }: Principal): boolean => isEverything(value) || /^arn:[^:]*:(iam|sts)::\*:/.test(value)

/** Patterns that are longer are not compared. */
const MAX_PATTERN = 2_000

/** Reports whether a denial is about everything that a statement allows. */
function coversStatement(denial: Statement, { actions, resources }: Statement): boolean {
  const covers = (patterns: readonly string[], covered: readonly string[]) =>
    covered.length > 0 &&
    covered.every((each) =>
      patterns.some((pattern) => pattern.length + each.length < MAX_PATTERN && fitsGlob(pattern, each)),
    )
  const isForAll = denial.notPrincipals.length > 0 || denial.principals.some(({ value }) => isEverything(value))
  return isForAll && covers(denial.actions, actions) && covers(denial.resources, resources)
}
