import { delay } from '../../base/http.ts'
import { type PromptRegistry, RegistryError } from './types.ts'

/** Seconds between the attempts of a boot, 22.5 in all, so that a registry may start together with the platform. */
const WAITS_S = [0.5, 1, 2, 4, 5, 5, 5]

/**
 * Resolves when the registry answers.
 * @param name the name of the registry in the error texts
 * @param pause waits between the attempts; tests pass one that does not wait
 * Errors: `<name> unreachable after 8 attempts: <reason>` when no attempt got an answer; `<name> probe failed:
 * <reason>` at the first answer that is neither 200 nor 404.
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
