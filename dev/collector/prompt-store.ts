import type { SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { SEED_MODEL } from '../../src/prompts/registry/client.ts'
import { readText, writeAtomically } from '../files.ts'

export interface StoredVersion {
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
