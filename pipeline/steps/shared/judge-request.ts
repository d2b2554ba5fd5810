import { contextBudget } from '../../../src/agent/context-budget.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { type FilteredRepository, requestsFilter, type Verdict } from '../../../src/chains/requests-filter.ts'
import { providersBesideCloud, templateNames } from '../../../src/chains/shared/catalogue.ts'
import { isCode } from '../../../src/chains/shared/declared-blocks.ts'
import { describeChosen, describeFiles, type RepositoryFile } from '../../../src/chains/shared/repository.ts'
import { isVariableFile } from '../../../src/plan/code/variable-files.ts'
import { joinParts } from '../../../src/prompts/layout.ts'
import type { Kit } from '../../kit/kit.ts'
import { type Outcome, type Run, withFallback } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'

/** Lets a model judge the request of the round. */
export async function judgeRequest(kit: Kit, operation: Operation, blocks: Promise<string>): Promise<Verdict> {
  // What is imported is of the session's cloud, whatever the code has.
  const concernsCloud = operation === 'import' || (await concernsCloudOf(kit))
  const whole = await describeWhole(kit)
  // Where there is nothing to look up, no turn is spent on looking.
  const asked = whole === null ? kit : { ...kit, tools: { ...kit.tools, inspection: () => [] } }
  return await runChain(asked, requestsFilter, {
    ...{ request: kit.run.round.query, operation, concernsCloud },
    ...(whole === null ? { blocks: await blocks } : { whole }),
  })
}

/** Reports whether repository or request have something of the session's cloud; true in doubt. */
const concernsCloudOf = ({ run, survey }: Kit): Promise<boolean> =>
  withFallback(run, 'it could not be told whether the request concerns the cloud', true, async () => {
    const { query: request, session } = run.round
    const list = await run.context.prompts.body(`${session.provider}-guidelines-resources_list`, run.signal)
    const about = { cloud: session.provider, files: await survey.files(), request, templates: templateNames(list) }
    return providersBesideCloud(about).length === 0
  })

/**
 * Maximum characters of a repository with code that the filter is shown whole: less than the tools and the turn that it
 * would take to look at parts of it.
 */
const MAX_SHOWN = 4_000

/**
 * Describes a repository that the filter is shown whole, masked: one without code, with the list of its files, or one
 * with little code, with all of that. Null for another one, when it is not known, and when earlier rounds of the session
 * have changed it, because their diff has to be looked up.
 */
async function describeWhole({ run, secrets, survey }: Kit): Promise<FilteredRepository | null> {
  const { files, elsewhere, beyondLimit, isWhole } = await survey.look()
  if (!isWhole || beyondLimit + elsewhere.code > 0) return null
  const hasCode = files.some(holdsCode)
  const chosen = files.flatMap(({ path, text, link }) => (text === null ? [] : [{ path, text, link }]))
  const budget = contextBudget(run.context.config.llm, requestsFilter.role)
  if (!hasCode)
    return {
      hasCode,
      text: secrets.text(joinParts(describeFiles(files, budget), describeChosen({ chosen, leftOut: [] }))),
    }
  const isLong = files.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_SHOWN
  const isRead = chosen.length === files.length
  if (run.round.number > 1 || isLong || !isRead) return null
  const text = secrets.text(describeChosen({ chosen, leftOut: [] }))
  return text.length > MAX_SHOWN ? null : { hasCode, text }
}

const holdsCode = ({ path, text }: RepositoryFile): boolean =>
  isVariableFile(path) || (isCode(path) && text?.trim() !== '')

/** Ends a round that is not carried out, with the reason as the assistant's side of its turn. */
export function decline({ conversation, round }: Run, message: string): Outcome {
  conversation.push({ user: round.query, assistant: message })
  return { status: 'uncompleted', message }
}
