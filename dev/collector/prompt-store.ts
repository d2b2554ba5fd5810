import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import type { SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { SEED_MODEL } from '../../src/prompts/registry.ts'
import { readText, writeAtomically } from '../files.ts'
import type { ServerAnswer } from '../server.ts'

interface StoredVersion {
  id: string
  /** The version as it was posted. */
  data: Record<string, unknown>
}
interface StoredPrompt {
  description: string
  /** All versions, oldest first. */
  versions: StoredVersion[]
  /** The id of the version that each tag points at. */
  tags: Record<string, string>
}

/** Prompts with their versions and tags, kept in one file. */
export type PromptStore = Awaited<ReturnType<typeof loadPrompts>>

/**
 * Loads the prompts.
 * @param file path of the file; null keeps prompts in memory
 */
export async function loadPrompts(file: string | null) {
  const text = file === null ? null : await readText(file)
  const prompts = new Map<string, StoredPrompt>(
    Object.entries(JSON.parse(text ?? '{}') as Record<string, StoredPrompt>),
  )
  let isPlanned = false
  let written = Promise.resolve()
  /** Saves the prompts soon, several changes in one write. */
  const save = () => {
    if (file === null || isPlanned) return
    isPlanned = true
    written = Promise.all([sleep(50), written.catch(() => {})]).then(() => {
      isPlanned = false
      return writeAtomically(file, JSON.stringify(Object.fromEntries(prompts), null, 1))
    })
    written.catch(() => {})
  }
  return {
    names: () => [...prompts.keys()],
    /** Adds a version, and the prompt if it is new. */
    add: (name: string, description: string, data: StoredVersion['data']): StoredVersion => {
      const prompt = prompts.get(name) ?? { description, versions: [], tags: {} }
      const version = { id: crypto.randomUUID(), data }
      prompt.versions.push(version)
      prompts.set(name, prompt)
      save()
      return version
    },
    latest: (name: string): StoredVersion | null => prompts.get(name)?.versions.at(-1) ?? null,
    tagged: (name: string, tag: string): StoredVersion | null => {
      const prompt = prompts.get(name)
      const id = prompt && Object.hasOwn(prompt.tags, tag) ? prompt.tags[tag] : undefined
      return prompt?.versions.find((version) => version.id === id) ?? null
    },
    /** Makes the tag point at this version. Returns false if there is no such version. */
    tag: (versionId: string, tag: string): boolean => {
      const prompt = [...prompts.values()].find(({ versions }) => versions.some(({ id }) => id === versionId))
      if (!prompt) return false
      prompt.tags = { ...prompt.tags, [tag]: versionId }
      save()
      return true
    },
    /** Returns false if there is no such prompt. */
    remove: (name: string): boolean => {
      const removed = prompts.delete(name)
      if (removed) save()
      return removed
    },
    versionsOf: (name: string): StoredVersion[] => prompts.get(name)?.versions ?? [],
    /** Resolves when all changes so far are on the disk. */
    saved: () => written,
  }
}

/**
 * Removes unedited prompts whose text is no longer the shipped one. The core then seeds them again, so a stack of an
 * earlier version follows the sources.
 */
export function dropOutdated(store: PromptStore, shipped: ReadonlyMap<string, SeedPrompt>): void {
  for (const name of store.names()) {
    const versions = store.versionsOf(name)
    const body = shipped.get(name)?.body
    const isEdited = versions.some(({ data }) => data.model_name !== SEED_MODEL)
    const shows = (text: string) =>
      versions.every(({ data }) => JSON.stringify(data.template).includes(JSON.stringify(text)))
    if (!isEdited && !(body !== undefined && shows(body))) store.remove(name)
  }
}

const identifier = v.pipe(v.string(), v.regex(/^[a-z0-9]([_a-z0-9-]*[a-z0-9])?$/))
const isIdentifier = (name: string) => v.is(identifier, name)
/** Makes a plain text answer, the registry product's form for missing entries and invalid names. */
const text = (status: number, body: string): ServerAnswer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})
const MISSING = text(404, 'Not Found')
const createSchema = v.object({
  prompt: v.looseObject({ name: identifier, description: v.nullish(v.string(), '') }),
  version: v.looseObject({
    model_provider: v.string(),
    model_name: v.string(),
    template: v.looseObject({ type: v.literal('chat'), messages: v.array(v.unknown()) }),
    template_type: v.literal('CHAT'),
    template_format: v.picklist(['NONE', 'MUSTACHE', 'F_STRING']),
    invocation_parameters: v.looseObject({ type: v.string() }),
  }),
})
const tagSchema = v.looseObject({ name: identifier })

/**
 * Answers the prompt routes of the registry product's REST interface that the platform asks for; null for any other
 * path.
 * @param body the parsed JSON of a POST
 */
export function answerRegistry(store: PromptStore, method: string, path: string, body: unknown): ServerAnswer | null {
  const [root, name = '', kind, tag, ...more] = path.split('/').map(decodeURIComponent)
  const isPost = method === 'POST'
  if (more.length > 0) return null
  if (isPost && root === 'prompts' && name === '') return createPrompt(store, body)
  if (isPost && root === 'prompt_versions' && kind === 'tags' && tag === undefined) return addTag(store, name, body)
  if (method === 'DELETE' && root === 'prompts' && kind === undefined)
    return store.remove(name) ? { status: 204 } : text(404, 'Prompt not found')
  const isTagged = kind === 'tags' && tag !== undefined
  if (method !== 'GET' || root !== 'prompts' || !(isTagged || (kind === 'latest' && tag === undefined))) return null
  if (isTagged && !isIdentifier(tag)) return text(422, 'Invalid tag name')
  if (!isIdentifier(name)) return text(422, 'Invalid prompt name')
  return answerVersion(isTagged ? store.tagged(name, tag) : store.latest(name))
}

function createPrompt(store: PromptStore, body: unknown): ServerAnswer {
  const parsed = v.safeParse(createSchema, body)
  if (!parsed.success) return answerInvalid(parsed.issues)
  const { prompt, version } = parsed.output
  return answerVersion(store.add(prompt.name, prompt.description ?? '', version))
}

function addTag(store: PromptStore, versionId: string, body: unknown): ServerAnswer {
  const parsed = v.safeParse(tagSchema, body)
  if (!parsed.success) return answerInvalid(parsed.issues)
  return store.tag(versionId, parsed.output.name) ? { status: 204 } : MISSING
}

const answerVersion = (version: StoredVersion | null): ServerAnswer =>
  version ? { status: 200, body: { data: { ...version.data, id: version.id } } } : MISSING

const answerInvalid = (issues: readonly v.BaseIssue<unknown>[]): ServerAnswer => ({
  status: 422,
  body: { detail: issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`) },
})
