import { withoutIndexes } from '../../../src/plan/addresses.ts'
import { readBlocks } from '../../../src/plan/code/blocks.ts'
import type { Kit } from '../../kit/kit.ts'

/**
 * Reads changed files, and returns a function that tells which of them is about an address: the one with its block,
 * else the only one. Empty when that cannot be told.
 */
export async function findFiles({ openFiles }: Kit, files: readonly string[]): Promise<(address: string) => string> {
  const access = openFiles()
  const read = async (path: string) => {
    const { blocks } = readBlocks(path, await access.read(path).catch(() => ''))
    return {
      path,
      declared: new Set(blocks.flatMap(({ kind, labels }) => (kind === 'resource' ? labels.join('.') : []))),
    }
  }
  const code = await Promise.all(files.map(read))
  return (address) => {
    const block = withoutIndexes(address).split('.').slice(-2).join('.')
    const holders = code.filter(({ declared }) => declared.has(block))
    const [only, ...others] = holders.length === 0 ? code : holders
    return others.length > 0 ? '' : (only?.path ?? '')
  }
}
