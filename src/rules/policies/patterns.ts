import { fitsGlob } from '../intent/glob.ts'
import type { Statement } from './document.ts'

/** Reports whether a pattern of actions, principals or values fits everything, as `*`, `**` and `?*` do. */
export const isEverything = (pattern: string): boolean => /^[*?]*\*[*?]*$/.test(pattern)

/** Reports whether an action fits one of some patterns; both are in lower case. */
export const fitsAction = (patterns: readonly string[], action: string): boolean =>
  patterns.some((pattern) => fitsGlob(pattern.replace(/^\*:\*$/, '*'), action))

/** Reports whether one of some patterns fits all of some resources. */
export const fitsEach = (patterns: readonly string[], resources: readonly string[]): boolean =>
  patterns.some((pattern) => resources.every((resource) => fitsGlob(pattern, resource)))

/** Resources that have nothing in common but that they are resources. */
const ANYTHING = [
  'arn:aws:s3:::b7',
  'arn:aws:iam::111122223333:role/path/r1',
  'arn:aws:ec2:eu-west-1:444455556666:instance/i-9',
]

/** Reports whether the resources of a statement are everything, for example `*` or `arn:aws:*:*:*:*`. */
export const coversEverything = ({ resources }: Pick<Statement, 'resources'>): boolean => fitsEach(resources, ANYTHING)
