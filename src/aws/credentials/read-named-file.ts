import { type ChainTools, credentialFault } from './types.ts'

/** Text of a file without surrounding blanks; empty when it is missing. Faults name what it is, not where it is. */
export async function readNamedFile(tools: Pick<ChainTools, 'read_file'>, path: string, what: string): Promise<string> {
  try {
    return (await tools.read_file(path))?.trim() ?? ''
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
    throw credentialFault(`${what} cannot be read${code}`, error)
  }
}
