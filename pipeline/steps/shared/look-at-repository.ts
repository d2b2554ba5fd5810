import { type ContextBudget, contextBudget } from '../../../src/agent/context-budget.ts'
import { chooseBlocks } from '../../../src/chains/shared/choose-blocks.ts'
import { chooseAll, chooseFiles, nearFiles } from '../../../src/chains/shared/choose-files.ts'
import { isCode } from '../../../src/chains/shared/declared-blocks.ts'
import {
  type ChosenFiles,
  describeBlocks,
  describeChosen,
  describeRepository,
  type RepositoryFile,
  type ShownRepository,
} from '../../../src/chains/shared/repository.ts'
import type { ModelRole } from '../../../src/llm/inference.ts'
import { pathOf } from '../../../src/plan/code/compare.ts'
import {
  findAssignedSecrets,
  findAssignedSecretsInJson,
  findDeclaredSecrets,
  findDeclaredSecretsInJson,
} from '../../../src/plan/code/declared-secrets.ts'
import type { CodeFile } from '../../../src/plan/code/modules.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import type { FileAccess } from '../../workspace/files/access.ts'

/** Share of a model's context that a text may take, with an absolute maximum in tokens. */
const OVERVIEW = { share: 0.04, maxTokens: 4_000 }
const FILES = { share: 0.1, maxTokens: 10_000 }
/** Limits of a repository that is shown whole. */
const WHOLE = { share: 0.3, maxTokens: 16_000 }

const shareOfBudget = ({ run }: Kit, role: ModelRole, { share, maxTokens }: typeof OVERVIEW): ContextBudget => {
  const budget = contextBudget(run.context.config.llm, role)
  return { ...budget, tokens: Math.min(maxTokens, Math.floor(budget.tokens * share)) }
}

/** Lists the declarations of the repository, masked, for the model that writes statements. */
export async function readDeclarations(kit: Kit): Promise<string> {
  const { files, beyondLimit } = await kit.survey.look()
  const near = () => findNear(files, kit.run.round.query)
  return kit.secrets.text(describeBlocks(files, shareOfBudget(kit, 'small', OVERVIEW), { near, beyondLimit }))
}

/** Reads all code if short, else an overview and the relevant files; null without files or on failure. */
export async function readForTask(kit: Kit, about: string): Promise<ShownRepository | null> {
  const survey = await kit.survey.look()
  if (survey.files.length === 0) return null
  const near = () => findNear(survey.files, about)
  return describeRepository(survey, await chooseForTask(kit, about), shareOfBudget(kit, 'main', OVERVIEW), near)
}

/** Chooses the files that the generator is shown whole for a task, given by its words. */
export async function chooseForTask(kit: Kit, about: string): Promise<ChosenFiles> {
  const files = await kit.survey.files()
  const all = chooseAll(files, shareOfBudget(kit, 'main', WHOLE))
  if (all) return all
  return chooseFiles(files, { about, changed: await findChangedFiles(kit) }, shareOfBudget(kit, 'main', FILES))
}

/** Maximum characters of code for the model that writes statements. */
const MAX_CODE = 12_000

/** The same for code shown before the declarations of a longer repository. */
const MAX_NEAR = 6_000

/**
 * Returns the blocks that the request is about, with what they refer to, and all declarations; masked, for a model
 * without tools. All code if that is short and no longer, or if it cannot be told what the request is about; of longer
 * code then the nearest files.
 */
export async function readForStatements(kit: Kit, declarations: Promise<string>): Promise<string> {
  const { query } = kit.run.round
  const choice = await chooseForTask(kit, query)
  const whole = choice.complete ? describeChosen(choice) : ''
  const all = whole !== '' && whole.length <= MAX_CODE ? kit.secrets.text(whole) : null
  const blocks = chooseBlocks(withText(await kit.survey.files()), query, MAX_NEAR)
  if (blocks === null && all !== null) return all
  const near = blocks ?? describeChosen({ chosen: await takeNear(kit), leftOut: [] })
  const some = [kit.secrets.text(near), await declarations].filter(Boolean).join('\n\n')
  return all !== null && all.length <= some.length ? all : some
}

/** Returns the nearest files of the request, whole, as long as they fit. */
async function takeNear(kit: Kit): Promise<ChosenFiles['chosen']> {
  const files = await kit.survey.files()
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const chosen: ChosenFiles['chosen'] = []
  let left = MAX_NEAR
  for (const path of findNear(files, kit.run.round.query)) {
    const text = texts.get(path) ?? ''
    left -= text.length
    if (left < 0) break
    if (text !== '') chosen.push({ path, text })
  }
  return chosen
}

/** Returns the paths of the files that a task leads to, the nearest first. */
function findNear(files: readonly RepositoryFile[], about: string): string[] {
  return nearFiles(withText(files), { about, changed: new Set() }).map(({ path }) => path)
}

/** Returns the files of code that were read. */
const withText = (files: readonly RepositoryFile[]): CodeFile[] =>
  files.flatMap(({ path, text }) => (text === null || !isCode(path) ? [] : [{ path, text }]))

/** Returns the paths of the files that earlier rounds of the session changed. */
async function findChangedFiles({ run }: Kit): Promise<Set<string>> {
  const versions = run.round.number > 1 ? await run.workspace.versions().catch(() => []) : []
  return new Set(versions.map(pathOf))
}

/** Masks values that the code declares sensitive before the first plan marks them. Failures are logged. */
export function learnDeclaredSecrets({ run, secrets, openFiles }: Kit): Promise<void> {
  return withFallback(run, 'declared secrets could not be looked for', undefined, async () => {
    const files = openFiles()
    const search = (query: string, pattern: string) => readMatchingFiles(files, query, pattern, run.signal)
    const [code, json] = await Promise.all([
      search('^\\s*(sensitive|ephemeral)\\s*=\\s*true|\\bsensitive\\s*\\(', '*.{tf,tofu}'),
      search('"(sensitive|ephemeral)"\\s*:', '*.{tf,tofu}.json'),
    ])
    const declared = [...code.map(findDeclaredSecrets), ...json.map(findDeclaredSecretsInJson)]
    secrets.add(declared.flatMap(({ literals }) => literals))
    const names = declared.flatMap((one) => one.names).filter((name) => /^[\w-]+$/.test(name))
    if (names.length === 0) return
    const [assigned, assignedJson] = await Promise.all([
      search(`^\\s*"?(${names.join('|')})"?\\s*=`, '*.tfvars'),
      search(`"(${names.join('|')})"\\s*:`, '*.tfvars.json'),
    ])
    secrets.add(assigned.flatMap((text) => findAssignedSecrets(text, names)))
    secrets.add(assignedJson.flatMap((text) => findAssignedSecretsInJson(text, names)))
  })
}

/** Reads every file in which a line matches. */
async function readMatchingFiles(files: FileAccess, query: string, includePattern: string, signal: AbortSignal) {
  const lines = await files.grep({ query, include_pattern: includePattern, case_sensitive: true }, signal)
  const paths = new Set(lines.map((line) => line.replace(/:\d+:.*$/, '')))
  return await Promise.all([...paths].map((path) => files.read(path)))
}
