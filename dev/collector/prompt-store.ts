import * as v from 'valibot'
import type { SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { SEED_MODEL } from '../../src/prompts/registry/client.ts'
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
export interface PromptStore {
  names(): string[]
  /** Adds a version, and the prompt if it is new. */
  add(name: string, description: string, data: Record<string, unknown>): StoredVersion
  latest(name: string): StoredVersion | null
  tagged(name: string, tag: string): StoredVersion | null
  /** Makes the tag point at this version. Returns false if there is no such version. */
  tag(versionId: string, tag: string): boolean
  /** Lists the tags of a version; null if there is no such version. */
  tagsOf(versionId: string): string[] | null
  remove(name: string): boolean
  versionsOf(name: string): StoredVersion[]
  /** Resolves when all changes so far are on the disk. */
  saved(): Promise<void>
}

/**
 * Loads the prompts.
 * @param file path of the file; null keeps prompts in memory
 */
export async function loadPrompts(file: string | null): Promise<PromptStore> {
  const text = file === null ? null : await readText(file)
  const prompts = new Map<string, StoredPrompt>(
    Object.entries(JSON.parse(text ?? '{}') as Record<string, StoredPrompt>),
  )
  const save = createSaver(file, () => JSON.stringify(Object.fromEntries(prompts), null, 1))
  const ofVersion = (id: string) =>
    [...prompts.values()].find(({ versions }) => versions.some((version) => version.id === id))
  return {
    names: () => [...prompts.keys()],
    add: (name, description, data) => {
      const prompt = prompts.get(name) ?? { description, versions: [], tags: {} }
      const version = { id: crypto.randomUUID(), data }
      prompt.versions.push(version)
      prompts.set(name, prompt)
      save.soon()
      return version
    },
    latest: (name) => prompts.get(name)?.versions.at(-1) ?? null,
    tagged: (name, tag) => {
      const prompt = prompts.get(name)
      const id = prompt && Object.hasOwn(prompt.tags, tag) ? prompt.tags[tag] : undefined
      return prompt?.versions.find((version) => version.id === id) ?? null
    },
    tag: (versionId, tag) => {
      const prompt = ofVersion(versionId)
      if (!prompt) return false
      prompt.tags = { ...prompt.tags, [tag]: versionId }
      save.soon()
      return true
    },
    tagsOf: (versionId) => {
      const prompt = ofVersion(versionId)
      return prompt ? Object.keys(prompt.tags).filter((tag) => prompt.tags[tag] === versionId) : null
    },
    remove: (name) => {
      const removed = prompts.delete(name)
      if (removed) save.soon()
      return removed
    },
    versionsOf: (name) => prompts.get(name)?.versions ?? [],
    saved: save.done,
  }
}

/** Makes a function that saves the prompts soon, several changes in one write. */
function createSaver(file: string | null, text: () => string): { soon(): void; done(): Promise<void> } {
  let dirty = false
  let writing: Promise<void> | null = null
  const write = async (path: string) => {
    while (dirty) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      dirty = false
      await writeAtomically(path, text())
    }
  }
  return {
    soon: () => {
      dirty = true
      if (file === null) return
      writing ??= write(file).finally(() => {
        writing = null
      })
      writing.catch(() => {})
    },
    done: async () => {
      await writing
    },
  }
}

/**
 * Removes unedited prompts whose text is no longer the shipped one. The core then seeds them again, so a stack of an
 * earlier version follows the sources.
 * @returns the names of the removed prompts
 */
export function dropOutdated(store: PromptStore, shipped: ReadonlyMap<string, SeedPrompt>): string[] {
  return store.names().filter((name) => {
    const versions = store.versionsOf(name)
    if (versions.some(({ data }) => data.model_name !== SEED_MODEL)) return false
    const body = shipped.get(name)?.body
    const current =
      body !== undefined && versions.every(({ data }) => JSON.stringify(data.template).includes(JSON.stringify(body)))
    return !current && store.remove(name)
  })
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
 * Answers the prompt routes of the registry product's REST interface; null for any other path.
 * @param body the parsed JSON of a POST
 */
export function answerRegistry(store: PromptStore, method: string, path: string, body: unknown): ServerAnswer | null {
  const [root, name = '', kind, tag, ...more] = path.split('/').map(decodeURIComponent)
  if (more.length > 0) return null
  if (root === 'prompt_versions' && kind === 'tags' && tag === undefined)
    return method === 'POST' ? addTag(store, name, body) : listTags(store, name)
  if (root !== 'prompts') return null
  if (name === '') {
    if (method === 'POST') return createPrompt(store, body)
    return method === 'GET' ? { status: 200, body: { data: listPrompts(store), next_cursor: null } } : null
  }
  if (method === 'DELETE' && kind === undefined)
    return store.remove(name) ? { status: 204 } : text(404, 'Prompt not found')
  const isTagged = kind === 'tags' && tag !== undefined
  if (method !== 'GET' || !(isTagged || (kind === 'latest' && tag === undefined))) return null
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

function listTags(store: PromptStore, versionId: string): ServerAnswer {
  const names = store.tagsOf(versionId)
  return names
    ? { status: 200, body: { data: names.map((name) => ({ id: `${versionId}-${name}`, name })), next_cursor: null } }
    : MISSING
}

const listPrompts = (store: PromptStore) => store.names().map((name) => ({ id: name, name }))

const answerVersion = (version: StoredVersion | null): ServerAnswer =>
  version ? { status: 200, body: { data: { ...version.data, id: version.id } } } : MISSING

const answerInvalid = (issues: readonly v.BaseIssue<unknown>[]): ServerAnswer => ({
  status: 422,
  body: { detail: issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`) },
})
