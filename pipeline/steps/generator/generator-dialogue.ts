import { type GeneratorValues, iacGenerator } from '../../../src/chains/iac-generator.ts'
import { describeDiff } from '../../../src/chains/shared/branch-diff.ts'
import { foreignProviders, lacksCloud, titleTypes } from '../../../src/chains/shared/catalogue.ts'
import { type FileDiff, findChangedBlocks } from '../../../src/plan/code/compare.ts'
import { typesFor } from '../../../src/plan/imports/identity.ts'
import { LOCK_FILE, type LockedProvider, readLockFile } from '../../../src/plan/schema/lock-file.ts'
import {
  declaredTypes,
  keyOf,
  mentionedTypes,
  type TypeName,
  typesNamedIn,
  uniqueTypes,
} from '../../../src/plan/schema/read-schema.ts'
import { renderTypes } from '../../../src/plan/schema/render.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { openDialogue } from '../../kit/run-chain.ts'
import { readText } from '../../workspace/files/access.ts'
import { chooseForTask, readForTask } from '../shared/look-at-repository.ts'

/** The part of a task that the generator reads. */
type ToldTask = Pick<GeneratorValues, 'operation' | 'forbid' | 'templates' | 'abbreviations' | 'concernsCloud'> & {
  /** Words of the task, by which files are chosen. */
  query: string
  /** Identifiers to import, whose types it is shown. */
  importIds?: readonly string[]
}

export type GeneratorDialogue = Awaited<ReturnType<typeof openGenerator>>

/** Maximum characters of the diff for the generator, which can ask for the rest. */
const MAX_CHANGES = 24_000

/** Opens the conversation about a task. Each query adds provider schemas that were not shown yet. */
export async function openGenerator(kit: Kit, { query, importIds = [], ...task }: ToldTask) {
  const cloud = kit.run.round.session.provider
  const files = await kit.survey.files()
  const foreign = { cloud, names: foreignProviders(files, cloud) }
  const blank = { task: '', repository: null, changes: '', providers: null, providerSchema: '' }
  // Without anything of the cloud in code and request, what it forbids has nothing to forbid. Should the code turn to
  // the cloud all the same, the audit is told by the types of its plan.
  const forbid = task.forbid && !(task.concernsCloud === false && lacksCloud(files, cloud))
  const values: GeneratorValues = { ...task, forbid, foreignProviders: foreign, ...blank }
  const [dialogue, repository, diff, review] = await Promise.all([
    openDialogue(kit, iacGenerator, values),
    readForTask(kit, query),
    readDiff(kit),
    kit.lastReview(),
  ])
  const changes = describeDiff(diff, MAX_CHANGES, repository?.relevant)
  const shownTypes = new Set<string>()
  let closing: string | null = null
  return {
    /** Asks for an attempt, in the conversation of the earlier ones. Errors: those of `runAgent`. */
    ask: async (prompt: string) => {
      const schemas = await readSchemas(kit, { query: prompt, request: query, templates: task.templates, importIds })
      const providers = closing === null ? await readProviders(kit) : null
      const beginning =
        closing === null ? { repository, changes, ...(review && { lastPlan: review.round }), providers } : {}
      const providerSchema = dropShown(schemas ?? '', shownTypes)
      const answer = await dialogue.ask({ ...values, ...beginning, task: prompt, providerSchema }, closing ?? '')
      closing = answer.summary
      return answer
    },
    /** Allows the generator to repeat every call, because files may have changed after its attempt. */
    forgetCalls: dialogue.forgetCalls,
  }
}

/** Maximum characters of a lock file. */
const MAX_LOCK_FILE = 1_000_000

/** Reads the providers that init or the repository chose; none when init needs none, null when they are unknown. */
export const readProviders = ({ run, engine }: Kit): Promise<LockedProvider[] | null> =>
  withFallback(run, 'the generator is not told the versions of the providers', null, async () => {
    const text = await readText(`${run.workspace.iacRoot}/${LOCK_FILE}`, MAX_LOCK_FILE)
    if (text === null) return engine.hasInstalled ? [] : null
    return readLockFile(text)
  })

/** Removes the types that were shown before, and notes the others. Each type is one paragraph. */
function dropShown(schemas: string, shown: Set<string>): string {
  const fresh = schemas.split('\n\n').filter((type) => type !== '' && !shown.has(type))
  for (const type of fresh) shown.add(type)
  return fresh.join('\n\n')
}

/** Reads the diff of the session; empty when it changed nothing, or on failure. */
const readDiff = ({ run }: Kit): Promise<FileDiff[]> =>
  withFallback(run, 'the generator is not shown what the session changed', [], () => run.workspace.branchDiff())

/** Returns the types of the blocks that the session changed. */
async function changedTypes({ run }: Kit): Promise<TypeName[]> {
  const blocks = findChangedBlocks(await run.workspace.versions())
  return blocks.flatMap(({ kind, labels: [type = ''] }) =>
    kind === 'resource' || kind === 'data' || kind === 'ephemeral' ? [{ mode: kind, type }] : [],
  )
}

/** Maximum characters of the schema of one type, and of all together. */
const MAX_CHARS = { type: 6_000, total: 12_000 }
const MAX_TYPES = 12

/**
 * Reads the provider schemas that the generator probably needs as one text: types in the query, then those of
 * identifiers to import, those that the task names in words, in the session's changes and in the titles of the selected
 * prompts, unless nearby code shows their use. Others are available through a tool. Empty when no provider has them;
 * null before the first init.
 * @param about.query that of the generator, with the engine output
 * @param about.request the words of the task
 * @param about.templates bodies of the selected resource prompts
 */
export async function readSchemas(
  kit: Kit,
  about: { query: string; request: string; templates: readonly string[]; importIds?: readonly string[] },
): Promise<string | null> {
  const { run, engine } = kit
  const { query, request, templates, importIds = [] } = about
  return await withFallback(run, 'the generator goes on without provider schemas', null, async () => {
    const names = await engine.schema.names()
    if (!names) return null
    const { chosen } = await chooseForTask(kit, query)
    const shown = new Set(chosen.flatMap(({ text }) => declaredTypes(text)).map(keyOf))
    const ofKinds = typesFor(run.round.session.provider, importIds, names.resource)
    const named = [...ofKinds, ...typesNamedIn(request, names.resource)].map(
      (type) => ({ mode: 'resource', type }) as const,
    )
    const likely = [...named, ...(await changedTypes(kit)), ...templates.flatMap(titleTypes)]
    const candidates = uniqueTypes([...mentionedTypes(query), ...likely.filter((type) => !shown.has(keyOf(type)))])
    const types = candidates.filter(({ mode, type }) => names[mode].includes(type))
    const schemas = (await engine.schema.of(types.slice(0, MAX_TYPES))) ?? []
    return renderTypes(schemas, MAX_CHARS).text
  })
}
