import type { FileVersions } from '../../../src/plan/code/compare.ts'

/** Returns the versions of files by path, without those that are equal. */
export const versionsOf = (
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): FileVersions[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((path) => ({
      from: path in before ? path : null,
      to: path in after ? path : null,
      before: before[path] ?? null,
      after: after[path] ?? null,
      unread: null,
    }))
    .filter((one) => one.before !== one.after)
