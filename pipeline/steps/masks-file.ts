import * as v from 'valibot'
import { readPrivateFile, writePrivateFile } from '../workspace/pins/private-files.ts'

/** In the root of the clone. Holds what the plan file beside it holds in clear already. */
const NAME = '.platform-masks.json'
const MAX_BYTES = 64 * 1024 * 1024
const masksSchema = v.array(v.string())

/** Keeps what has to be masked in the output of the apply beside the plan. */
export const writeMasks = (clone: string, masks: readonly string[]): Promise<void> =>
  writePrivateFile(`${clone}/${NAME}`, JSON.stringify(masks))

/** None when there is no such file. */
export async function readMasks(clone: string): Promise<string[]> {
  const text = await readPrivateFile(`${clone}/${NAME}`, MAX_BYTES)
  if (text === null) return []
  try {
    const parsed = v.safeParse(masksSchema, JSON.parse(text))
    return parsed.success ? parsed.output : []
  } catch {
    return []
  }
}
