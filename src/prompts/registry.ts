import * as v from 'valibot'
import { delay, type Fetch, OutboundError, type OutboundRequest, type OutboundResponse, send } from '../base/http.ts'
import type { SeedPrompt } from './parse-seed.ts'

/** Statuses of the registry, or of a proxy before it, after which a call is repeated. */
const PASSING = [502, 503, 504]

/** A name that no prompt has, for which a working registry returns 404. */
const UNLIKELY = 'platform-probe-of-the-registry'

/**
 * Creates a client of the registry's REST API. Calls that read or tag are repeated up to three times. Every call throws
 * `RegistryError`.
 * @param access.url `telemetry.collector_url`
 * @param access.api_key sent as bearer token unless empty
 * @param options.timeoutMs longest time of one attempt, in milliseconds
 * @param options.backoffMs pause before the first of three repetitions, in milliseconds; doubled each time
 */
export function createPromptRegistry(
  access: { url: string; api_key: string },
  options: { fetch: Fetch; timeoutMs?: number; backoffMs?: number },
) {
  const { timeoutMs = 5_000, backoffMs = 250 } = options
  const base = access.url.endsWith('/') ? access.url : `${access.url}/`
  const headers: Record<string, string> = { accept: 'application/json' }
  if (access.api_key !== '') headers.authorization = `Bearer ${access.api_key}`

  const ask = (path: string, request: Partial<OutboundRequest> = {}) =>
    send(options.fetch, {
      ...request,
      url: `${base}v1/${path}`,
      headers,
      timeoutMs,
      backoffMs,
      maxBytes: 4 * 1024 * 1024,
    }).catch((error: unknown) => {
      throw asRegistryError(error)
    })
  const withRetries = { retries: 3, retryStatuses: PASSING }

  /** Returns null for 404, and for 422, the registry's response to a name that no prompt can have. */
  const findVersion = async (name: string, place: string, signal?: AbortSignal) => {
    const response = await ask(`prompts/${encodeURIComponent(name)}/${place}`, { ...withRetries, signal })
    if (response.status === 404 || response.status === 422) return null
    const { data } = parseAnswer(versionSchema, response)
    return { id: data.id, model_name: data.model_name, text: firstText(data.template.messages[0]) }
  }

  return {
    /** Returns null when there is no prompt of that name. */
    findLatest: (name: string) => findVersion(name, 'latest'),
    /** Returns null when there is no prompt of that name or no version with that tag. */
    findTagged: (name: string, tag: Tag, signal?: AbortSignal) => findVersion(name, `tags/${tag}`, signal),
    /** Returns the id of the new version. Not repeated after a fault, because the registry might keep both versions. */
    create: async (name: string, { body, description }: SeedPrompt): Promise<string> => {
      const json = { prompt: { name, description }, version: versionOf(body, description) }
      return parseAnswer(createdSchema, await ask('prompts', { method: 'POST', json })).data.id
    },
    tag: async (versionId: string, name: Tag): Promise<void> => {
      const path = `prompt_versions/${encodeURIComponent(versionId)}/tags`
      requireSuccess(await ask(path, { ...withRetries, method: 'POST', json: { name } }))
    },
    /** Checks, without repetition, that the registry answers. */
    probe: async (): Promise<void> => {
      const response = await ask(`prompts/${UNLIKELY}/latest`)
      if (response.status !== 404) requireSuccess(response)
    },
  }
}

/** Returns the body of a new version. The registry requires provider and parameters; the platform never reads them. */
const versionOf = (text: string, description: string) => ({
  description,
  model_name: SEED_MODEL,
  model_provider: 'OPENAI',
  template: { type: 'chat', messages: [{ role: 'user', content: [{ type: 'text', text }] }] },
  template_type: 'CHAT',
  template_format: 'NONE',
  invocation_parameters: { type: 'openai', openai: {} },
})

function requireSuccess(response: OutboundResponse): OutboundResponse {
  if (response.status >= 200 && response.status < 300) return response
  const words = response.text().replaceAll(/\s+/g, ' ').trim().slice(0, 200)
  throw new RegistryError('refused', `HTTP ${response.status}${words === '' ? '' : `: ${words}`}`)
}

function asRegistryError(error: unknown): unknown {
  if (!(error instanceof OutboundError) || error.kind === 'aborted') return error
  return new RegistryError(error.kind === 'body' ? 'refused' : 'unreachable', `${error.message}${codeOf(error)}`, {
    cause: error,
  })
}

/** Returns the runtime's code of the fault, for example ` (ECONNREFUSED)`; empty for none. */
function codeOf(error: Error): string {
  for (let cause: unknown = error.cause, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth++) {
    const { code } = { code: undefined, ...cause }
    if (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)) return ` (${code})`
  }
  return ''
}

/** The tags under which runs fetch prompts, one for each environment. */
export const TAGS = ['development', 'staging', 'production'] as const
export type Tag = (typeof TAGS)[number]

/** The model name by which the platform recognises its own versions. */
export const SEED_MODEL = 'platform-seed'

export type PromptRegistry = ReturnType<typeof createPromptRegistry>

/** A failed call: `unreachable` without a response, `refused` when the response is an error or cannot be read. */
export class RegistryError extends Error {
  readonly kind: 'unreachable' | 'refused'
  constructor(kind: RegistryError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'RegistryError'
    this.kind = kind
  }
}

