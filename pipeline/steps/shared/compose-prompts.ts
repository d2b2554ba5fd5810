import { PlatformError } from '../../../src/base/errors.ts'
import { type CompositorValues, promptCompositor } from '../../../src/chains/prompt-compositor.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Run } from '../../kit/run.ts'
import { readBodies, runChain } from '../../kit/run-chain.ts'

/** What the organisation says about the resources of a request. */
export interface Conventions {
  /** Bodies of the selected resource prompts. */
  templates: string[]
  /** Lines of the list of abbreviations. */
  abbreviations: string[]
}

/**
 * Asks the compositor, a model, twice which reference material the request needs: first for what the request names,
 * then for what that depends on. A name that the catalogue does not list in backticks is dropped when it has no prompt.
 * Errors: those of `runAgent` and of the prompts, among them 404 for a name that the catalogue lists.
 */
export async function composePrompts(kit: Kit): Promise<Conventions> {
  const { run } = kit
  const request = run.round.query
  const bodies = await readBodies(kit, promptCompositor, { request, pass: { number: 1 } })
  const select = (pass: CompositorValues['pass']) => runChain(kit, promptCompositor, { request, pass }, { bodies })
  const first = await select({ number: 1 })
  const second = await select({ number: 2, ...first })
  return {
    templates: await readTemplates(run, bodies.resourcesList, [...first.templates, ...second.templates]),
    abbreviations: [...new Set([...first.abbreviations, ...second.abbreviations])],
  }
}

async function readTemplates(run: Run, catalogue: string, selected: readonly string[]): Promise<string[]> {
  const prefix = `${run.round.session.provider}-resources-`
  const names = new Set(selected.map((name) => (name.startsWith(prefix) ? name : `${prefix}${name}`)))
  const isListed = (name: string) =>
    catalogue.includes(`\`${name.slice(prefix.length)}\``) || catalogue.includes(`\`${name}\``)
  const bodies = await Promise.all(
    [...names].map((name) => (isListed(name) ? run.context.prompts.body(name, run.signal) : readBodyOrNull(run, name))),
  )
  return bodies.filter((body) => body !== null)
}

async function readBodyOrNull({ context, log, signal }: Run, name: string): Promise<string | null> {
  try {
    return await context.prompts.body(name, signal)
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status !== 404) throw error
    log.info('the compositor chose a prompt that does not exist', { prompt: name })
    return null
  }
}
