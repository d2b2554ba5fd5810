import { test } from 'vitest'

/** An attack's row in the table of outcomes. It is stored as the meta data of its test. */
export interface AttackMeta {
  group: string
  title: string
  /** One line about the defence that stopped the attack; absent until the test has passed. */
  stoppedBy?: string
}

declare module 'vitest' {
  interface TaskMeta {
    attack?: AttackMeta
  }
}

/**
 * Registers an attack as a test. The body carries it out against the running code, asserts that it had no effect, and
 * returns one line about the defence that stopped it, for the table at the end of the run.
 * @param group the class of the attack, the same words for all of its kind, such as `remote state and backends`
 * @param options.unless a reason why this machine cannot carry the attack out; the table then shows the reason
 */
export function attack(
  group: string,
  title: string,
  body: () => Promise<string>,
  options: { unless?: string | null; timeoutMs?: number } = {},
): void {
  test(`${group}: ${title}`, { timeout: options.timeoutMs ?? 60_000 }, async ({ task, skip }) => {
    const meta: AttackMeta = { group, title }
    task.meta.attack = meta
    if (options.unless) skip(options.unless)
    meta.stoppedBy = (await body()).replaceAll(/\s+/g, ' ').trim()
  })
}
