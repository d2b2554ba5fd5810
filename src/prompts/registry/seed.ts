import type { SeedPrompt } from '../parse-seed.ts'
import { type PromptRegistry, SEED_MODEL, TAGS, type Tag } from './types.ts'

/** Prompts that are looked after at the same time. */
const AT_ONCE = 8

/** How many prompts were written, were there already, and were there without the tags that runs ask for. */
export interface SeedCounts {
  created: number
  present: number
  repaired: number
}

/**
 * Writes the shipped prompts that the registry does not have, each with the tags of all environments.
 * What is there is never changed and no tag is moved; only a version of ours that a boot could not finish
 * gets the tags that it lacks.
 * @param tag of this environment: the one whose absence shows an unfinished version
 * Errors: `Failed to create prompt '<name>': …`, `Failed to tag '<name>' …`, `Failed to look up prompt '<name>': …`;
 * nothing further is begun then.
 */
export async function seedPrompts(
  registry: PromptRegistry,
  prompts: ReadonlyMap<string, SeedPrompt>,
  tag: Tag,
): Promise<SeedCounts> {
  const counts: SeedCounts = { created: 0, present: 0, repaired: 0 }
  const waiting = [...prompts]
  let failed = false
  const work = async () => {
    for (let next = waiting.shift(); next && !failed; next = waiting.shift())
      counts[await seedPrompt(registry, next[0], next[1], tag)]++
  }
  const workers = Array.from({ length: AT_ONCE }, () =>
    work().catch((error: unknown) => {
      failed = true
      throw error
    }),
  )
  // What is under way ends first, so that no write follows the failure.
  const ended = await Promise.allSettled(workers)
  for (const result of ended) if (result.status === 'rejected') throw result.reason
  return counts
}

async function seedPrompt(
  registry: PromptRegistry,
  name: string,
  prompt: SeedPrompt,
  tag: Tag,
): Promise<keyof SeedCounts> {
  const latest = await registry.latest(name).catch(failure(`Failed to look up prompt '${name}'`))
  if (latest === null) {
    const id = await registry.create(name, prompt).catch(failure(`Failed to create prompt '${name}'`))
    await tagVersion(registry, name, id, TAGS)
    return 'created'
  }
  if (latest.model_name !== SEED_MODEL) return 'present'
  const missing = await missingTags(registry, name, latest.id, tag)
  if (missing.length === 0) return 'present'
  await tagVersion(registry, name, latest.id, missing)
  return 'repaired'
}

/** None unless this environment's tag is missing and whatever tags there are name the same version. */
async function missingTags(registry: PromptRegistry, name: string, version_id: string, tag: Tag): Promise<Tag[]> {
  const find = (one: Tag) => registry.tagged(name, one).catch(failure(`Failed to look up prompt '${name}'`))
  if ((await find(tag)) !== null) return []
  const missing: Tag[] = [tag]
  for (const other of TAGS.filter((one) => one !== tag)) {
    const version = await find(other)
    if (version === null) missing.push(other)
    else if (version.id !== version_id) return []
  }
  return missing
}

async function tagVersion(registry: PromptRegistry, name: string, id: string, tags: readonly Tag[]): Promise<void> {
  for (const tag of tags) await registry.tag(id, tag).catch(failure(`Failed to tag '${name}' as ${tag}`))
}

const failure = (text: string) => (cause: unknown) => {
  throw new Error(`${text}: ${cause instanceof Error ? cause.message : 'unknown error'}`, { cause })
}
