import type { Artifact } from '../../../client/api/artifacts.ts'
import { type FileResult, joinChanges } from './changes.ts'

const known = new WeakMap<Artifact, { artifacts: readonly Artifact[]; result: FileResult }>()

/** What the changes of a file come to, computed once for the same artifacts; null until all of them are read. */
export function resultOf(read: readonly (Artifact | undefined)[]): FileResult | null {
  const artifacts = read.filter((artifact) => artifact !== undefined)
  const last = artifacts.at(-1)
  if (!last || artifacts.length < read.length) return null
  const before = known.get(last)
  if (before?.artifacts.length === artifacts.length && before.artifacts.every((one, at) => one === artifacts[at]))
    return before.result
  const result = joinChanges(artifacts)
  known.set(last, { artifacts, result })
  return result
}
