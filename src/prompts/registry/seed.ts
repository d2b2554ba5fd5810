import { delay } from '../../base/http.ts'
import type { SeedPrompt } from '../parse-seed.ts'
import { type PromptRegistry, RegistryError, SEED_MODEL, TAGS, type Tag } from './client.ts'

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
