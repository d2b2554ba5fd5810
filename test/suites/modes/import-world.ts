import { PlatformError } from '../../../src/base/errors.ts'
import type { EngineResult, IacClient, IacJobKind } from '../../../src/services/iac/contract.ts'
import { type Reply, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { accept, done, type Scripts, targets, write } from './scripts.ts'
import { type RoundOptions, runFirst, type Stack } from './stack.ts'

export interface SentJob {
  kind: IacJobKind
  body: Record<string, unknown>
}
export interface ScopedIac extends IacClient {
  jobs: SentJob[]
  imports(): string[][]
}

type Answer = Partial<EngineResult> | undefined

/**
 * Wraps the real sidecar with this inventory. `on_import` may replace an import, fail it or pass it (undefined);
 * `through` lets the engine do it.
 */
export function withScope(
  stack: Stack,
  scope: readonly string[] | Partial<EngineResult>,
  on_import: (
    body: SentJob['body'],
    number: number,
    through: () => Promise<EngineResult>,
  ) => Answer | Promise<Answer> = () => undefined,
): ScopedIac {
  const { iac } = stack.context(scriptedLlm({}))
  const jobs: SentJob[] = []
  const calm = { exit_code: 0, stdout: '', stderr: '' }
  return {
    ...iac,
    jobs,
    imports: () =>
      jobs.filter(({ kind }) => kind === 'import').map(({ body }) => [String(body.address), String(body.resource_id)]),
    run: async (kind, body, options) => {
      jobs.push({ kind, body: { ...body } })
      if (kind === 'scope_resource_ids')
        return Array.isArray(scope) ? { ...calm, stdout: JSON.stringify(scope) } : { ...calm, ...scope }
      if (kind === 'import') {
        const number = jobs.filter((job) => job.kind === 'import').length
        const answer = await on_import({ ...body }, number, () => iac.run(kind, body, options))
        if (answer) return { ...calm, ...answer }
      }
      return await iac.run(kind, body, options)
    },
  }
}

/** Makes the error of a job whose outcome is unknown. */
export const lost = () => new PlatformError('BadGateway', 502, 'IaC job 1 was lost by the iac service.')

/** Writes blocks without arguments, so imports to them need no change. */
export const blocks = (...names: string[]) =>
  names.map((name) => `resource "terraform_data" "${name}" {\n}\n`).join('\n')
export const addresses = (...pairs: [address: string, resource_id: string][]): Reply => ({
  args: {
    status: 'done',
    summary: 'Matched.',
    imports: pairs.map(([address, resource_id]) => ({ address, resource_id })),
  },
})

/** A report full of false statements. */
export const toldReport = {
  args: {
    summary: { selected: 99, imported: 99, failed: 99 },
    status: 'Failed',
    execution_summary: 'What was done.',
    imported_resources: [
      {
        resource_address: 'terraform_data.invented',
        resource_id: 'id-invented',
        status: 'imported',
        details: 'Invented.',
      },
      {
        resource_address: 'terraform_data.other',
        resource_id: 'id-a',
        status: 'failed',
        details: 'The first one.',
        error_message: 'Invented.',
      },
    ],
    excluded_resources: [{ resource_id: 'id-excluded', details: 'Invented.' }],
    state_alignment: 'Invented.',
    recommendations: ['Open a pull request.'],
  },
}

/** The request of a round for the whole scope. */
export const QUERY = 'Import all the infrastructure'

/** Makes a full import of `id-a` and `id-b` to blocks of one file. */
export const importRound = (changes: Scripts = {}): Scripts => ({
  status: { text: 'One sentence.' },
  requests_filter: accept,
  construct_information: { args: { templates: [], abbreviations: [] } },
  task_complete: [write('imported.tf', blocks('a', 'b')), done('Wrote two blocks.')],
  generate_engine_targets: targets('terraform_data.a', 'terraform_data.b'),
  import_addresses: addresses(['terraform_data.a', 'id-a'], ['terraform_data.b', 'id-b']),
  generate_engine_import_report: toldReport,
  ...changes,
})

export const importLlm = (changes: Scripts = {}) => scriptedLlm(importRound(changes))

/** Runs a round that imports with this service and these answers, from the whole scope unless told otherwise. */
export const runImport = (stack: Stack, iac: IacClient, scripts: Scripts = {}, options: RoundOptions = {}) =>
  runFirst(stack, importRound(scripts), { iac, request: { query: QUERY, mode: 'import' }, ...options })

export const importReport = async (stack: Stack, uuid: string) =>
  JSON.parse((await textsOf(stack, uuid, 'report'))[0] ?? 'null')
