import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { internal } from '../../src/base/errors.ts'

/** `.tofu` files win over `.tf` files of the same name in OpenTofu. */
const OVERRIDE_FILE = /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/
/** A terraform block can only name its state by these words; comments that hold both are refused too. */
const SETS_STATE = (text: string) => /\bterraform\b/.test(text) && /\b(?:backend|cloud)\b/.test(text)

/**
 * An override file of the repository that sets a state backend would win over the managed one or be
 * confused with it, and send the state elsewhere.
 * Errors: 500 naming the file.
 */
export async function refuseForeignBackend(iac_root: string, own_name: string): Promise<void> {
  const names = (await readdir(iac_root).catch(() => [])).filter(
    (name) => name !== own_name && OVERRIDE_FILE.test(name),
  )
  for (const name of names) {
    const text = await readFile(join(iac_root, name), 'utf8').catch(() => '')
    if (SETS_STATE(name.endsWith('.json') ? normalisedJson(text) : text))
      throw internal(
        `The override file '${name}' of the repository sets a state backend, but the platform manages the state: remove it.`,
      )
  }
}

/** Keys written with escapes become plain; what is no JSON is refused by the engine. */
function normalisedJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
