import { withoutIndexes } from '../../../src/plan/addresses.ts'
import type { Kit } from '../../kit/kit.ts'

/**
 * Reads changed files, and returns a function that tells which of them is about an address: the one with its block, else
 * the only one. Empty when that cannot be told.
 */
export async function findFiles({ openFiles }: Kit, files: readonly string[]): Promise<(address: string) => string> {
  const access = openFiles()
  const texts = await Promise.all(files.map(async (path) => ({ path, text: await access.read(path).catch(() => '') })))
  return (address) => {
    const [type = '', name = ''] = withoutIndexes(address).split('.').slice(-2)
    const holders = texts.filter(({ text }) => text.includes(`resource "${type}" "${name}"`))
    const [only] = holders.length === 0 ? texts : holders
    return holders.length > 1 || (holders.length === 0 && texts.length > 1) ? '' : (only?.path ?? '')
  }
}
