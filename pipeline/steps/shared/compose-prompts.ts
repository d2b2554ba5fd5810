import { PlatformError } from '../../../src/base/errors.ts'
import { type CompositorValues, promptCompositor, type Selection } from '../../../src/chains/prompt-compositor.ts'
import {
  abbreviationsOf,
  fittingAbbreviations,
  fittingTemplates,
  providersInPlay,
  templateNames,
  titleTypes,
} from '../../../src/chains/shared/catalogue.ts'
import {
  declaredTypes,
  namesInArgument,
  readBlock,
  requiredArguments,
  type TypeName,
  typesNamedIn,
} from '../../../src/plan/schema/read-schema.ts'
import { withoutBullet } from '../../../src/prompts/layout.ts'
import type { Kit } from '../../kit/kit.ts'
import { type Run, withFallback } from '../../kit/run.ts'
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
 * Lets the compositor, a model, select reference material for the request from that of providers in play. What the
 * selection and the types that the request names depend on is added by code, from the arguments that their schemas
 * require; the model is asked a second time only where no schema tells. No model is asked when there is no material.
 * Names without a prompt are dropped unless the catalogue lists them in backticks. Errors: those of `runAgent` and of
 * the prompts, including 404 for a listed name.
 * @param initialising the end of the init after which there are schemas; never rejects
 */
export async function composePrompts(
  kit: Kit,
  initialising: Promise<unknown> = Promise.resolve(),
): Promise<Conventions> {
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
  await initialising
  const isEmpty = first.templates.length + first.abbreviations.length === 0
  if (!(await addRequired(kit, bodies, chosen)) && !isEmpty && offer.hasMoreThan(first))
    await addSelection(run, bodies.resourcesList, chosen, await select({ number: 2, ...first }))
  return {
    templates: [...chosen.templates.values()],
    templateNames: [...chosen.templates.keys()],
    abbreviations: [...chosen.abbreviations],
  }
}

/**
 * Adds the templates of what the chosen types and those that the request names require, and of what these require in
 * turn, except of types that the code already declares. Returns false when no schema tells.
 */
async function addRequired(
  kit: Kit,
  { resourcesList, abbreviations }: { resourcesList: string; abbreviations: string },
  chosen: Chosen,
): Promise<boolean> {
  const { run, engine, survey } = kit
  const quietly = <T>(fallback: T, work: () => Promise<T>) =>
    withFallback(run, 'dependencies are not chosen from the schema', fallback, work)
  const names = await quietly(null, engine.schema.names)
  if (!names) return false
  const listed = templateNames(resourcesList)
  const texts = (await survey.files()).map(({ text }) => text ?? '')
  const declared = new Set(texts.flatMap(declaredTypes).map(({ type }) => type))
  const seen = new Set<string>()
  let open = [...[...chosen.templates.values()].flatMap(namesInTitle), ...typesNamedIn(run.round.query, names.resource)]
  let isTold = false
  while (open.length > 0) {
    const types = [...new Set(open)].filter((type) => names.resource.includes(type) && !seen.has(type))
    for (const type of types) seen.add(type)
    const asked = types.map((type): TypeName => ({ mode: 'resource', type }))
    const schemas = (await quietly(null, () => engine.schema.of(asked))) ?? []
    isTold ||= schemas.length > 0
    const required = schemas.flatMap(({ schema }) => requiredArguments(readBlock(schema) ?? {}))
    const wanted = new Set(required.flatMap((argument) => namesInArgument(argument, listed)))
    const added = await Promise.all(
      [...wanted]
        .map((name) => `${prefixOf(run)}${name}`)
        .filter((name) => !chosen.templates.has(name))
        .map(async (name) => ({ name, body: await run.context.prompts.body(name, run.signal) })),
    )
    const missing = added.filter(({ body }) => !namesInTitle(body).some((type) => declared.has(type)))
    for (const { name, body } of missing) chosen.templates.set(name, body)
    open = missing.flatMap(({ body }) => namesInTitle(body))
    for (const line of abbreviationsOf(abbreviations, new Set(open))) chosen.abbreviations.add(line)
  }
  return isTold
}

const namesInTitle = (template: string): string[] => titleTypes(template).map(({ type }) => type)

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
  const resources = [...titleTypes(body), ...declaredTypes(body)]
  return new Set(resources.filter(({ mode }) => mode === 'resource').map(({ type }) => type))
}
