import { PlatformError } from '../../../src/base/errors.ts'
import { type CompositorValues, promptCompositor, type Selection } from '../../../src/chains/prompt-compositor.ts'
import {
  fittingAbbreviations,
  fittingTemplates,
  providersInPlay,
  templateNames,
} from '../../../src/chains/shared/catalogue.ts'
import { declaredTypes, mentionedTypes } from '../../../src/plan/schema/read-schema.ts'
import { withoutBullet } from '../../../src/prompts/layout.ts'
import type { Kit } from '../../kit/kit.ts'
import type { Run } from '../../kit/run.ts'
import { readBodies, runChain } from '../../kit/run-chain.ts'

/** The conventions of the organisation for the resources of a request. */
export interface Conventions {
  /** Bodies of the selected resource prompts. */
  templates: string[]
  /** Qualified names of these prompts, in the same order. */
  templateNames?: string[]
  /** Lines of the list of abbreviations. */
  abbreviations: string[]
  /** False when repository and request have nothing of the cloud's provider; absent means true. */
  concernsCloud?: boolean
}

/**
 * Lets the compositor, a model, select reference material from that of providers in play: first for the request, then,
 * if more is left, for what the selection depends on. No model is asked when there is no material. Names without a
 * prompt are dropped unless the catalogue lists them in backticks. Errors: those of `runAgent` and of the prompts,
 * including 404 for a listed name.
 */
export async function composePrompts(kit: Kit): Promise<Conventions> {
  const { run } = kit
  const request = run.round.query
  const bodies = await readBodies(kit, promptCompositor, { request, pass: { number: 1 } })
  const offer = await findOffer(kit, bodies)
  if (!offer) return { templates: [], templateNames: [], abbreviations: [], concernsCloud: false }
  const select = async (pass: CompositorValues['pass']) =>
    await runChain(kit, promptCompositor, { request, pass }, { bodies: offer.bodies })
  const chosen: Chosen = { templates: new Map(), abbreviations: new Set() }
  await addSelection(run, bodies.resourcesList, chosen, await select({ number: 1 }))
  const first = {
    templates: [...chosen.templates.keys()].map((name) => name.slice(prefixOf(run).length)),
    abbreviations: [...chosen.abbreviations],
  }
  const isEmpty = first.templates.length + first.abbreviations.length === 0
  if (!isEmpty && offer.hasMoreThan(first))
    await addSelection(run, bodies.resourcesList, chosen, await select({ number: 2, ...first }))
  return {
    templates: [...chosen.templates.values()],
    templateNames: [...chosen.templates.keys()],
    abbreviations: [...chosen.abbreviations],
  }
}

/** Returns the entries that the model may choose from; null when no template is of a provider in play. */
async function findOffer(kit: Kit, bodies: { resourcesList: string; abbreviations: string }) {
  const { query, session } = kit.run.round
  const inPlay = providersInPlay({
    cloud: session.provider,
    files: await kit.survey.files(),
    request: query,
    templates: templateNames(bodies.resourcesList),
  })
  const templates = fittingTemplates(bodies.resourcesList, session.provider, inPlay)
  if (templates.wasEmptied) return null
  const abbreviations = fittingAbbreviations(bodies.abbreviations, inPlay)
  const isKnown = (names: readonly (string | null)[], chosen: readonly string[]) =>
    names.length > 0 && names.every((name) => name !== null && chosen.includes(name))
  return {
    bodies: { resourcesList: templates.text, abbreviations: abbreviations.text },
    /** True if there is anything besides a choice. */
    hasMoreThan: (first: Selection) =>
      !isKnown(templates.names, first.templates) ||
      !(abbreviations.names.length === 0 || isKnown(abbreviations.names, first.abbreviations)),
  }
}

/** Bodies by qualified name, and lines without bullets. */
interface Chosen {
  templates: Map<string, string>
  abbreviations: Set<string>
}

const prefixOf = ({ round }: Run): string => `${round.session.provider}-resources-`

/** Adds the selection of a pass, without names that no prompt has. */
async function addSelection(run: Run, catalogue: string, chosen: Chosen, selection: Selection): Promise<void> {
  const prefix = prefixOf(run)
  const selected = selection.templates.map((name) => (name.startsWith(prefix) ? name : `${prefix}${name}`))
  const names = [...new Set(selected)].filter((name) => !chosen.templates.has(name))
  const isListed = (name: string) =>
    catalogue.includes(`\`${name.slice(prefix.length)}\``) || catalogue.includes(`\`${name}\``)
  const bodies = await Promise.all(
    names.map(
      async (name) =>
        [
          name,
          isListed(name) ? await run.context.prompts.body(name, run.signal) : await readBodyOrNull(run, name),
        ] as const,
    ),
  )
  for (const [name, body] of bodies) if (body !== null) chosen.templates.set(name, body)
  for (const line of selection.abbreviations) chosen.abbreviations.add(withoutBullet(line))
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

/** Returns the templates about these types, by title, examples or name; untyped ones are about all. */
export function templatesFor(
  { templates, templateNames: names = [] }: Pick<Conventions, 'templates' | 'templateNames'>,
  types: Iterable<string>,
): string[] {
  const wanted = [...types]
  return templates.filter((body, index) => {
    const about = typesOf(body)
    const name = names[index]?.split('-').at(-1)
    const isNamed = name !== undefined && wanted.some((type) => type.endsWith(`_${name}`))
    return about.size === 0 || isNamed || wanted.some((type) => about.has(type))
  })
}

function typesOf(body: string): Set<string> {
  const title = body.trim().split('\n', 1)[0] ?? ''
  const resources = [...mentionedTypes(title.replaceAll('`', ' ')), ...declaredTypes(body)]
  return new Set(resources.filter(({ mode }) => mode === 'resource').map(({ type }) => type))
}
