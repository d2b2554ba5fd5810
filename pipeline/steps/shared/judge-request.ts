import { contextBudget } from '../../../src/agent/context-budget.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { requestsFilter, type Verdict } from '../../../src/chains/requests-filter.ts'
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
  const contents = await describeBare(kit)
  // Where there is nothing to look up, no turn is spent on looking.
  const asked = contents === null ? kit : { ...kit, tools: { ...kit.tools, inspection: () => [] } }
  return await runChain(asked, requestsFilter, {
    ...{ request: kit.run.round.query, operation, concernsCloud },
    blocks: await blocks,
    ...(contents !== null && { contents }),
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
 * Lists the files of a repository in which no file is code, with the text of those that describe it; null for another
 * repository, and when it is not known.
 */
async function describeBare({ run, secrets, survey }: Kit): Promise<string | null> {
  const { files, elsewhere, beyondLimit, isWhole } = await survey.look()
  const isBare = isWhole && beyondLimit + elsewhere.code === 0 && !files.some(holdsCode)
  if (!isBare) return null
  const chosen = files.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]))
  const budget = contextBudget(run.context.config.llm, requestsFilter.role)
  return secrets.text(joinParts(describeFiles(files, budget), describeChosen({ chosen, leftOut: [] })))
}

const holdsCode = ({ path, text }: RepositoryFile): boolean =>
  isVariableFile(path) || (isCode(path) && text?.trim() !== '')

/** Ends a round that is not carried out, with the reason as the assistant's side of its turn. */
export function decline({ conversation, round }: Run, message: string): Outcome {
  conversation.push({ user: round.query, assistant: message })
  return { status: 'uncompleted', message }
}
