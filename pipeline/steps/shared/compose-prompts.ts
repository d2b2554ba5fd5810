import { constructInformationTool } from '../../../src/agent/sentinels/construct-information.ts'
import { PlatformError } from '../../../src/base/errors.ts'
import { type PromptCompositorValues, promptCompositorLayout } from '../../../src/prompts/layouts/prompt-compositor.ts'
import { earlierTurns, selectionQuery } from '../../../src/prompts/queries.ts'
import { type Kit, promptBodies, runChain } from '../../kit/kit.ts'
import type { Run } from '../../kit/run.ts'

/** What the organisation says about the resources of a request. */
export interface Conventions {
  /** Bodies of the selected resource prompts. */
  templates: string[]
  /** Lines of the list of abbreviations. */
  abbreviations: string[]
}

/**
 * Two passes of the compositor: the first picks what the request names, the second what that depends
 * on. Names outside of the catalogue are dropped; one that it lists in backticks has to have a prompt.
 */
export async function composePrompts(kit: Kit): Promise<Conventions> {
  const { run } = kit
  const { provider } = run.round.session
  const [resources_list, abbreviations] = await promptBodies(
    run,
    `${provider}-guidelines-resources_list`,
    `${provider}-guidelines-abbreviations`,
  )
  const select = (pass: PromptCompositorValues['pass']) =>
    runChain(kit, {
      chain: 'PROMPT_COMPOSITOR',
      role: 'small',
      system: promptCompositorLayout({ resources_list, abbreviations, pass }),
      query: selectionQuery(run.round.query),
      conversation: earlierTurns(run.conversation),
      resultTool: constructInformationTool(),
    })
  const first = await select({ number: 1 })
  const second = await select({ number: 2, ...first })
  return {
    templates: await templateBodies(run, resources_list, [...first.templates, ...second.templates]),
    abbreviations: [...new Set([...first.abbreviations, ...second.abbreviations])],
  }
}

async function templateBodies(run: Run, catalogue: string, selected: readonly string[]): Promise<string[]> {
  const prefix = `${run.round.session.provider}-resources-`
  const names = new Set(selected.map((name) => (name.startsWith(prefix) ? name : `${prefix}${name}`)))
  const listed = (name: string) =>
    catalogue.includes(`\`${name.slice(prefix.length)}\``) || catalogue.includes(`\`${name}\``)
  const bodies = await Promise.all(
    [...names].map((name) => (listed(name) ? run.context.prompts.body(name, run.signal) : bodyOrNull(run, name))),
  )
  return bodies.filter((body) => body !== null)
}

async function bodyOrNull({ context, log, signal }: Run, name: string): Promise<string | null> {
  try {
    return await context.prompts.body(name, signal)
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status !== 404) throw error
    log.info('the compositor chose a prompt that does not exist', { prompt: name })
    return null
  }
}
