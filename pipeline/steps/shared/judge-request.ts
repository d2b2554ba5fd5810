import type { Operation } from '../../../src/base/vocabulary.ts'
import { requestsFilter, type Verdict } from '../../../src/chains/requests-filter.ts'
import { providersBesideCloud, templateNames } from '../../../src/chains/shared/catalogue.ts'
import type { Kit } from '../../kit/kit.ts'
import { type Outcome, type Run, withFallback } from '../../kit/run.ts'
import { runChain } from '../../kit/run-chain.ts'

/** Lets a model judge the request of the round. */
export async function judgeRequest(kit: Kit, operation: Operation, blocks: Promise<string>): Promise<Verdict> {
  // What is imported is of the session's cloud, whatever the code has.
  const concernsCloud = operation === 'import' || (await concernsCloudOf(kit))
  return await runChain(kit, requestsFilter, {
    ...{ request: kit.run.round.query, operation, concernsCloud },
    blocks: await blocks,
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

/** Ends a round that is not carried out, with the reason as the assistant's side of its turn. */
export function decline({ conversation, round }: Run, message: string): Outcome {
  conversation.push({ user: round.query, assistant: message })
  return { status: 'uncompleted', message }
}
