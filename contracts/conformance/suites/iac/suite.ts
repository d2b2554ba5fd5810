import { join } from 'node:path'
import { bodyPromises } from '../../promises/bodies.ts'
import { policyFor } from '../../promises/policy.ts'
import { tokenPromises } from '../../promises/token.ts'
import { healthPromises, transportPromises } from '../../promises/transport.ts'
import { isRecord } from '../../schema/schema.ts'
import type { Check, Options } from '../../types.ts'
import { enginePromises } from './engine-promises.ts'
import { jobPromises, queuePromises } from './job-promises.ts'

/** Returns the promises of `contracts/iac.v1.yaml`. Generated bodies name no real workspace: 404 means accepted. */
export function iacSuite(options: Options): Check[] {
  const { contract, token, workspace } = options
  const workspacePath = join(workspace, 'missing')
  const prepare = (body: unknown) => (isRecord(body) ? { ...body, workspace_path: workspacePath } : body)
  const submissions = contract.operations
    .filter(({ body }) => body !== null)
    .map((operation) => policyFor(operation, [404, 202], { prepare }))
  const questions = contract.operations
    .filter(({ body, secured, path }) => body === null && secured && path.startsWith('/v1/'))
    .map((operation) => policyFor(operation, [404, 200]))
  return [
    ...healthPromises(contract),
    ...tokenPromises([...submissions, ...questions], token),
    ...submissions.flatMap(bodyPromises),
    ...jobPromises(options),
    ...queuePromises(options),
    ...enginePromises(options),
    ...transportPromises(contract.operations),
  ]
}