const id = v.pipe(v.union([v.pipe(v.string(), v.minLength(1)), v.number()]), v.transform(String))
const createdSchema = v.object({ data: v.object({ id }) })
/** Only the id is required. Another missing part becomes an error where it is needed. */
const versionSchema = v.object({
  data: v.object({
    id,
    model_name: v.fallback(v.string(), ''),
    template: v.fallback(v.object({ messages: v.array(v.unknown()) }), { messages: [] }),
  }),
})
const message = v.object({ content: v.union([v.string(), v.array(v.unknown())]) })
const textPart = v.object({ type: v.literal('text'), text: v.string() })

/** Returns the first text of a message; null when it has none. */
function firstText(value: unknown): string | null {
  const parsed = v.safeParse(message, value)
  if (!parsed.success) return null
  const { content } = parsed.output
  if (typeof content === 'string') return content
  for (const item of content) {
    const part = v.safeParse(textPart, item)
    if (part.success) return part.output.text
  }
  return null
}

function parseAnswer<Schema extends v.GenericSchema>(
  schema: Schema,
  response: OutboundResponse,
): v.InferOutput<Schema> {
  try {
    return v.parse(schema, requireSuccess(response).json())
  } catch (cause) {
    if (cause instanceof RegistryError) throw cause
    const form = v.isValiError(cause) ? 'in the form of a prompt version' : 'JSON'
    throw new RegistryError('refused', `the answer is not ${form}`, { cause })
  }
}

/** Prompts that are looked up and written concurrently. */
const AT_ONCE = 8

type SeedOutcome = 'created' | 'present' | 'repaired'

/**
 * Writes the shipped prompts that are missing in the registry, each with the tags of all environments. Existing prompts
 * are never changed, and no tag is moved. Only an unfinished version of an earlier boot gets its missing tags.
 * @param tag the tag of this environment; a version of the platform without it is unfinished
 * @returns the prompts that were written, that the registry already had, and that it had without the tags by which runs
 * fetch them
 * Throws `Failed to create prompt '<name>': …`, `Failed to tag '<name>' …`, `Failed to look up prompt '<name>': …`;
 * then no further prompt is started.
 */
export async function seedPrompts(
  registry: PromptRegistry,
  prompts: ReadonlyMap<string, SeedPrompt>,
  tag: Tag,
): Promise<Record<SeedOutcome, number>> {
  const counts = { created: 0, present: 0, repaired: 0 }
  for (let at = 0; at < prompts.size; at += AT_ONCE) {
    const batch = [...prompts].slice(at, at + AT_ONCE)
    // Running calls end before the failure is thrown, so that nothing is written after it.
    const results = await Promise.allSettled(batch.map(([name, prompt]) => seedPrompt(registry, name, prompt, tag)))
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason
      counts[result.value]++
    }
  }
  return counts
}

async function seedPrompt(registry: PromptRegistry, name: string, prompt: SeedPrompt, tag: Tag): Promise<SeedOutcome> {
  const latest = await registry.findLatest(name).catch(throwAs(`Failed to look up prompt '${name}'`))
  if (latest === null) {
    const id = await registry.create(name, prompt).catch(throwAs(`Failed to create prompt '${name}'`))
    await tagVersion(registry, name, id, TAGS)
    return 'created'
  }
  if (latest.model_name !== SEED_MODEL) return 'present'
  const missing = await findMissingTags(registry, name, latest.id, tag)
  if (missing.length === 0) return 'present'
  await tagVersion(registry, name, latest.id, missing)
  return 'repaired'
}

/**
 * Returns the missing tags of an unfinished version. There are none when the tag of this environment exists, or when
 * another tag names another version, because then the tags were chosen on purpose.
 */
async function findMissingTags(registry: PromptRegistry, name: string, versionId: string, tag: Tag): Promise<Tag[]> {
  const findTagged = (one: Tag) => registry.findTagged(name, one).catch(throwAs(`Failed to look up prompt '${name}'`))
  if ((await findTagged(tag)) !== null) return []
  const missing: Tag[] = [tag]
  for (const other of TAGS.filter((one) => one !== tag)) {
    const version = await findTagged(other)
    if (version === null) missing.push(other)
    else if (version.id !== versionId) return []
  }
  return missing
}

async function tagVersion(registry: PromptRegistry, name: string, id: string, tags: readonly Tag[]): Promise<void> {
  for (const tag of tags) await registry.tag(id, tag).catch(throwAs(`Failed to tag '${name}' as ${tag}`))
}

const throwAs = (text: string) => (cause: unknown) => {
  throw new Error(`${text}: ${cause instanceof Error ? cause.message : 'unknown error'}`, { cause })
}

/** Seconds between the attempts of a boot, 22.5 in all, so that a registry may start together with the platform. */
const WAITS_S = [0.5, 1, 2, 4, 5, 5, 5]

/**
 * Waits until the registry answers.
 * @param name the name of the registry in the error texts
 * @param pause waits between the attempts; tests pass one that does not wait
 * Throws `<name> unreachable after 8 attempts: <reason>` when no attempt got a response; `<name> probe failed:
 * <reason>` at the first status that is neither 200 nor 404.
 */
export async function waitForRegistry(
  registry: Pick<PromptRegistry, 'probe'>,
  name: string,
  pause: (ms: number) => Promise<void> = delay,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await registry.probe()
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause
      if (cause.kind === 'refused') throw new Error(`${name} probe failed: ${cause.message}`, { cause })
      const waitS = WAITS_S[attempt - 1]
      if (waitS === undefined)
        throw new Error(`${name} unreachable after ${attempt} attempts: ${cause.message}`, { cause })
      await pause(waitS * 1000)
    }
  }
}
